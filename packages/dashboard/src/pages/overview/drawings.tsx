// Bars and lines of the overview, as SVG: small enough for the first page that is opened, and no canvas to be told of a theme.
import type { PointerEvent } from "react";
import type { Overview, OverviewFunction } from "./overview-data.ts";

type Buckets = Overview["buckets"];

interface PadProps {
  /** The stretch under the cursor. */
  readonly at: number;
  readonly onPoint: (event: PointerEvent<HTMLElement>) => void;
  readonly onLeave: () => void;
  readonly onOpen: () => void;
  readonly ticks: readonly string[];
}

const high = 60;
// Failures are seen at whatever height.
const loudPx = 3;

function Pad({
  at,
  onPoint,
  onLeave,
  onOpen,
  ticks,
  count,
  children,
}: PadProps & { readonly count: number; readonly children: React.ReactNode }) {
  return (
    <>
      {/* The section around it hears the keys; the same is a link under the charts. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as said above */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as said above */}
      <div className="pad" onPointerMove={onPoint} onPointerLeave={onLeave} onClick={onOpen}>
        <svg viewBox={`0 0 ${count} ${high}`} preserveAspectRatio="none" aria-hidden="true">
          {children}
          <line className="cursor" x1={at + 0.5} x2={at + 0.5} y1={0} y2={high} />
        </svg>
      </div>
      <div className="ticks" aria-hidden="true">
        {ticks.map((text) => (
          <span key={text}>{text}</span>
        ))}
      </div>
    </>
  );
}

export function Bars({ buckets, ...pad }: PadProps & { readonly buckets: Buckets }) {
  const most = Math.max(1, ...buckets.map(({ ended }) => ended));
  return (
    <Pad {...pad} count={buckets.length}>
      {buckets.map((bucket, i) => (
        <Bar key={bucket.at} {...bucket} i={i} most={most} high={high} />
      ))}
    </Pad>
  );
}

function Bar({
  ended,
  failed,
  i,
  most,
  high: full,
}: {
  readonly ended: number;
  readonly failed: number;
  readonly i: number;
  readonly most: number;
  readonly high: number;
}) {
  if (ended === 0) return null;
  const height = Math.max(1, (ended / most) * (full - loudPx));
  const red = failed === 0 ? 0 : Math.max(loudPx, (failed / most) * (full - loudPx));
  const grey = Math.max(0, height - red);
  return (
    <>
      <rect className="bar" x={i + 0.12} width={0.76} y={full - grey} height={grey} />
      {red > 0 && <rect className="bar is-failed" x={i + 0.12} width={0.76} y={full - grey - red} height={red} />}
    </>
  );
}

export function Lines({ buckets, ...pad }: PadProps & { readonly buckets: Buckets }) {
  const most = Math.max(1, ...buckets.map(({ p95Ms }) => p95Ms ?? 0));
  return (
    <Pad {...pad} count={buckets.length}>
      <path
        className="took is-p95"
        d={pathOf(
          buckets.map(({ p95Ms }) => p95Ms),
          most,
        )}
      />
      <path
        className="took is-p50"
        d={pathOf(
          buckets.map(({ p50Ms }) => p50Ms),
          most,
        )}
      />
    </Pad>
  );
}

/** Gaps stay gaps; one alone is a short line. */
export function pathOf(values: readonly (number | null)[], most: number): string {
  const y = (value: number) => Number((high - 2 - (value / most) * (high - 4)).toFixed(2));
  return values
    .map((value, i) => {
      if (value === null) return "";
      const isAlone = values[i - 1] == null && values[i + 1] == null;
      if (isAlone) return `M${i + 0.2} ${y(value)}L${i + 0.8} ${y(value)}`;
      return `${values[i - 1] == null ? "M" : "L"}${i + 0.5} ${y(value)}`;
    })
    .join("");
}

const sparkHigh = 22;

/** On its own scale: it tells when, the numbers beside it how many. */
export function Spark({ buckets }: Pick<OverviewFunction, "buckets">) {
  const most = Math.max(1, ...buckets.map(({ ended }) => ended));
  return (
    <svg className="spark" viewBox={`0 0 ${buckets.length} ${sparkHigh}`} preserveAspectRatio="none" aria-hidden="true">
      {buckets.map((bucket, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stretch is its place
        <Bar key={i} {...bucket} i={i} most={most} high={sparkHigh} />
      ))}
    </svg>
  );
}
