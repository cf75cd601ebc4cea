// The axis: offsets from the start on the real clock. A drag on it zooms; the step panel zooms without one.
import { type PointerEvent, useRef, useState } from "react";
import { lengthWords } from "../../parts/time-words.ts";
import type { Scale, Span } from "./fold.ts";
import { ticksOf } from "./ticks.ts";
import "./axis.css";

// A hand that only meant to click moves this little.
const dragMin = 0.02;

export function Axis({
  scale,
  start,
  onZoom,
}: {
  readonly scale: Scale;
  readonly start: number;
  readonly onZoom: (span: Span) => void;
}) {
  const track = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const placeOf = ({ clientX }: PointerEvent): number => {
    const { left, width } = track.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const end = () => {
    if (drag === null) return;
    setDrag(null);
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    if (to - from >= dragMin) onZoom({ from: scale.instant(from), to: scale.instant(to) });
  };
  return (
    <div className="axis" aria-hidden="true">
      <span className="what">Step</span>
      <div
        ref={track}
        className="track"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = placeOf(event);
          setDrag({ from: at, to: at });
        }}
        onPointerMove={(event) => drag !== null && setDrag({ ...drag, to: placeOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
      >
        {ticksOf(scale, start).map(({ instant, at, text }) => (
          <span
            key={instant}
            className="tick"
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
