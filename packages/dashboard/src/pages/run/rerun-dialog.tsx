// A person asks for a new run from this one.
import { useNavigate } from "@tanstack/react-router";
import { say } from "../../frame/messages.ts";
import { AskFirst } from "../../parts/dialog.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { RunDetail } from "./run-data.ts";
import { rerun } from "./run-queries.ts";

export const rerunSentence =
  "A new run starts, past the key, with the same destination keys: a service that honours them returns what it made the first time.";

export function RerunDialog({ run, onClose }: { readonly run: RunDetail; readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <AskFirst
      title={`Rerun ${visibleText(run.function)}`}
      action="Start a new run"
      onClose={onClose}
      onAct={async () => {
        const { runId } = await rerun(run.id);
        say(`Started run ${cutMiddle(runId)}. It is in the audit.`);
        await navigate({ to: "/runs/$run", params: { run: runId } });
      }}
    >
      <p>{rerunSentence}</p>
      <p>This run stays as it is.</p>
    </AskFirst>
  );
}
