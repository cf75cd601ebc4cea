// Both runs on one clock, the second where it really began.

import { useRef } from "react";
import { useElementWidth } from "../../parts/element-width.ts";
import { clockOf, lengthWords } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import { type Scale, scaleOf } from "../run/fold.ts";
import { type Bar, rangeOf, rowsOf, workOf } from "../run/rows.ts";
import { isOpen, type RunAnswer } from "../run/run-data.ts";
import { foldWords } from "../run/ticks.ts";
import { axisLabels, type BothRunsAxis } from "./axis-labels.ts";
import "../run/bars.css";

const drawn: ReadonlySet<Bar["kind"]> = new Set(["value", "error", "wait", "working"]);

export function BothRuns({ one, two }: { readonly one: RunAnswer; readonly two: RunAnswer }) {
  const now = lastInstant(one, two);
  const rows = [one, two].map(({ run, workers }) => rowsOf(run, { now, effects: [], workers }));
  const ranges = [rangeOf(one.run, now), rangeOf(two.run, now)];
  const start = Math.min(...ranges.map(({ from }) => from));
  const scale = scaleOf(
    { from: start, to: Math.max(...ranges.map(({ to }) => to)) },
    rows.flatMap((each) => workOf(each, now)),
    { unfold: false },
  );
  const gap = two.run.createdAt - one.run.createdAt;
  const words = `Run 2 began ${lengthWords(Math.abs(gap))} ${gap < 0 ? "before" : "after"} run 1`;
  return (
    <section className="card both-runs" aria-label="Both runs on one clock">
      <p className="spoken">{words}</p>
      <Lane
        name="Run 1"
        begin={scale.at(one.run.createdAt)}
        bars={rows[0]!.flatMap(({ bars }) => bars)}
        scale={scale}
      />
      <Lane
        name="Run 2"
        begin={scale.at(two.run.createdAt)}
        bars={rows[1]!.flatMap(({ bars }) => bars)}
        scale={scale}
      />
      <AxisLane
        scale={scale}
        start={start}
        begin={Math.max(one.run.createdAt, two.run.createdAt)}
        gap={Math.abs(gap)}
      />
    </section>
  );
}

function AxisLane(props: BothRunsAxis) {
  const { scale, start } = props;
  const utc = useSettings().zone === "utc";
  const track = useRef<HTMLDivElement>(null);
  const trackPx = useElementWidth(track);
  return (
    <div className="lane is-axis" aria-hidden="true">
      <span />
      <div className="track" ref={track}>
        {axisLabels(props, clockOf(start, { utc }).slice(0, -2), trackPx).map(({ id, at, text }) => (
          <span key={id} className="axis-words" style={{ left: `${at * 100}%` }}>
            {text}
          </span>
        ))}
        {scale.folds.map((fold) => (
          <span
            key={fold.from}
            className="axis-words is-fold"
            style={{ left: `${fold.left * 100}%`, width: `${fold.width * 100}%` }}
          >
            {foldWords(fold, trackPx)}
          </span>
        ))}
      </div>
    </div>
  );
}

function Lane({
  name,
  begin,
  bars,
  scale,
}: {
  readonly name: string;
  readonly begin: number;
  readonly bars: readonly Bar[];
  readonly scale: Scale;
}) {
  return (
    <div className="lane">
      <span>{name}</span>
      <div className="track" aria-hidden="true">
        {scale.folds.map(({ from, left, width }) => (
          <span key={from} className="fold" style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
        ))}
        <span className="begin" style={{ left: `${begin * 100}%` }} />
        {bars
          .filter(({ kind }) => drawn.has(kind))
          .map((bar, place) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: two steps may begin and end in the same millisecond
              key={place}
              className={`bar is-${bar.kind}${bar.to === null ? " is-open" : ""}`}
              style={{
                left: `${scale.at(bar.from) * 100}%`,
                width: `${((bar.to === null ? 1 : scale.at(bar.to)) - scale.at(bar.from)) * 100}%`,
              }}
            />
          ))}
      </div>
    </div>
  );
}

/** The page stands still: an open run is drawn up to the last thing known of either, and a little beyond. */
function lastInstant(...answers: readonly RunAnswer[]): number {
  const known = answers.flatMap(({ run }) => [
    run.createdAt,
    run.startedAt ?? 0,
    run.endedAt ?? 0,
    ...run.timeline.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt ?? 0]),
  ]);
  const last = Math.max(...known);
  const first = Math.min(...answers.map(({ run }) => run.createdAt));
  return answers.some(({ run }) => isOpen(run)) ? last + Math.max(100, (last - first) * 0.15) : last;
}
