// Counts the runs a filter by state finds, without reading them: ends are counted, and open runs are few.
import { isEnded, type RunState } from "../../model/run.ts";
import type { StoreReads } from "../../store/reads.ts";
import { readInstant } from "../read-input.ts";
import { type Ends, endsIn, sumEnds } from "./ends.ts";

interface Given {
  readonly state?: RunState | undefined;
  readonly fn?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly endedSince?: string | undefined;
  readonly endedUntil?: string | undefined;
  readonly key?: string | undefined;
  readonly event?: string | undefined;
  readonly q?: string | undefined;
  readonly cel?: string | undefined;
  readonly show?: string | undefined;
}

export interface Matching {
  readonly count: number;
  readonly since: number | null;
}

/** Null where something narrows the runs that nobody counts by. `known`: what was counted of the same range. */
export async function matchingRuns(
  reads: StoreReads,
  env: string,
  given: Given,
  now: number,
  known: Ends | null,
): Promise<Matching | null> {
  const { state, fn, since, until, endedSince, endedUntil, key, event, q, cel, show } = given;
  if ([since, until, key, event, q, cel, show].some((each) => each !== undefined)) return null;
  if (state === undefined && endedSince === undefined) return null;
  if (state !== undefined && !isEnded(state)) {
    const counts = await reads.counts(env);
    return { count: fn === undefined ? counts[state] : (counts.byFunction[fn]?.[state] ?? 0), since: null };
  }
  const from = endedSince === undefined ? 0 : readInstant("endedSince", endedSince, now);
  const to = endedUntil === undefined ? now + 1 : readInstant("endedUntil", endedUntil, now);
  const range = { since: from, until: to, ...(fn === undefined ? {} : { fn }) };
  const ends = known ?? (await endsIn(reads, env, range, now));
  const isFromThere = endedSince === undefined || !/^\d{4}/.test(endedSince) || ends.since === from;
  const isUpToThere = to > now || to % ends.stepMs === 0;
  return isFromThere && isUpToThere ? { count: sumEnds(ends.counts)[state ?? "ended"], since: ends.since } : null;
}
