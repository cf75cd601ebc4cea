// A line's past length is not kept: it is counted back from the present one, by the runs that came and those that ended since.
import type { LineAnswer } from "./line-data.ts";

export interface LengthAt {
  readonly at: number;
  readonly waiting: number;
}

/** Oldest first, the last is now. Runs at work are taken to have been as many all along, which is right to within a limit's places. Null where it was not counted what came. */
export function lengthBackwards({ minutes, line }: Pick<LineAnswer, "minutes" | "line">): LengthAt[] | null {
  if (minutes.length === 0 || minutes.some(({ started }) => started === null)) return null;
  let waiting = line.waiting;
  const back: LengthAt[] = [{ at: minutes.at(-1)!.at + 60_000, waiting }];
  for (const { at, ended, started } of [...minutes].reverse()) {
    waiting = Math.max(0, waiting - started! + ended);
    back.push({ at, waiting });
  }
  return back.reverse();
}
