// The effect another limit would have on a line, judged by its last minutes.
import { lengthWords } from "../../parts/time-words.ts";
import type { LineAnswer } from "./line-data.ts";

const minuteMs = 60_000;

/** Runs end as fast as slots let them: twice the slots, twice the ends. Null where nothing has ended that could be gone on from. */
export function raiseWords(
  { waiting, endsPerMinute, comePerMinute }: LineAnswer["line"],
  from: number,
  to: number,
): string | null {
  if (waiting === 0 || endsPerMinute === 0 || to < 1 || to === from) return null;
  const net = (endsPerMinute * to) / from - (comePerMinute ?? 0);
  const rate = `About ${Math.round(((endsPerMinute * to) / from) * 10) / 10} would end a minute, now ${endsPerMinute}.`;
  return net <= 0
    ? `${rate} The line would still grow.`
    : `${rate} The line would be empty in about ${lengthWords(Math.round(waiting / net) * minuteMs || minuteMs)}, if the work itself has room for it.`;
}
