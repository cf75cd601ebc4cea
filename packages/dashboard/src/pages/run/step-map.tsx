// All steps at a glance: where on the track each was, its height by its length, errors hatched; the frame is what is on screen. A drag
// looks closer, a click leads to the step that was at work then.
import { useMemo } from "react";
import { useDrag } from "./drag.ts";
import type { Scale, Span } from "./fold.ts";
import type { Row } from "./rows.ts";
import { hasError } from "./series.ts";
import "./step-map.css";

interface StepMapProps {
  readonly rows: readonly Row[];
  readonly scale: Scale;
  readonly seen: Span | null;
  readonly now: number;
  readonly onZoom: (span: Span) => void;
  readonly onGo: (row: Row) => void;
}

const height = 32;
// A step that took no time is still there.
const lowest = 4;

export function StepMap({ rows, scale, seen, now, onZoom, onGo }: StepMapProps) {
  const steps = useMemo(() => rows.filter(({ entry, bars }) => entry !== null && bars.length > 0), [rows]);
  const { track, drag, handlers } = useDrag({
    onDrag: ({ from, to }) => onZoom({ from: scale.instant(from), to: scale.instant(to) }),
    onClick: (at) => {
      const nearest = nearestTo(steps, scale.instant(at), now);
      if (nearest !== null) onGo(nearest);
    },
  });
  const { plain, errors } = useMemo(() => pathsOf(steps, scale, now), [steps, scale, now]);
  const frame = seen === null ? null : { left: scale.at(seen.from), right: scale.at(Math.min(seen.to, scale.to)) };
  return (
    <div className="step-map" aria-hidden="true">
      <span className="what">All steps, drag to look closer</span>
      <div ref={track} className="track" {...handlers}>
        <svg viewBox={`0 0 1000 ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <pattern id="step-map-error" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect className="is-under" width="9" height="9" />
            <rect className="is-error" width="5" height="9" />
          </pattern>
          <path className="is-plain" d={plain} />
          <path fill="url(#step-map-error)" d={errors} />
        </svg>
        {frame !== null && <span className="frame" style={place(frame.left, frame.right)} />}
        {drag !== null && <span className="chosen" style={place(drag.from, drag.to)} />}
      </div>
    </div>
  );
}

const place = (a: number, b: number) => ({
  left: `${Math.min(a, b) * 100}%`,
  width: `max(4px, ${Math.abs(b - a) * 100}%)`,
});

function pathsOf(
  steps: readonly Row[],
  scale: Scale,
  now: number,
): { readonly plain: string; readonly errors: string } {
  const lengths = steps.map(({ from, to }) => (to ?? now) - from);
  const longest = Math.max(1, ...lengths);
  const paths = { plain: "", errors: "" };
  for (const [i, row] of steps.entries()) {
    const left = scale.at(row.from) * 1_000;
    const width = Math.max(1.5, scale.at(row.to ?? now) * 1_000 - left);
    // By the square root: a step of a tenth of the longest is still a third of its height.
    const tall = lowest + (height - lowest) * Math.sqrt(lengths[i]! / longest);
    const box = `M${left.toFixed(1)} ${height}v${(-tall).toFixed(1)}h${width.toFixed(1)}V${height}z`;
    if (hasError(row)) paths.errors += box;
    else paths.plain += box;
  }
  return paths;
}

function nearestTo(steps: readonly Row[], instant: number, now: number): Row | null {
  let nearest: Row | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const row of steps) {
    const away = instant < row.from ? row.from - instant : Math.max(0, instant - (row.to ?? now));
    if (away < least) [nearest, least] = [row, away];
  }
  return nearest;
}
