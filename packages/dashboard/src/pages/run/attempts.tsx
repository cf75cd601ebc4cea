// Every try of a step: who made it, when, how long it took, what it left.
import { useSearch } from "@tanstack/react-router";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords, lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { ErrorView } from "./error-view.tsx";
import type { TimelineEntry } from "./run-data.ts";
import { workerWords } from "./step-table.tsx";

export function Attempts({
  entry,
  workers,
}: {
  readonly entry: TimelineEntry;
  readonly workers: Readonly<Record<string, string>>;
}) {
  const { attempt: asked } = useSearch({ from: "/runs/$run" });
  if (entry.attempts.length === 0) return <p className="quiet">No attempt of it has ended yet.</p>;
  return (
    <ol className="stack">
      {entry.attempts.map((attempt) => (
        <li key={attempt.attempt} className={`attempt${asked === `${attempt.attempt}` ? " is-asked" : ""}`}>
          <h3>
            <StateIcon state={attempt.error === null ? "completed" : "failed"} />
            Attempt {attempt.attempt}
          </h3>
          <dl className="pairs">
            <dt>Started</dt>
            <dd>
              <Time at={attempt.startedAt} as="row" />
            </dd>
            <dt>Length</dt>
            <dd>{durationWords(attempt.endedAt - attempt.startedAt)}</dd>
            <dt>Worker</dt>
            <dd>{visibleText(workerWords(attempt.worker, workers))}</dd>
            {attempt.retryAt !== null && (
              <>
                <dt>Next</dt>
                <dd>{lengthWords(Math.max(0, attempt.retryAt - attempt.endedAt))} later</dd>
              </>
            )}
          </dl>
          {attempt.error === null ? (
            <p className="quiet">It left the value shown under Outcome.</p>
          ) : (
            <ErrorView error={attempt.error} />
          )}
        </li>
      ))}
    </ol>
  );
}
