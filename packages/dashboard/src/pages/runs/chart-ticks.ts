// Places of the times under the bars: days in their middle, hours and minutes where they begin.
import { type Label, labelsWithRoom } from "../../parts/label-room.ts";
import { clockOf } from "../../parts/time-words.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
  14 * day,
  28 * day,
];
// "Mon 11" and the room beside it.
const tickPx = 56;

/** The instants whose names have room under a chart of so many pixels. */
export function ticksOf(from: number, to: number, px: number, utc: boolean): readonly number[] {
  const max = Math.max(1, Math.floor(px / tickPx));
  const step = steps.find((each) => (to - from) / each <= max) ?? steps.at(-1)!;
  const first = beginOf(from, step, utc);
  const ticks: (Label & { readonly instant: number })[] = [];
  for (let begin = first; begin < to; begin += step) {
    const instant = step >= day ? begin + 12 * hour : begin;
    ticks.push({ instant, at: (instant - from) / (to - from), text: tickWords(instant, to - from, utc) });
  }
  return labelsWithRoom(ticks, { trackPx: px, anchor: "middle" }).map(({ instant }) => instant);
}

/** Days begin where the reader's do; a step that crosses a change of clocks is an hour aside, which no bar shows. */
function beginOf(at: number, step: number, utc: boolean): number {
  const date = new Date(at);
  const shift = utc ? 0 : date.getTimezoneOffset() * minute;
  const length = Math.min(step, day);
  return Math.floor((at - shift) / length) * length + shift;
}

// Made once: making one takes longer than drawing the chart it stands under.
const formatsOf = (options: Intl.DateTimeFormatOptions) =>
  [{}, { timeZone: "UTC" }].map((zone) => new Intl.DateTimeFormat("en-GB", { ...options, ...zone }));
const formats = {
  date: formatsOf({ day: "numeric", month: "short" }),
  weekday: formatsOf({ weekday: "short" }),
  day: formatsOf({ day: "numeric" }),
};

export function tickWords(at: number, rangeMs: number, utc: boolean): string {
  if (rangeMs <= 2 * day) return clockOf(at, { utc, millis: false }).slice(0, 5);
  const words = (format: keyof typeof formats) => formats[format][Number(utc)]!.format(at);
  if (rangeMs > 14 * day) return words("date");
  const weekday = words("weekday");
  return weekday === "Mon" ? `Mon ${words("day")}` : weekday;
}
