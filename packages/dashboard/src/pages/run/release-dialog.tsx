// A person lets a parked run go on.
import { say } from "../../frame/messages.ts";
import { AskFirst } from "../../parts/dialog.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import type { RunDetail } from "./run-data.ts";
import { release } from "./run-queries.ts";

interface ReleaseDialogProps {
  readonly run: RunDetail;
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

export function ReleaseDialog({ run, onClose, onDone }: ReleaseDialogProps) {
  return (
    <AskFirst
      title={`Let run ${cutMiddle(run.id)} go on`}
      action="Let it go on"
      reason="offered"
      onClose={onClose}
      onAct={async (reason) => {
        const { released, state } = await release(run.id, reason);
        say(
          released
            ? `Run ${cutMiddle(run.id)} goes on. It is in the audit.`
            : `Nothing was changed: the run is ${state}, and not parked.`,
        );
        await onDone();
      }}
    >
      <p>
        It goes on where it was: recorded steps are not done again, the one it was in is. Mend what stopped it first.
      </p>
    </AskFirst>
  );
}
