// Which runs bulk work is about: what the store can narrow it narrows; text is looked for, and the expression asked, run by run.
import { payloadOf } from "../../model/event.ts";
import { compileRunFilter, type Expression } from "../../model/expression.ts";
import { evaluateFilter } from "../../model/expression-outcome.ts";
import { fromJson } from "../../model/json.ts";
import { chargeCost, readingCost } from "../../model/metered-cost.ts";
import type { RunState } from "../../model/run.ts";
import type { Work } from "../../model/turns.ts";
import type { RunStart } from "../../store/counts.ts";
import type { Page, RunPageFilter, RunSummary, StoreReads } from "../../store/reads.ts";

export interface BulkFilter {
  readonly fn?: string;
  readonly state?: RunState;
  /** Canonical JSON, as runs have it. */
  readonly key?: string;
  /** A stored id. */
  readonly eventId?: string;
  readonly eventName?: string;
  /** Exactly these runs, as far as the rest fits them. */
  readonly ids?: readonly string[];
  /** Of when they ended: from then on, and before. */
  readonly endedSince?: number;
  readonly endedUntil?: number;
  /** Text in key, function, event name or an id. */
  readonly q?: string;
  /** CEL over `event` and `output`. */
  readonly if?: string;
}

export interface RunSelection extends BulkFilter {
  readonly since?: number;
  /** Runs opened later, by this very work perhaps, are none of its business. */
  readonly until: number;
  /** Only runs that have not ended. */
  readonly onlyOpen: boolean;
}

export interface RunReading {
  readonly reads: StoreReads;
  readonly env: string;
  /** A function's name of today. */
  fullName(fn: string): string;
}

const pageSize = 100;
const examinedMax = 5_000;

/** One page of runs, newest first, which ends early when the work does; throws EXPRESSION_INVALID. */
export async function selectRuns(
  reading: RunReading,
  selection: RunSelection,
  before: string | null,
  work: Work,
): Promise<Page<RunSummary, string>> {
  const { rows, next } = await pageOf(reading, selection, before);
  const { q, eventName, if: text } = selection;
  if (q === undefined && eventName === undefined && text === undefined) return { rows, next };
  const { reads, env } = reading;
  const expression = text === undefined ? null : compileRunFilter(text);
  const starts = q === undefined && eventName === undefined ? [] : await reads.runStarts(env, rows);
  const startOf = new Map(starts.map((start) => [start.runId, start]));
  const wanted: RunSummary[] = [];
  for (const run of rows) {
    const turn = work.next();
    if (turn !== undefined) await turn;
    const start = startOf.get(run.id);
    const isNamed = eventName === undefined || start?.eventName === eventName;
    const hasText = q === undefined || work.do(() => runHasText(q, run, start, reading));
    const isWanted = isNamed && hasText && (expression === null || (await passes(expression, run, reading, work)));
    if (isWanted) wanted.push(run);
    if (work.isSpent) return { rows: wanted, next: run === rows.at(-1) ? next : run.id };
  }
  return { rows: wanted, next };
}

async function pageOf(
  { reads, env }: RunReading,
  { ids, onlyOpen, q: _, if: __, eventName: ___, ...filter }: RunSelection,
  before: string | null,
): Promise<Page<RunSummary, string>> {
  if (ids === undefined) {
    const page: RunPageFilter = {
      ...filter,
      limit: pageSize,
      examinedMax,
      ...(onlyOpen ? { isOpen: true as const } : {}),
      ...(before === null ? {} : { before }),
    };
    return reads.runPage(env, page);
  }
  const { fn, state, key, eventId, since = 0, until, endedSince, endedUntil } = filter;
  const left = [...new Set(ids)].sort().reverse();
  const rest = before === null ? left : left.filter((id) => id < before);
  const asked = rest.slice(0, pageSize);
  const found = await Promise.all(asked.map((id) => reads.run(env, id)));
  const rows = found.flatMap((run) => {
    if (run === null || run.createdAt < since || run.createdAt >= until) return [];
    const fits =
      (fn === undefined || run.fn === fn) &&
      (state === undefined || run.state === state) &&
      (endedSince === undefined || (run.endedAt ?? 0) >= endedSince) &&
      (endedUntil === undefined || (run.endedAt ?? endedUntil) < endedUntil) &&
      (key === undefined || run.key === key) &&
      (eventId === undefined || run.eventId === eventId);
    const { result: ____, ...summary } = run;
    return fits ? [{ ...summary, preview: null }] : [];
  });
  return { rows, next: rest.length > asked.length ? asked.at(-1)! : null };
}

/** Whether what people see of a run has this text. */
export function runHasText(
  q: string,
  run: RunSummary,
  start: Pick<RunStart, "eventName" | "callerId"> | undefined,
  { fullName }: Pick<RunReading, "fullName">,
  others: readonly (string | null | undefined)[] = [],
): boolean {
  const wanted = q.toLowerCase();
  const texts = [run.fn, fullName(run.fn), run.key, start?.eventName, start?.callerId, run.id, run.eventId, ...others];
  return texts.some((text) => text?.toLowerCase().includes(wanted) ?? false);
}

async function passes(
  expression: Expression,
  { id, eventId }: RunSummary,
  { reads, env }: RunReading,
  work: Work,
): Promise<boolean> {
  const [event, run] = await Promise.all([reads.event(env, eventId), reads.run(env, id)]);
  return work.do(() => {
    if (event === null || run === null) return false;
    chargeCost(readingCost(event.data) + readingCost(run.result));
    const output = run.result === null ? null : fromJson(run.result);
    return evaluateFilter(expression, { event: payloadOf(event), output }).pass;
  });
}
