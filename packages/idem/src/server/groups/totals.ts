// How much was asked, how much ran first, how much was answered instead, and what slipped through; in all, by function and by bucket. From
// hours that were counted before; the rest is counted live, up to a bound. asked = first + suppressed + slipped, always.
import { type DecisionCount, hourMs } from "../../store/counts.ts";
import type { StoreReads } from "../../store/reads.ts";
import type { KnownFunctions } from "./functions-known.ts";
import { type Slipped, slippedRuns } from "./loud-groups.ts";

export interface Counts {
  readonly asked: number;
  readonly first: number;
  readonly suppressed: number;
  readonly slipped: number;
}

export interface Totals {
  readonly total: Counts;
  readonly byFunction: ReadonlyMap<string, Counts>;
  readonly bucketMs: number;
  /** One after the other, empty ones too. */
  readonly buckets: readonly (Counts & { readonly at: number })[];
  /** False when there was more than could be looked at now. */
  readonly isAll: boolean;
}

export const bucketsMax = 56;
const minute = 60_000;
const lengths = [
  ...[1, 5, 15, 30].map((minutes) => minutes * minute),
  ...[1, 3, 6, 12, 24, 48, 7 * 24, 14 * 24, 28 * 24].map((hours) => hours * hourMs),
];
// Some 10 ms; at more than a thousand events a second the newest seconds are missing, which is said.
const liveMax = 20_000;

export interface TotalsRange {
  readonly since: number;
  readonly until: number;
  readonly fn?: string;
}

export async function totalsOf(
  reads: StoreReads,
  env: string,
  functions: KnownFunctions,
  { since: asked, until, fn }: TotalsRange,
): Promise<Totals> {
  // As far as the longest buckets reach: some four years.
  const since = Math.max(asked, until - (bucketsMax - 1) * lengths.at(-1)!);
  const wanted = lengths.find((ms) => Math.ceil(until / ms) - Math.floor(since / ms) <= bucketsMax) ?? lengths.at(-1)!;
  const ofFunction = fn === undefined ? {} : { fn };
  const slipping = slippedRuns(reads, env, functions, {
    since: floorTo(since, Math.max(wanted, minute)),
    until,
    ...ofFunction,
  });
  const short = wanted < hourMs ? await liveOf(wanted) : null;
  // So much in so short a time: by the hour then.
  const bucketMs = wanted < hourMs && short === null ? hourMs : wanted;
  const { counts, isAll } = short ?? (await hourlyOf(bucketMs));
  const slipped = await slipping;
  return addUp(counts, slipped.runs, {
    from: floorTo(since, bucketMs),
    until,
    bucketMs,
    isAll: isAll && slipped.isAll,
  });

  async function liveOf(stepMs: number) {
    const from = floorTo(since, stepMs);
    const live = await reads.liveCounts(env, {
      since: from,
      until,
      ...ofFunction,
      after: "",
      stepMs,
      examinedMax: liveMax,
    });
    return live.isAll ? live : null;
  }

  async function hourlyOf(stepMs: number) {
    const from = floorTo(since, stepMs);
    const counted = await reads.hourCounts(env, { since: from, until, ...ofFunction });
    const live = await reads.liveCounts(env, {
      since: from,
      until,
      ...ofFunction,
      after: counted.countedTo,
      stepMs: hourMs,
      examinedMax: liveMax,
    });
    return { counts: [...counted.counts, ...live.counts], isAll: live.isAll };
  }
}

const floorTo = (ms: number, step: number): number => Math.floor(ms / step) * step;

interface Sum {
  started: number;
  suppressed: number;
  slipped: number;
}

const none = (): Sum => ({ started: 0, suppressed: 0, slipped: 0 });

/** What slipped through was started as well. */
const countsOf = ({ started, suppressed, slipped }: Sum): Counts => {
  const ran = Math.max(started, slipped);
  return { asked: ran + suppressed, first: ran - slipped, suppressed, slipped };
};

function addUp(
  counts: readonly DecisionCount[],
  slipped: readonly Slipped[],
  { from, until, bucketMs, isAll }: { from: number; until: number; bucketMs: number; isAll: boolean },
): Totals {
  const total = none();
  const byFunction = new Map<string, Sum>();
  const buckets = Array.from({ length: Math.max(1, Math.ceil((until - from) / bucketMs)) }, none);
  const sumsFor = (fn: string, at: number): Sum[] => {
    const ofFunction = byFunction.get(fn) ?? none();
    byFunction.set(fn, ofFunction);
    const bucket = buckets[Math.floor((at - from) / bucketMs)];
    return bucket === undefined ? [] : [total, ofFunction, bucket];
  };
  for (const { at, fn, started, suppressed } of counts) {
    for (const sum of sumsFor(fn, at)) {
      sum.started += started;
      sum.suppressed += suppressed;
    }
  }
  for (const { fn, at } of slipped) for (const sum of sumsFor(fn, at)) sum.slipped += 1;
  return {
    total: countsOf(total),
    byFunction: new Map([...byFunction].map(([fn, sum]) => [fn, countsOf(sum)])),
    bucketMs,
    buckets: buckets.map((sum, i) => ({ at: from + i * bucketMs, ...countsOf(sum) })),
    isAll,
  };
}
