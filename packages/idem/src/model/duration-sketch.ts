// The durations of many things in little room: a count for each of a row of lengths that grow by the same factor. Two such
// sketches are added by adding their counts, so those of a minute make an hour's and those of functions make everybody's. A value read from
// one is off by at most `sketchError`, whatever was put in (C. Masson, J. E. Rim, H. K. Lee, "DDSketch", VLDB 2019, section 2).

/** As a share of the true length. */
export const sketchError = 0.03;

const factor = (1 + sketchError) / (1 - sketchError);
const logOfFactor = Math.log(factor);

/** Counts by length: 0 for less than a millisecond, n for up to factor^(n - 1) milliseconds. */
export type DurationSketch = ReadonlyMap<number, number>;

export const emptySketch: DurationSketch = new Map();

const placeOf = (ms: number): number => (ms < 1 ? 0 : 1 + Math.ceil(Math.log(ms) / logOfFactor - 1e-9));

/** In the middle between the shortest and the longest of its place, as shares go. */
const lengthAt = (place: number): number =>
  place === 0 ? 0 : Math.round((2 * factor ** (place - 1)) / (1 + factor)) || 1;

export function sketchOf(durationsMs: Iterable<number>): DurationSketch {
  const sketch = new Map<number, number>();
  for (const ms of durationsMs) {
    const place = placeOf(ms);
    sketch.set(place, (sketch.get(place) ?? 0) + 1);
  }
  return sketch;
}

export function mergeSketches(sketches: Iterable<DurationSketch>): DurationSketch {
  const sum = new Map<number, number>();
  for (const sketch of sketches) for (const [place, count] of sketch) sum.set(place, (sum.get(place) ?? 0) + count);
  return sum;
}

export const countIn = (sketch: DurationSketch): number => [...sketch.values()].reduce((sum, count) => sum + count, 0);

/** The length that all but the longest took, for a share of 0.95 all but one in twenty; null where nothing was put in. */
export function durationAt(sketch: DurationSketch, share: number): number | null {
  const count = countIn(sketch);
  if (count === 0) return null;
  let left = Math.min(count - 1, Math.floor(count * share));
  for (const [place, inPlace] of [...sketch].sort(([a], [b]) => a - b)) {
    if (left < inPlace) return lengthAt(place);
    left -= inPlace;
  }
  return null;
}

/** As it is kept: `12:3 40:1`. */
export const sketchText = (sketch: DurationSketch): string =>
  [...sketch]
    .sort(([a], [b]) => a - b)
    .map(([place, count]) => `${place}:${count}`)
    .join(" ");

export function readSketch(text: string): DurationSketch {
  const sketch = new Map<number, number>();
  if (text === "") return sketch;
  for (const part of text.split(" ")) {
    const colon = part.indexOf(":");
    sketch.set(Number(part.slice(0, colon)), Number(part.slice(colon + 1)));
  }
  return sketch;
}
