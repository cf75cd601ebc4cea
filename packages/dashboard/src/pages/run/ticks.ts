// Marks on the axis: offsets from the run's start, at round steps of the real clock. Behind a fold there is always one.
import { lengthWords } from "../../parts/time-words.ts";
import type { Scale } from "./fold.ts";

export interface Tick {
  readonly instant: number;
  readonly at: number;
  readonly text: string;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  second,
  2 * second,
  5 * second,
  10 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
  14 * day,
  30 * day,
  90 * day,
  365 * day,
]; // prettier-ignore

// Room for "10 m 3 s" on the narrowest track there is.
const apartMin = 0.16;

export function ticksOf(scale: Scale, start: number): Tick[] {
  const folded = scale.folds.reduce((sum, { width }) => sum + width, 0);
  const foldedMs = scale.folds.reduce((sum, { from, to }) => sum + to - from, 0);
  const msPerShare = (scale.to - scale.from - foldedMs) / (1 - folded);
  const wanted = msPerShare * apartMin;
  const step = steps.find((each) => each >= wanted) ?? Math.ceil(wanted / (365 * day)) * 365 * day;
  const ticks: Tick[] = [];
  const add = (instant: number, roundTo: number) => {
    const at = scale.at(instant);
    if (at > 0.97 || ticks.some((each) => Math.abs(each.at - at) < apartMin * 0.85)) return;
    // A label may not reach into the fold behind it: its own words stand there.
    if (scale.folds.some((fold) => at < fold.left && at > fold.left - apartMin * 0.6)) return;
    ticks.push({ instant, at, text: offsetWords(Math.round((instant - start) / roundTo) * roundTo) });
  };
  for (const segment of segmentsOf(scale)) {
    const first = Math.ceil((segment.from - start) / step) * step + start;
    // Its first instant, when no round one comes soon behind the fold.
    const begin = segment.isAfterFold && scale.at(first) - scale.at(segment.from) > apartMin / 2 ? segment.from : null;
    if (begin !== null) add(begin, begin - start > minute ? second : 100);
    for (let instant = first; instant <= segment.to; instant += step) add(instant, 1);
  }
  return ticks;
}

function segmentsOf({ from, to, folds }: Scale) {
  const segments: { from: number; to: number; isAfterFold: boolean }[] = [];
  let reached = from;
  for (const fold of folds) {
    segments.push({ from: reached, to: fold.from, isAfterFold: reached !== from });
    reached = fold.to;
  }
  segments.push({ from: reached, to, isAfterFold: folds.length > 0 });
  return segments;
}

/** "0 s", "200 ms", "1.5 s", "10 m 3 s" */
export const offsetWords = (ms: number): string =>
  ms === 0 ? "0 s" : ms < 1_000 ? `${Math.round(ms)} ms` : lengthWords(ms);
