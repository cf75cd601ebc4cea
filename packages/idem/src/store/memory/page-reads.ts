// Lists for people, newest first. What no index would narrow counts as looked at here too, so that pages are cut as elsewhere.
import { isPending } from "../../model/decision.ts";
import { hasOutcome } from "../../model/event-outcome.ts";
import {
  type DecisionCursor,
  type EventSummary,
  type Page,
  type PageBounds,
  previewChars,
  type RunSummary,
  type StoreReads,
} from "../reads.ts";
import { inSort } from "../run-sort.ts";
import { showEvent, showRun } from "./show.ts";
import type { Database } from "./tables.ts";

type Pages = Pick<StoreReads, "runPage" | "eventPage" | "decisionPage">;

export function memoryPages(database: Database): Pages {
  return {
    async runPage(env, filter) {
      const tables = database.env(env);
      const { fn, eventId, state, key, before, isOpen, endedSince, endedUntil } = filter;
      const rows = tables.runs
        .all()
        .filter((row) => eventId === undefined || row.eventId === eventId)
        .filter((row) => fn === undefined || row.fn === fn)
        .filter((row) => isOpen === undefined || row.endState === null)
        .filter((row) => endedSince === undefined || (row.endedAt !== null && row.endedAt >= endedSince))
        .filter((row) => endedUntil === undefined || (row.endedAt !== null && row.endedAt < endedUntil))
        .map((row): RunSummary => {
          const { result, ...run } = showRun(tables, row);
          return { ...run, preview: result?.slice(0, previewChars) ?? null };
        });
      const { sort } = filter;
      const page = cut(
        newestFirst(rows, (run) => run.id, before),
        sort === undefined ? filter : { ...filter, limit: Number.POSITIVE_INFINITY },
        {
          at: (run) => run.createdAt,
          fits: (run) => (state === undefined || run.state === state) && (key === undefined || run.key === key),
          cursor: (run) => run.id,
        },
      );
      return sort === undefined ? page : { ...page, rows: inSort(page.rows, sort).slice(0, filter.limit) };
    },

    async eventPage(env, filter) {
      const { name, fn, outcome, before } = filter;
      const tables = database.env(env);
      const isDecided = (event: EventSummary): boolean => {
        if (fn === undefined && outcome === undefined) return true;
        const decisions = (tables.decisions.get(event.id) ?? []).filter((each) => fn === undefined || each.fn === fn);
        if (fn !== undefined && decisions.length === 0) return false;
        return outcome === undefined || hasOutcome(outcome, event, decisions);
      };
      const rows = tables.events.all().map((row): EventSummary => {
        const { data, extra: _, ...event } = showEvent(row);
        return { ...event, dataBytes: Buffer.byteLength(data) };
      });
      return cut(
        newestFirst(rows, (event) => event.id, before),
        filter,
        {
          at: (event) => event.receivedAt,
          fits: (event) => (name === undefined || event.name === name) && isDecided(event),
          cursor: (event) => event.id,
        },
      );
    },

    async decisionPage(env, filter) {
      const { fn, kinds, before, isPending: pendingOnly, oldestFirst } = filter;
      // No name of an event holds a line break.
      const place = ({ eventId, fn: of }: DecisionCursor) => `${eventId}\n${of}`;
      const rows = database.env(env).decisions.all().flat();
      const listed = pendingOnly === undefined ? rows : rows.filter(isPending);
      const inOrder =
        oldestFirst === true
          ? newestFirst(listed, place, undefined).reverse()
          : newestFirst(listed, place, before === undefined ? undefined : place(before));
      return cut(inOrder, filter, {
        at: (decision) => decision.decidedAt,
        fits: (decision) => (fn === undefined || decision.fn === fn) && (kinds?.includes(decision.kind) ?? true),
        cursor: ({ eventId, fn: of }) => ({ eventId, fn: of }),
      });
    },
  };
}

function newestFirst<R>(rows: readonly R[], place: (row: R) => string, before: string | undefined): R[] {
  return rows
    .filter((row) => before === undefined || place(row) < before)
    .sort((a, b) => (place(a) < place(b) ? 1 : -1));
}

function cut<R, C>(
  rows: readonly R[],
  { since, until, limit, examinedMax }: PageBounds,
  of: { at: (row: R) => number; fits: (row: R) => boolean; cursor: (row: R) => C },
): Page<R, C> {
  const inRange = rows.filter((row) => of.at(row) >= (since ?? 0) && (until === undefined || of.at(row) < until));
  const wanted: R[] = [];
  for (const [i, row] of inRange.entries()) {
    if (of.fits(row)) wanted.push(row);
    const isLast = i === inRange.length - 1;
    if (!isLast && (wanted.length === limit || i + 1 === examinedMax)) return { rows: wanted, next: of.cursor(row) };
  }
  return { rows: wanted, next: null };
}
