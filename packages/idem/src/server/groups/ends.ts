// Ends of runs in a stretch of time: exact, from the store's counts. Counts by the hour begin with an hour, so that every page that asks for
// "24 h" within one hour shows the same runs; the answer says since when.
import { type DurationSketch, durationAt, mergeSketches } from "../../model/duration-sketch.ts";
import { isEnded, type RunState } from "../../model/run.ts";
import { hourMs } from "../../store/counts.ts";
import { type EndCount, type EndStep, floorTo, minuteMs, minutesKeptMs } from "../../store/ends.ts";
import type { StoreReads } from "../../store/reads.ts";
import { readInstant } from "../read-input.ts";

export interface EndRange {
  readonly since: number;
  readonly until: number;
  readonly fn?: string;
}

export interface Ends {
  /** Where the first stretch begins: at `since`, or up to a stretch before. */
  readonly since: number;
  readonly until: number;
  readonly stepMs: EndStep;
  readonly counts: readonly EndCount[];
}

/** Ends of runs, added up. */
export interface EndSum {
  readonly ended: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** From start to end, waits included; null where none that began has ended. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** By minutes up to here. */
const minutesMaxMs = 2 * hourMs;

/** Where a range begins as it is counted. */
export function countedSince(
  { since, until }: EndRange,
  now: number,
): { readonly at: number; readonly stepMs: EndStep } {
  const isShort = until - since <= minutesMaxMs && since >= now - minutesKeptMs + minuteMs;
  const stepMs = isShort ? minuteMs : hourMs;
  return { at: floorTo(since, stepMs), stepMs };
}

export async function endsIn(reads: StoreReads, env: string, range: EndRange, now: number): Promise<Ends> {
  const { at: since, stepMs } = countedSince(range, now);
  const { until, fn } = range;
  const counts = await reads.endCounts(env, { since, until, stepMs, ...(fn === undefined ? {} : { fn }) });
  return { since, until, stepMs, counts };
}

export function sumEnds(counts: readonly EndCount[]): EndSum {
  let [completed, failed, cancelled] = [0, 0, 0];
  const sketches: DurationSketch[] = [];
  for (const count of counts) {
    completed += count.completed;
    failed += count.failed;
    cancelled += count.cancelled;
    sketches.push(count.took);
  }
  const took = mergeSketches(sketches);
  const ended = completed + failed + cancelled;
  return { ended, completed, failed, cancelled, p50Ms: durationAt(took, 0.5), p95Ms: durationAt(took, 0.95) };
}

/** One stretch after the other from `since` on, empty ones too, each at most `stretchesMax`. */
export function endsByStretch({ since, until, stepMs, counts }: Ends, stretchesMax: number) {
  const bucketMs = stepMs * Math.ceil((until - since) / stepMs / stretchesMax);
  const stretches = Array.from({ length: Math.ceil((until - since) / bucketMs) }, (): EndCount[] => []);
  for (const count of counts) stretches[Math.floor((count.at - since) / bucketMs)]?.push(count);
  return { bucketMs, stretches: stretches.map((some, i) => ({ at: since + i * bucketMs, counts: some })) };
}

interface Given {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly endedSince?: string | undefined;
  readonly endedUntil?: string | undefined;
  readonly fn?: string | undefined;
  readonly function?: string | undefined;
  readonly state?: RunState | undefined;
}

export interface EndedRange {
  /** Narrows the list; null where none of its runs ended then. */
  readonly bounds: { since?: number; until?: number; endedSince?: number; endedUntil?: number } | null;
  /** Counted in it; null where it was not asked. */
  readonly ends: Ends | null;
}

/**
 * For a list of runs by when they ended: what narrows it by when they were created, which is the order it is read in. None of them was created
 * before the oldest of the stretches that have such an end, and none after the last of those stretches. A length of time ("7d") begins where it
 * is counted from, so that the list has as many as the number over it says.
 */
export async function endedRange(reads: StoreReads, env: string, query: Given, now: number): Promise<EndedRange> {
  if (query.endedSince === undefined && query.endedUntil === undefined) return { bounds: {}, ends: null };
  const until = query.endedUntil === undefined ? now + 1 : readInstant("endedUntil", query.endedUntil, now);
  const asked = query.endedSince === undefined ? 0 : readInstant("endedSince", query.endedSince, now);
  const fn = query.fn ?? query.function;
  const ends = await endsIn(reads, env, { since: asked, until, ...(fn === undefined ? {} : { fn }) }, now);
  const { state } = query;
  const counts = state === undefined || !isEnded(state) ? ends.counts : ends.counts.filter((count) => count[state] > 0);
  if (counts.length === 0) return { bounds: null, ends };
  const isLength = query.endedSince !== undefined && !/^\d{4}/.test(query.endedSince);
  const oldest = counts.reduce((least, count) => Math.min(least, count.oldest), now);
  const newest = counts.reduce((last, { at }) => Math.max(last, at + ends.stepMs), 0);
  const given = (name: "since" | "until", none: number): number =>
    query[name] === undefined ? none : readInstant(name, query[name], now);
  const bounds = {
    endedSince: isLength ? ends.since : asked,
    endedUntil: until,
    since: Math.max(oldest, given("since", 0)),
    until: Math.min(newest, until, given("until", until)),
  };
  return { bounds, ends };
}
