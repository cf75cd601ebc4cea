// The axis: offsets from the start on the real clock. A drag on it zooms; the step panel zooms without one.
import { lengthWords } from "../../parts/time-words.ts";
import { useDrag } from "./drag.ts";
import type { Scale, Span } from "./fold.ts";
import { ticksOf } from "./ticks.ts";
import "./axis.css";

// On a narrow screen a tick this close before a fold would stand on its words.
const narrowMin = 0.15;

export function Axis({
  scale,
  start,
  onZoom,
}: {
  readonly scale: Scale;
  readonly start: number;
  readonly onZoom: (span: Span) => void;
}) {
  const { track, drag, handlers } = useDrag({
    onDrag: ({ from, to }) => onZoom({ from: scale.instant(from), to: scale.instant(to) }),
  });
  return (
    <div className="axis" aria-hidden="true">
      <span className="what">Step</span>
      <div ref={track} className="track" {...handlers}>
        {ticksOf(scale, start).map(({ instant, at, text }) => (
          <span
            key={instant}
            className={`tick${scale.folds.some(({ left }) => left > at && left - at < narrowMin) ? " is-near" : ""}`}
            style={{ left: `${at * 100}%` }}
            title={new Date(instant).toISOString().replace("T", " ").replace("Z", " UTC")}
          >
            {text}
          </span>
        ))}
        {scale.folds.map(({ from, to, left, width }) => (
          <span key={from} className="fold-words" style={{ left: `${left * 100}%`, width: `${width * 100}%` }}>
            {lengthWords(to - from)}
          </span>
        ))}
        {drag !== null && (
          <span
            className="chosen"
            style={{ left: `${Math.min(drag.from, drag.to) * 100}%`, width: `${Math.abs(drag.to - drag.from) * 100}%` }}
          />
        )}
      </div>
    </div>
  );
}
