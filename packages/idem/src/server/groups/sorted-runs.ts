// Runs one by one in another order than newest first. No index has it: one would cost every run that ends. So the newest runs that the filter
// finds are looked at, a stretch at a time, and the answer says how far back, where that is not all of them.
import { errors } from "../../model/errors.ts";
import { ulidTime } from "../../model/ulid.ts";
import type { Page, RunPageFilter, RunSummary, StoreReads } from "../../store/reads.ts";
import { inSort, placeIn, type RunSort } from "../../store/run-sort.ts";
import { examinedMax } from "../api/paging.ts";
import type { RunOrder } from "../api/run-orders.ts";

const sorts: Readonly<Record<RunOrder, Pick<RunSort, "by" | "isDescending">>> = {
  longest: { by: "took", isDescending: true },
  shortest: { by: "took", isDescending: false },
  "started-last": { by: "started", isDescending: true },
  "started-first": { by: "started", isDescending: false },
};

/** Five looks of some 10 ms each. */
export const sortedMax = 5 * examinedMax;

/** Only so many of the newest were looked at, back to this instant. */
export interface LookedAt {
  readonly count: number;
  readonly since: number;
}

export interface SortedPage extends Page<RunSummary, string> {
  /** Null where all that the filter finds were. */
  readonly lookedAt: LookedAt | null;
  /** The instant that open runs are measured at. */
  readonly asOf: number;
}

const cursorPattern = /^(\d{1,15})\.(-?\d{1,15})\.([0-9A-Za-z-]{1,64})$/;

function sortOf(order: RunOrder, now: number, cursor: string | undefined): RunSort {
  if (cursor === undefined) return { ...sorts[order], asOf: now };
  const [, asOf, value, id] = cursorPattern.exec(cursor) ?? [];
  if (id === undefined) throw errors.REQUEST_INVALID({ why: '"before" is no `next` of a page in this order' });
  return { ...sorts[order], asOf: Number(asOf), after: { value: Number(value), id } };
}

/** `before` goes on behind a run of a page before, as of the instant of the first page. */
export async function sortedRunPage(
  reads: StoreReads,
  env: string,
  filter: Omit<RunPageFilter, "examinedMax" | "sort">,
  order: RunOrder,
  now: number,
): Promise<SortedPage> {
  const { before: place, limit, ...asked } = filter;
  const sort = sortOf(order, now, place);
  let found: readonly RunSummary[] = [];
  let before: string | null | undefined;
  for (let looked = 0; looked < sortedMax && before !== null; looked += examinedMax) {
    const page = await reads.runPage(env, {
      ...asked,
      limit: limit + 1,
      examinedMax,
      sort,
      ...(before === undefined ? {} : { before }),
    });
    found = inSort([...found, ...page.rows], sort).slice(0, limit + 1);
    before = page.next;
  }
  const rows = found.slice(0, limit);
  return {
    rows,
    next: found.length > limit ? sortCursor(rows.at(-1)!, order, sort.asOf) : null,
    asOf: sort.asOf,
    lookedAt: before == null ? null : { count: sortedMax, since: ulidTime(before) },
  };
}

/** Where to go on behind this run. */
export const sortCursor = (run: RunSummary, order: RunOrder, asOf: number): string =>
  `${asOf}.${placeIn({ ...sorts[order], asOf }, run)?.value ?? 0}.${run.id}`;
