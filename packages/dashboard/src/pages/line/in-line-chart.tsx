// The line's length over the last hour, counted back from now, and where it goes if it goes on so.

import { clockOf } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import { numberWords } from "../runs/group-words.ts";
import type { LineAnswer } from "./line-data.ts";
import { lengthBackwards } from "./line-history.ts";

const wide = 600;
const high = 120;

export function InLineChart({ of, now }: { readonly of: LineAnswer; readonly now: number }) {
  const utc = useSettings().zone === "utc";
  const history = lengthBackwards(of);
  if (history === null) return <p className="quiet under">So many came in the last hour that they were not counted.</p>;
  const from = history[0]!.at;
  const empty = of.line.emptyInMs === null ? null : now + of.line.emptyInMs;
  // No further ahead than it looks back, or the past would be a hair.
  const until = Math.min(empty ?? now, now + (now - from));
  const to = empty === null ? now : Math.max(until, now + (now - from) / 10);
  const most = Math.max(...history.map(({ waiting }) => waiting));
  if (most === 0 && of.line.waiting === 0) return <p className="quiet under">Nobody stood in line in the last hour.</p>;
  const x = (at: number) => Number((((at - from) / (to - from)) * wide).toFixed(1));
  const y = (waiting: number) => Number((high - (waiting / Math.max(1, most)) * (high - 4)).toFixed(1));
  // The minute that is going on ends now.
  const points = history.map(({ at, waiting }) => `${x(Math.min(at, now))} ${y(waiting)}`).join("L");
  const left = empty === null || empty <= now ? 0 : of.line.waiting * (1 - (until - now) / (empty - now));
  const words = (at: number) => clockOf(at, { utc, millis: false }).slice(0, 5);
  const label = `At most ${most} stood in line in the last hour, ${of.line.waiting} do now`;
  return (
    <figure className="in-line-chart">
      <svg viewBox={`0 0 ${wide} ${high}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path className="area" d={`M${x(from)} ${high}L${points}L${x(now)} ${high}Z`} />
        <path className="past" d={`M${points}`} />
        {empty !== null && <path className="ahead" d={`M${x(now)} ${y(of.line.waiting)}L${x(until)} ${y(left)}`} />}
        <line className="now" x1={x(now)} x2={x(now)} y1={0} y2={high} />
      </svg>
      <figcaption>
        <span>{words(from)}</span>
        <span>highest {numberWords(most)}</span>
        <span>{empty === null ? "now" : `dashed: as it goes, empty at about ${words(empty)}`}</span>
      </figcaption>
    </figure>
  );
}
