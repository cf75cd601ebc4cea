// Marks on the axis: offsets from the run's start, at round steps of the real clock. The first one behind a fold says how late it is there.
import { type LabelTrack, labelPx, labelsWithRoom, type Stretch, stretchOf } from "../../parts/label-room.ts";
import { lengthWords } from "../../parts/time-words.ts";
import type { Fold, Scale } from "./fold.ts";

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

// More labels than every sixth of the track would be in the way of the bars.
const apartMin = 0.16;
/** The padding of a label, in axis.css. */
export const tickPadPx = 4;

/** `trackPx`: how wide the track is drawn. A label that would reach over its end, over another or into a fold is left out. */
export function ticksOf(scale: Scale, start: number, trackPx: number): Tick[] {
  const folded = scale.folds.reduce((sum, { width }) => sum + width, 0);
  const foldedMs = scale.folds.reduce((sum, { from, to }) => sum + to - from, 0);
  const msPerShare = (scale.to - scale.from - foldedMs) / (1 - folded);
  const wanted = msPerShare * apartMin;
  const track: LabelTrack = {
    trackPx,
    anchor: "start",
    padPx: tickPadPx,
    taken: scale.folds.map(({ left, width }) => ({ from: left * trackPx, to: (left + width) * trackPx })),
  };
  const choices = steps.filter((each) => each >= wanted);
  if (choices.length === 0) choices.push(Math.ceil(wanted / (365 * day)) * 365 * day);
  let ticks: Tick[] = [];
  for (const step of choices) {
    ticks = roundTicks(scale, start, step);
    const widest = Math.max(0, ...ticks.map((tick) => lengthOf(stretchOf(tick, track))));
    if ((step / msPerShare) * trackPx > widest) break;
  }
  return labelsWithRoom(ticks, track);
}

const lengthOf = ({ from, to }: Stretch): number => to - from;

/** The length of a fold, as exactly as there is room for on it. */
export function foldWords({ from, to, width }: Fold, trackPx: number): string | null {
  const exact = lengthWords(to - from);
  const short = exact.split(" ").slice(0, 2).join(" ");
  return [exact, short].find((text) => labelPx(text) <= width * trackPx) ?? null;
}

function roundTicks(scale: Scale, start: number, step: number): Tick[] {
  const ticks: Tick[] = [];
  const add = (instant: number, roundTo: number) => {
    const at = scale.at(instant);
    if (ticks.some((each) => Math.abs(each.at - at) < apartMin * 0.85)) return;
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
