// Counts before anything is done, says what is left out and what happens to keys, asks for a pace and a reason.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { leftOutWords } from "../../../../../idem/src/engine/bulk/left-out.ts";
import { ApiError, ask } from "../../../api/client.ts";
import { ActButton, Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorPart } from "../../../parts/error-part.tsx";
import { SelectField, TextField } from "../../../parts/field.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { useNow } from "../../../parts/now.ts";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Time } from "../../../parts/time.tsx";
import { lengthWords } from "../../../parts/time-words.ts";
import type { BulkFilter } from "./bulk-filter.ts";
import { actionWords, type BulkAction, type BulkItem, keyWords, runsWords } from "./bulk-words.ts";
import { Counted } from "./counted-line.tsx";

const paces = [
  { value: "20", text: "20 a second" },
  { value: "5", text: "5 a second" },
  { value: "1", text: "1 a second" },
  { value: "100", text: "100 a second" },
  { value: "", text: "as fast as it goes" },
] as const;

export interface BulkAsked {
  readonly action: BulkAction;
  readonly filter: BulkFilter;
  /** Made when the dialog is opened: pressed twice, it is one work. */
  readonly id: string;
}

interface BulkDialogProps {
  readonly asked: BulkAsked;
  readonly onStarted: (bulk: BulkItem) => void;
  readonly onClose: () => void;
}

export function BulkDialog({ asked: { action, filter, id }, onStarted, onClose }: BulkDialogProps) {
  const words = actionWords[action];
  const [pace, setPace] = useState<string>("20");
  const [reason, setReason] = useState("");
  const [isActing, setActing] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const now = useNow();
  const counted = useQuery({
    queryKey: ["bulk-count", id],
    queryFn: async ({ signal }) => {
      const answer = await ask("POST /api/bulk", { body: { id, action, filter, dryRun: true }, signal });
      if ("bulk" in answer) throw new Error("The server began instead of counting");
      return answer;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const count = counted.data;
  const will = count?.willCount ?? 0;
  const act = async () => {
    setActing(true);
    setFailure(null);
    try {
      const given = { id, action, filter, reason: reason.trim(), ...(pace === "" ? {} : { pace: Number(pace) }) };
      const answer = await ask("POST /api/bulk", { body: given });
      if ("bulk" in answer) onStarted(answer.bulk);
    } catch (error) {
      setFailure(
        error instanceof ApiError
          ? [error.detail, error.next].filter((each) => each !== null).join(". ")
          : String(error),
      );
      setActing(false);
    }
  };
  const many =
    count === undefined ? "these runs" : `${count.isAll ? "" : "more than "}${runsWords(count.matchedCount)}`;
  return (
    <Dialog title={words.title(many)} onClose={onClose}>
      <form
        className="stack bulk-dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason.trim() !== "" && will > 0 && !isActing) void act();
        }}
      >
        {counted.error !== null ? (
          <ErrorPart
            error={counted.error}
            what="They could not be counted. Nothing was done."
            onRetry={() => void counted.refetch()}
          />
        ) : count === undefined ? (
          <Skeleton rows={3} />
        ) : (
          <>
            <p className="quiet">
              Counted at <Time at={count.countedAt} as="row" />. Nothing has been started yet.
              {!count.isAll && " There are more than were looked at; all that match are meant."}
            </p>
            <ul className="bulk-counts">
              <Counted icon={<Icon name="arrow" />} count={will} words={words.will(will)} />
              {count.leftOut.map(({ why, count: left, runIds }) => (
                <Counted
                  key={why}
                  icon={<Icon name="cross" />}
                  count={left}
                  words={`${left === 1 ? "is" : "are"} left out: ${leftOutWords(why)}`}
                  runIds={runIds}
                />
              ))}
            </ul>
            <h3>What happens to keys</h3>
            {keyWords[action].map((sentence, i) => (
              <p key={sentence} className="bulk-keys">
                <Icon name={i === 0 ? "keys" : "arrow"} />
                <span>
                  {sentence}
                  {i === 1 &&
                    count.oldestAt !== null &&
                    ` The oldest run here was opened ${lengthWords(now - count.oldestAt)} ago.`}
                </span>
              </p>
            ))}
            <div className="bulk-fields">
              <SelectField label="Pace" value={pace} onChange={setPace} choices={[...paces]} />
              <TextField label="Reason, for the audit" value={reason} onChange={setReason} focusFirst />
            </div>
          </>
        )}
        {failure !== null && (
          <p className="failed" role="alert">
            {failure}
          </p>
        )}
        <div className="bulk-end">
          <code className="faint">{words.command}</code>
          <span className="button-row">
            <Button onClick={onClose}>Do nothing</Button>
            <ActButton type="submit" look="primary" disabled={will === 0 || reason.trim() === "" || isActing}>
              {count === undefined ? "Counting" : words.act(runsWords(will))}
            </ActButton>
          </span>
        </div>
      </form>
    </Dialog>
  );
}
