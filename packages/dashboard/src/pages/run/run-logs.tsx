// Log lines of the run's code: beside their step, and all of them in the order of writing. Followed while the run is open.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { type Answer, ask } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { nameOf } from "./rows.ts";
import type { RunAnswer } from "./run-data.ts";
import { stepParams } from "./run-words.ts";
import "./run-logs.css";

type LogsAnswer = Answer<"GET /api/runs/:run/logs">;
type LogLine = LogsAnswer["lines"][number];

function useRunLogs(runId: string) {
  const logs = useQuery({
    queryKey: ["run-logs", runId],
    queryFn: ({ signal }) => ask("GET /api/runs/:run/logs", { params: { run: runId }, signal }),
  });
  const { refetch } = logs;
  useFollow(useCallback(() => refetch(), [refetch]));
  return logs;
}

const nothingWords = {
  off: "Logs are switched off here: `runLogs: false`. The program's own log has them.",
  elsewhere: "The function's app is called over HTTP, and its lines stay in the app's own log.",
} as const;

export function StepLogs({ runId, stepId }: { readonly runId: string; readonly stepId: string }) {
  const { data, error, refetch } = useRunLogs(runId);
  if (error !== null && data === undefined)
    return <ErrorPart error={error} what="The lines could not be read." onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={2} />;
  const lines = data.lines.filter((line) => line.stepId === stepId);
  if (lines.length > 0) return <Lines lines={lines} stepOf={null} />;
  return <p className="quiet">{data.whyNone === null ? "This step wrote none." : nothingWords[data.whyNone]}</p>;
}

/** All lines of the run; nothing where there are none. */
export function RunLogs({ answer }: { readonly answer: RunAnswer }) {
  const { data } = useRunLogs(answer.run.id);
  if (data === undefined || data.lines.length === 0) return null;
  const param = stepParams(answer.run);
  const steps = new Map(
    answer.run.timeline.map((entry) => [entry.stepId, { name: nameOf(entry), param: param(entry) }]),
  );
  return (
    <section className="card run-logs" aria-labelledby="run-logs">
      <h2 id="run-logs">Logs</h2>
      <Lines lines={data.lines} stepOf={(id) => steps.get(id) ?? null} />
      {data.droppedCount > 0 && (
        <p className="quiet">
          {data.droppedCount.toLocaleString("en")} more came too fast between two commits, and are not kept.
        </p>
      )}
      {data.isFull && <p className="quiet">The run wrote more than is kept of one; what came later is missing.</p>}
    </section>
  );
}

const tones = { debug: "plain", info: "plain", warn: "waiting", error: "failed" } as const;

/** Up to some two thousand: the server bounds them. */
function Lines({
  lines,
  stepOf,
}: {
  readonly lines: readonly LogLine[];
  /** The step a line links to; null beside the step itself. */
  readonly stepOf: ((stepId: string) => { readonly name: string; readonly param: string | undefined } | null) | null;
}) {
  return (
    <ol className="log-lines">
      {lines.map(({ id, at, level, message, fields, stepId, attempt, isCut }) => {
        const step = stepId === null ? null : (stepOf?.(stepId) ?? null);
        return (
          <li key={id}>
            <Time at={at} as="row" />
            <Tag tone={tones[level]}>{level}</Tag>
            <span className="words">
              {step !== null && (
                <Link
                  from="/runs/$run"
                  to="."
                  search={(before) => ({ ...before, step: step.param, tab: "logs" as const })}
                  resetScroll={false}
                >
                  <bdi>{visibleText(step.name)}</bdi>
                </Link>
              )}
              {attempt > 1 && <span className="faint"> attempt {attempt} </span>} <bdi>{visibleText(message)}</bdi>
              {fields !== null && <code className="faint"> {visibleText(JSON.stringify(fields))}</code>}
              {isCut && <span className="faint"> cut</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
