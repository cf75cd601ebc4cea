// The progress of bulk work, and what became of the runs it made.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { leftOutWords } from "../../../../../idem/src/engine/bulk/left-out.ts";
import { ask } from "../../../api/client.ts";
import { ActButton, Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { type State, StateIcon } from "../../../parts/state-icon.tsx";
import { actionWords, type BulkItem, isUnderWay, runsWords } from "./bulk-words.ts";
import { Counted } from "./counted-line.tsx";

// A person waits for the next number; the server looks at what it began once a second.
const askMs = 1_000;

const isOpenState = (state: string): boolean => !["completed", "failed", "cancelled"].includes(state);

/** The work goes on without this page. */
export function BulkProgress({ bulk: begun, onClose }: { readonly bulk: BulkItem; readonly onClose: () => void }) {
  const { data: bulk = begun, error } = useQuery({
    queryKey: ["bulk", begun.id],
    queryFn: async ({ signal }) => (await ask("GET /api/bulk/:bulk", { params: { bulk: begun.id }, signal })).bulk,
    initialData: begun,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (isUnderWay(data) || data.outcomes?.some(({ state }) => isOpenState(state)) === true)
        ? askMs
        : false,
  });
  const [isStopping, setStopping] = useState(false);
  const action = bulk.action ?? begun.action ?? "rerun";
  const words = actionWords[action];
  const outcomes = [...(bulk.outcomes ?? [])].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const tried = bulk.doneCount + bulk.skippedCount + bulk.failedCount;
  return (
    <Dialog title={isUnderWay(bulk) ? words.under(runsWords(bulk.matchedCount)) : ended(bulk)} onClose={onClose}>
      <div className="stack bulk-dialog">
        <progress
          aria-label="How far it is"
          {...(isUnderWay(bulk) ? {} : { max: Math.max(1, bulk.matchedCount), value: tried })}
        />
        <p role="status">
          <b>
            {bulk.doneCount.toLocaleString("en")} {words.did}
            {isUnderWay(bulk) ? " so far" : ` of ${bulk.matchedCount.toLocaleString("en")} that fit`}.
          </b>
          {bulk.pace !== null && isUnderWay(bulk) && ` ${bulk.pace} a second at most.`}
        </p>
        <ul className="bulk-counts">
          {outcomes.map(({ state, count, runIds }) => (
            <Counted
              key={state}
              icon={<StateIcon state={state as State} />}
              count={count}
              words={state === "failed" ? "failed again" : state}
              runIds={runIds}
            />
          ))}
          {bulk.leftOut.map(({ why, count, runIds }) => (
            <Counted
              key={why}
              icon={<Icon name="cross" />}
              count={count}
              words={`left out: ${leftOutWords(why)}`}
              runIds={runIds}
            />
          ))}
          {bulk.failedCount > 0 && (
            <Counted
              icon={<StateIcon state="failed" />}
              count={bulk.failedCount}
              words={`could not be: ${bulk.failures[0]?.error ?? ""}`}
              runIds={bulk.failures.map(({ runId }) => runId)}
            />
          )}
        </ul>
        {bulk.error !== null && <p className="failed">{bulk.error}</p>}
        {error !== null && <p className="failed">How far it is could not be read. The work goes on.</p>}
        <p className="quiet">
          You may close this page: the work goes on, and asking again leaves out what was done. One entry in the{" "}
          <Link to="/audit" search={{ subject: bulk.id }}>
            audit
          </Link>
          : <i>{bulk.reason}</i>.
        </p>
        <div className="bulk-end">
          <code className="faint">bulk {bulk.id}</code>
          <span className="button-row">
            {isUnderWay(bulk) && (
              <ActButton
                disabled={isStopping}
                onClick={() => {
                  setStopping(true);
                  void ask("POST /api/bulk/:bulk/cancel", { params: { bulk: bulk.id } }).finally(() =>
                    setStopping(false),
                  );
                }}
              >
                Stop after these
              </ActButton>
            )}
            <Button look="primary" onClick={onClose}>
              Close
            </Button>
          </span>
        </div>
      </div>
    </Dialog>
  );
}

const order: readonly string[] = ["completed", "failed", "cancelled", "running", "waiting", "parked", "queued"];

function ended({ action, state, doneCount }: BulkItem): string {
  const words = actionWords[action ?? "rerun"];
  if (state === "cancelled") return `Stopped: ${runsWords(doneCount)} ${words.did}`;
  if (state === "completed") return `Done: ${runsWords(doneCount)} ${words.did}`;
  return state === "interrupted" ? "Interrupted: the server goes on with it soon" : "It did not get to the end";
}
