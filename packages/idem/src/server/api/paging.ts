// Bounds of every list of /api: newest first, a page at a time, within a range of time.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { costPerMs } from "../../model/metered-cost.ts";
import type { Work } from "../../model/turns.ts";
import type { PageBounds } from "../../store/reads.ts";
import { serverLimits } from "../limits.ts";
import { instantText, readInstant } from "../read-input.ts";

// A page for a person is 50, one for a program 500 rows without payloads: some hundred kilobytes.
const limitDefault = 50;
const limitMax = 500;
// Some 5 ms of reading: what no index narrows may not hold up other readers for longer.
export const examinedMax = 10_000;
// Each row is looked up in what was decided; a fifth of what a page may look at without that.
export const decidedExaminedMax = 2_000;

export const limitField = z.coerce
  .number()
  .int()
  .min(1)
  .max(limitMax)
  .default(limitDefault)
  .describe(`How many at most; ${limitDefault} unless told`);

export const beforeField = z.string().min(1).max(4_096).optional().describe("`next` of the page before");

export const pageFields = {
  since: instantText.optional(),
  until: instantText.optional(),
  before: beforeField,
  limit: limitField,
};

export const nextField = z
  .string()
  .nullable()
  .describe(
    "Give it as `before` to continue; null when nothing older is left. A page can be short with more behind it",
  );

export const partialField = z
  .boolean()
  .describe(
    "The page ends where one request's share of work did, not where it was full or nothing was left: go on with `next`",
  );

export const lookedBackToField = z
  .number()
  .int()
  .nullable()
  .describe(
    "Where the page is short because only so much may be looked at: what came before this was not, and `next` goes on there",
  );

/** Work over rows that one request for a page may cost. */
export const pageWork = (engine: Pick<Engine, "work">): Work =>
  engine.work(serverLimits.requestCostMs * costPerMs, serverLimits.requestWaitMs);

export function boundsOf(
  query: { readonly since?: string | undefined; readonly until?: string | undefined; readonly limit: number },
  now: number,
): PageBounds {
  const { since, until, limit } = query;
  return {
    limit,
    examinedMax,
    ...(since === undefined ? {} : { since: readInstant("since", since, now) }),
    ...(until === undefined ? {} : { until: readInstant("until", until, now) }),
  };
}
