// One reading of what was asked and of what slipped through. The headline, the numbers, the chart and the pinned keys are made from one, so
// they say the same at every moment: the hours that were counted, what was decided after them, what the radar paired, and what the newest
// rows show before anybody counted or paired it.
import type { Engine } from "../../engine/engine.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import { type DecisionCount, hourMs, type LiveCounts } from "../../store/counts.ts";
import type { StoreReads } from "../../store/reads.ts";
import { pageWork } from "../api/paging.ts";
import { groupPage } from "./group-page.ts";
import { type LoudRange, loudIds, type SlippedRuns, slippedRuns, withSeen } from "./loud-groups.ts";
import type { JudgedGroup } from "./tell-group.ts";

export interface TallyRange {
  readonly since: number;
  readonly until: number;
  readonly fn?: string;
}

export interface Tally {
  /** Where its first bucket begins: up to a bucket before what was asked for. */
  readonly from: number;
  readonly until: number;
  readonly bucketMs: number;
  readonly counts: readonly DecisionCount[];
  readonly slipped: SlippedRuns;
  /** False when there was more than could be looked at now. */
  readonly isAll: boolean;
}

export const bucketsMax = 56;
const minute = 60_000;
const lengths = [
  ...[1, 5, 15, 30].map((minutes) => minutes * minute),
  ...[1, 3, 6, 12, 24, 48, 7 * 24, 14 * 24, 28 * 24].map((hours) => hours * hourMs),
];
// Not counted yet; at more than a thousand events a second the newest seconds are missing, which is said.
const liveMax = 20_000;
// By less than an hour: a row of the decision and one of its run for each, some 20 ms.
const shortMax = 10_000;
// As many groups as a page shows: the loud ones there are in the numbers over it.
const seenMax = 100;

const floorTo = (ms: number, step: number): number => Math.floor(ms / step) * step;

/**
 * As far as it was counted, decided and paired; `withLoud` adds what is loud in the newest rows. `stepMin`: nobody draws shorter buckets, so
 * that a day that begins with an hour comes from the counts.
 */
export async function tallyOf(
  reads: StoreReads,
  env: string,
  functions: KnownFunctions,
  { since: asked, until, fn }: TallyRange,
  stepMin = 0,
): Promise<Tally> {
  // As far as the longest buckets reach: some four years.
  const since = Math.max(asked, until - (bucketsMax - 1) * lengths.at(-1)!);
  const wanted =
    lengths.find((ms) => ms >= stepMin && Math.ceil(until / ms) - Math.floor(since / ms) <= bucketsMax) ??
    lengths.at(-1)!;
  const ofFunction = fn === undefined ? {} : { fn };
  const short = wanted < hourMs ? await liveOf(wanted) : null;
  // So much in so short a time: by the hour then.
  const bucketMs = wanted < hourMs && short === null ? hourMs : wanted;
  const { counts, slips, isAll } = short ?? (await hourlyOf(bucketMs));
  const from = floorTo(since, bucketMs);
  const slipped = await slippedRuns(reads, env, functions, { since: from, until, ...ofFunction }, slips);
  return { from, until, bucketMs, counts, slipped, isAll: isAll && slipped.isAll };

  async function liveOf(stepMs: number): Promise<LiveCounts | null> {
    const range = { since: floorTo(since, stepMs), until, ...ofFunction };
    const live = await reads.liveCounts(env, { ...range, after: "", stepMs, examinedMax: shortMax, isWhole: true });
    return live.isAll ? live : null;
  }

  async function hourlyOf(stepMs: number): Promise<LiveCounts> {
    const range = { since: floorTo(since, stepMs), until, ...ofFunction };
    const { counts: counted, countedTo } = await reads.hourCounts(env, range);
    const live = await reads.liveCounts(env, { ...range, after: countedTo, stepMs: hourMs, examinedMax: liveMax });
    return { ...live, counts: [...counted, ...live.counts] };
  }
}

export const withLoud = (tally: Tally, loud: readonly JudgedGroup[]): Tally => ({
  ...tally,
  slipped: withSeen(tally.slipped, loud, { since: tally.from, until: tally.until }),
});

/** With the newest rows, for callers that do not show them. */
export async function tallyNow(
  engine: Engine,
  env: string,
  functions: KnownFunctions,
  range: TallyRange,
  now: number,
  stepMin = 0,
): Promise<Tally> {
  const tally = await tallyOf(engine.store.reads, env, functions, range, stepMin);
  return withLoud(tally, await newestLoud(engine, functions, { ...range, since: tally.from }, tally.slipped, now));
}

/** Runs that slipped through, without numbers: for any length of time. */
export async function slippedNow(
  engine: Engine,
  env: string,
  functions: KnownFunctions,
  range: LoudRange,
  now: number,
): Promise<SlippedRuns> {
  const slipped = await slippedSoFar(engine.store.reads, env, functions, range, now);
  return withSeen(slipped, await newestLoud(engine, functions, range, slipped, now), range);
}

export async function slippedSoFar(
  reads: StoreReads,
  env: string,
  functions: KnownFunctions,
  range: LoudRange,
  now: number,
): Promise<SlippedRuns> {
  const { slips, isAll } = await uncounted(reads, env, range, now);
  const slipped = await slippedRuns(reads, env, functions, range, slips);
  return { ...slipped, isAll: slipped.isAll && isAll };
}

/** With the runs of their windows that nobody counted yet: a store finds those by their windows once they are. */
export async function withUncounted(
  reads: StoreReads,
  env: string,
  runIds: readonly string[],
  now: number,
): Promise<readonly string[]> {
  const { slips } = await uncounted(reads, env, {}, now);
  const ids = new Set(runIds);
  for (const { runId, generation } of slips) if (ids.has(runId)) ids.add(generation);
  for (const { runId, generation } of slips) if (ids.has(generation)) ids.add(runId);
  return [...ids];
}

async function uncounted(reads: StoreReads, env: string, range: LoudRange, now: number): Promise<LiveCounts> {
  const until = Math.min(range.until ?? now + 1, now + 1);
  const { countedTo } = await reads.hourCounts(env, { since: until, until });
  const since = Math.min(range.since ?? 0, until);
  return reads.liveCounts(env, { ...range, since, until, after: countedTo, stepMs: hourMs, examinedMax: liveMax });
}

async function newestLoud(
  engine: Engine,
  functions: KnownFunctions,
  range: LoudRange,
  slipped: SlippedRuns,
  now: number,
): Promise<readonly JudgedGroup[]> {
  const newest = { ...range, limit: seenMax, pinned: loudIds(slipped), isFlat: false };
  return (await groupPage(engine, functions, newest, now, pageWork(engine))).loud;
}
