// Each pair's place on the strip: at its time, but never on top of its neighbour; and the drawing when they are too many.
import type { Gathered } from "./alert-words.ts";
import { firstAtOf } from "./alert-words.ts";

/** At most this many are drawn one by one. */
export const drawnMax = 300;

/** Positions in order, moved apart as little as needed and kept between the edges. */
export function spread(wanted: readonly number[], left: number, right: number, apart: number): readonly number[] {
  const gap = Math.min(apart, (right - left) / Math.max(1, wanted.length - 1));
  const placed: number[] = [];
  for (const [i, x] of wanted.entries()) placed.push(Math.max(x, left, i === 0 ? left : placed[i - 1]! + gap));
  let limit = right;
  for (let i = placed.length - 1; i >= 0 && placed[i]! > limit; i--) {
    placed[i] = limit;
    limit -= gap;
  }
  return placed;
}

export interface DrawnPair {
  readonly at: number;
  /** Runs that slipped through: one diamond each. */
  readonly count: number;
}

/** Oldest first, as time is drawn. */
export const drawnPairs = (gathered: readonly Gathered[]): readonly DrawnPair[] =>
  gathered
    .map(({ pairs }) => ({ at: Math.min(...pairs.map(firstAtOf)), count: pairs.length }))
    .sort((a, b) => a.at - b.at);

const hourMs = 3_600_000;

/** Bars per hour, empty hours too, as many as there is room for. */
export function perHour(
  drawn: readonly DrawnPair[],
  barsMax = 200,
): { readonly times: readonly number[]; readonly counts: readonly number[] } {
  const first = drawn[0];
  if (first === undefined) return { times: [], counts: [] };
  const span = drawn.at(-1)!.at - first.at;
  const width = hourMs * Math.max(1, Math.ceil(span / hourMs / barsMax));
  const start = Math.floor(first.at / width) * width;
  const counts = Array<number>(Math.floor((drawn.at(-1)!.at - start) / width) + 1).fill(0);
  for (const { at, count } of drawn) counts[Math.floor((at - start) / width)]! += count;
  return { times: counts.map((_, i) => start + i * width), counts };
}

// From 10 ms to 60 s, each about three times the one before.
export const gapBounds = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 60_000] as const;

/** Pairs counted by how close together they came; the last number holds those further apart. */
export function gapCounts(gaps: readonly number[]): readonly number[] {
  const counts = Array<number>(gapBounds.length + 1).fill(0);
  for (const gap of gaps) {
    const place = gapBounds.findIndex((bound) => gap < bound);
    counts[place === -1 ? gapBounds.length : place]! += 1;
  }
  return counts;
}
