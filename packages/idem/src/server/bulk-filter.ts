// Which runs a bulk action is about: what the store can narrow it narrows, the expression is asked of each run's event.
import type { Engine } from "../engine/engine.ts";
import { payloadOf } from "../model/event.ts";
import { evaluateFilter } from "../model/expression.ts";
import { chargeCost, readingCost } from "../model/metered-cost.ts";
import type { RunState } from "../model/run.ts";
import type { Work } from "../model/turns.ts";
import type { Page, RunPageFilter, RunSummary } from "../store/reads.ts";
import { readInstant } from "./read-input.ts";

export interface BulkFilter {
  readonly fn?: string;
  readonly state?: RunState;
  readonly key?: string;
  readonly eventId?: string;
  /** As written: "7d" means the seven days before the work was asked for. */
  readonly since?: string;
  readonly until?: string;
  /** CEL over `event`. */
  readonly if?: string;
}

export interface BulkSelection extends BulkFilter {
  /** Runs opened later, by this very work perhaps, are none of its business. */
  readonly openedBefore: number;
  /** Only runs that have not ended. */
  readonly onlyOpen: boolean;
}

const pageSize = 100;
const examinedMax = 5_000;

/** One page of runs, newest first, which ends early when the work does; throws EXPRESSION_INVALID. */
export async function selectRuns(
  engine: Engine,
  { openedBefore, onlyOpen, if: expression, since, until, ...filter }: BulkSelection,
  before: string | null,
  work: Work,
): Promise<Page<RunSummary, string>> {
  const { store, env } = engine;
  const page: RunPageFilter = {
    ...filter,
    ...(since === undefined ? {} : { since: readInstant("since", since, openedBefore) }),
    until: until === undefined ? openedBefore : Math.min(readInstant("until", until, openedBefore), openedBefore),
    limit: pageSize,
    examinedMax,
    ...(onlyOpen ? { isOpen: true as const } : {}),
    ...(before === null ? {} : { before }),
  };
  const { rows, next } = await store.reads.runPage(env, page);
  if (expression === undefined) return { rows, next };
  const compiled = engine.expressions.get(expression);
  const wanted: RunSummary[] = [];
  for (const run of rows) {
    const event = await store.reads.event(env, run.eventId);
    const turn = work.next();
    if (turn !== undefined) await turn;
    const isWanted = work.do(() => {
      if (event === null) return false;
      chargeCost(readingCost(event.data));
      return evaluateFilter(compiled, { event: payloadOf(event) }).pass;
    });
    if (isWanted) wanted.push(run);
    if (work.isSpent) return { rows: wanted, next: run === rows.at(-1) ? next : run.id };
  }
  return { rows: wanted, next };
}
