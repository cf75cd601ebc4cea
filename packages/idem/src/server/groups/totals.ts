// A tally added up: in all, by function and by bucket. asked = first + suppressed + slipped, always.
import { loudCount } from "./loud-groups.ts";
import type { Tally } from "./tally.ts";

export interface Counts {
  readonly asked: number;
  readonly first: number;
  readonly suppressed: number;
  readonly slipped: number;
}

export interface Totals {
  readonly total: Counts;
  readonly byFunction: ReadonlyMap<string, Counts>;
  /** One after the other, empty ones too. */
  readonly buckets: readonly (Counts & { readonly at: number })[];
  /** In how many groups something slipped through. */
  readonly doubledKeys: number;
}

interface Sum {
  started: number;
  suppressed: number;
  slipped: number;
}

const none = (): Sum => ({ started: 0, suppressed: 0, slipped: 0 });

/** Runs that slipped through were started as well. */
const countsOf = ({ started, suppressed, slipped }: Sum): Counts => {
  const ran = Math.max(started, slipped);
  return { asked: ran + suppressed, first: ran - slipped, suppressed, slipped };
};

export function addUp({ from, until, bucketMs, counts, slipped }: Tally): Totals {
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
  for (const { fn, at } of slipped.runs) for (const sum of sumsFor(fn, at)) sum.slipped += 1;
  return {
    total: countsOf(total),
    byFunction: new Map([...byFunction].map(([fn, sum]) => [fn, countsOf(sum)])),
    buckets: buckets.map((sum, i) => ({ at: from + i * bucketMs, ...countsOf(sum) })),
    doubledKeys: loudCount(slipped),
  };
}
