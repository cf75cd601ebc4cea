// A person ends a run before it is done.
import { say } from "../../frame/messages.ts";
import { AskFirst } from "../../parts/dialog.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { EffectItem, RunDetail } from "./run-data.ts";
import { cancel } from "./run-queries.ts";
import { cancelWords } from "./run-words.ts";

interface CancelDialogProps {
  readonly run: RunDetail;
  readonly effects: readonly EffectItem[];
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

export function CancelDialog({ run, effects, onClose, onDone }: CancelDialogProps) {
  return (
    <AskFirst
      title={`Cancel run ${cutMiddle(run.id)}`}
      action="Cancel the run"
      reason="offered"
      onClose={onClose}
      onAct={async (reason) => {
        const { cancelled, state } = await cancel(run.id, reason);
        say(
          cancelled
            ? `Cancelled run ${cutMiddle(run.id)}. It is in the audit.`
            : `Nothing was cancelled: the run had already ${state === "failed" ? "failed" : "ended"}.`,
        );
        await onDone();
      }}
    >
      <p>No new attempt starts after this. {visibleText(cancelWords(run, effects))}</p>
    </AskFirst>
  );
}
