// The axis: offsets from the start on the real clock. A drag on it zooms; the step panel zooms without one.
import { useElementWidth } from "../../parts/element-width.ts";
import { lengthWords } from "../../parts/time-words.ts";
import { useDrag } from "./drag.ts";
import type { Scale, Span } from "./fold.ts";
import { foldWords, ticksOf } from "./ticks.ts";
import "./axis.css";

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
  const trackPx = useElementWidth(track);
  return (
    <div className="axis" aria-hidden="true">
      <span className="what">Step</span>
      <div ref={track} className="track" {...handlers}>
        {ticksOf(scale, start, trackPx).map(({ instant, at, text }) => (
          <span
            key={instant}
            className="tick"
            style={{ left: `${at * 100}%` }}
            title={new Date(instant).toISOString().replace("T", " ").replace("Z", " UTC")}
          >
            {text}
          </span>
        ))}
        {scale.folds.map((fold) => (
          <span
            key={fold.from}
            className="fold-words"
            style={{ left: `${fold.left * 100}%`, width: `${fold.width * 100}%` }}
            title={lengthWords(fold.to - fold.from)}
          >
            {foldWords(fold, trackPx)}
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
