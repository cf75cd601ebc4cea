// A run that a step invoked, under its step, one level deep; deeper ones are a link away.
import { Link } from "@tanstack/react-router";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Scale } from "./fold.ts";
import { rowsOf } from "./rows.ts";
import { isOpen } from "./run-data.ts";
import { useFreshRun, useRun } from "./run-queries.ts";
import { Track } from "./waterfall-row.tsx";

export function InvokedRun({
  runId,
  scale,
  now,
}: {
  readonly runId: string;
  readonly scale: Scale;
  readonly now: number | null;
}) {
  const { data } = useRun(runId);
  useFreshRun(runId, data);
  if (data === undefined) return null;
  const { run, workers } = data;
  const rows = rowsOf(run, { now: now ?? scale.to, effects: [], workers }).filter(({ id }) => id !== "queued");
  return (
    <ol className="invoked">
      <li className="row">
        <div className="label">
          <StateIcon state={run.state} />
          <Link className="name" to="/runs/$run" params={{ run: runId }}>
            <bdi className="cut">{visibleText(run.function)}</bdi>
          </Link>
        </div>
        <Track
          bars={[
            {
              kind: isOpen(run) ? "wait" : run.state === "completed" ? "value" : "error",
              from: run.createdAt,
              to: run.endedAt,
            },
          ]}
          note={null}
          scale={scale}
          now={now}
        />
      </li>
      {rows.map((row) => (
        <li className="row" key={row.id}>
          <div className="label is-inner">
            <StateIcon state={row.state} />
            {row.entry?.childRunId == null ? (
              <span className="name">
                <bdi className="cut">{visibleText(row.name)}</bdi>
              </span>
            ) : (
              <Link className="name" to="/runs/$run" params={{ run: row.entry.childRunId }}>
                <bdi className="cut">{visibleText(row.name)}</bdi>
                <span className="spoken">, the run it invoked</span>
              </Link>
            )}
            <span className="length">{row.words}</span>
          </div>
          <Track bars={row.bars} note={row.note} scale={scale} now={now} />
        </li>
      ))}
    </ol>
  );
}
