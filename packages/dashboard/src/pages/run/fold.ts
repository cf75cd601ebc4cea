// Folded time. A sleep of ten minutes beside four seconds of work would squash the work to a hair, so a long stretch in which only
// waits are open takes a small, fixed share of the track. Everything else keeps one scale: equal widths are equal times.

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A stretch that is drawn shorter than it was, and where on the track (0 to 1) it stands. */
export interface Fold extends Span {
  readonly left: number;
  readonly width: number;
}

export interface Scale extends Span {
  readonly folds: readonly Fold[];
  /** An instant's place on the track, 0 to 1. */
  at(instant: number): number;
  /** The instant at a place on the track: what a drag on the axis means. */
  instant(at: number): number;
}

const foldOverMs = 5_000;
const foldOverShare = 0.3;
const foldWidth = 0.14;
// However many there are, folds leave most of the track to what happened.
const foldsWidthMax = 0.6;
// A fold begins a little after its wait and ends before it does, so that both ends of the bar are seen.
const edgeShare = 0.05;

/** `work`: when something other than a wait was going on. */
export function scaleOf(range: Span, work: readonly Span[], options: { readonly unfold: boolean }): Scale {
  const from = range.from;
  // A run that took no time still has a track.
  const to = Math.max(range.to, from + 1);
  const stretches = options.unfold ? [] : idleStretches({ from, to }, work).filter((each) => isLong(each, to - from));
  return fold({ from, to }, stretches);
}

const lengthOf = ({ from, to }: Span): number => to - from;
const isLong = (stretch: Span, rangeMs: number): boolean =>
  lengthOf(stretch) > foldOverMs && lengthOf(stretch) > rangeMs * foldOverShare;

/** The parts of a range in which no work was done, in order. */
export function idleStretches(range: Span, work: readonly Span[]): Span[] {
  const idle: Span[] = [];
  let reached = range.from;
  for (const { from, to } of [...work].sort((a, b) => a.from - b.from)) {
    if (from > reached) idle.push({ from: reached, to: Math.min(from, range.to) });
    reached = Math.max(reached, to);
    if (reached >= range.to) return idle;
  }
  idle.push({ from: reached, to: range.to });
  return idle;
}

function fold(range: Span, stretches: readonly Span[]): Scale {
  const open = lengthOf(range) - stretches.reduce((sum, each) => sum + lengthOf(each), 0);
  // Beside no work at all the ends are a share of the wait itself.
  const shortened = stretches.map((stretch) => {
    const edge = Math.min(Math.max(open * edgeShare, 1), lengthOf(stretch) / 4) || lengthOf(stretch) * edgeShare;
    return { from: stretch.from + edge, to: stretch.to - edge };
  });
  const width = Math.min(foldWidth, foldsWidthMax / Math.max(1, shortened.length));
  const openMs = lengthOf(range) - shortened.reduce((sum, each) => sum + lengthOf(each), 0);
  const sharePerMs = (1 - width * shortened.length) / openMs;
  const folds: Fold[] = [];
  let left = 0;
  let reached = range.from;
  for (const each of shortened) {
    left += (each.from - reached) * sharePerMs;
    folds.push({ ...each, left, width });
    left += width;
    reached = each.to;
  }
  return {
    ...range,
    folds,
    at: (instant) => placeOf(instant, range, folds, sharePerMs),
    instant: (at) => instantAt(at, range, folds, sharePerMs),
  };
}

function placeOf(instant: number, range: Span, folds: readonly Fold[], sharePerMs: number): number {
  if (instant <= range.from) return 0;
  if (instant >= range.to) return 1;
  let begin = { instant: range.from, at: 0 };
  for (const each of folds) {
    if (instant < each.from) break;
    if (instant <= each.to) return each.left + (each.width * (instant - each.from)) / lengthOf(each);
    begin = { instant: each.to, at: each.left + each.width };
  }
  return Math.min(1, begin.at + (instant - begin.instant) * sharePerMs);
}

function instantAt(at: number, range: Span, folds: readonly Fold[], sharePerMs: number): number {
  if (at <= 0) return range.from;
  if (at >= 1) return range.to;
  let begin = { instant: range.from, at: 0 };
  for (const each of folds) {
    if (at < each.left) break;
    if (at <= each.left + each.width) return each.from + ((at - each.left) / each.width) * lengthOf(each);
    begin = { instant: each.to, at: each.left + each.width };
  }
  return Math.min(range.to, begin.instant + (at - begin.at) / sharePerMs);
}
