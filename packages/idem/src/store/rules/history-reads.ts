// The last days' rows, page by page, for tools that look for patterns in them. Nothing here holds a cursor or a lock between
// pages, and each row is read once.
import type { Decision } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import { afterAll, firstIdAt } from "../id-times.ts";
import { type DecisionRow, decisionColumns, type EventRow, eventColumns, readDecision, readEvent } from "../rows.ts";
import type { Database } from "./database.ts";
import type { Asked, Rule } from "./rule.ts";

const pageSize = 500;

// A loose scan: one seek per function, however many runs each has.
const functionsWithRunsSql = `
  with recursive names (fn) as (
    select min(fn) from runs where env = :env
    union all
    select (select min(fn) from runs where env = :env and fn > names.fn) from names where names.fn is not null)
  select fn from names where fn is not null`;
const receivedEventsSql = `
  select ${eventColumns} from events e where e.env = ? and e.id >= ? and e.id < ? order by e.id desc limit ?`;
const eventsAfterSql = `
  select ${eventColumns} from events e where e.env = ? and e.id > ? order by e.id limit ?`;
const suppressedSql = `
  select ${decisionColumns} from decisions d
   where d.env = ? and d.event_id >= ? and (d.event_id, d.fn) < (?, ?) and d.kind in ('duplicate-event', 'duplicate-key')
   order by d.event_id desc, d.fn desc limit ?`;

/** A page, and from where the next one goes on; null after the last. */
interface Piece<Row, Place> {
  readonly rows: readonly Row[];
  readonly next: Place | null;
}

type Drive = <T>(asked: Asked<T>) => T | Promise<T>;

/** All rows of all pages. */
async function* allRows<Row, Place>(
  drive: Drive,
  from: Place,
  piece: (from: Place) => Rule<Piece<Row, Place>>,
): AsyncGenerator<Row> {
  for (let place: Place | null = from; place !== null; ) {
    const { rows, next }: Piece<Row, Place> = await drive(piece(place));
    yield* rows;
    place = next;
  }
}

function* functionsWithRuns(db: Database, env: string): Rule<string[]> {
  return (yield* db.find<{ fn: string }>(functionsWithRunsSql, { env })).map(({ fn }) => fn);
}

export interface OpenedRun {
  readonly runId: string;
  readonly key: string | null;
  readonly createdAt: number;
  /** It took the key of one that failed and gave it back by itself. */
  readonly isAfterFailure: boolean;
  readonly event: Event;
}

interface OpenedRow extends EventRow {
  run_id: string;
  run_key: string | null;
  created_at: number;
  after_failure: number | boolean;
}

/** Newest first. */
function* openedRuns(
  db: Database,
  env: string,
  fn: string,
  since: number,
  before: string,
): Rule<Piece<OpenedRun, string>> {
  const rows = yield* db.all<OpenedRow>(db.sql.history.opened, env, fn, firstIdAt(since), before, pageSize);
  return {
    rows: rows
      .filter((row) => row.created_at >= since)
      .map((row) => ({
        runId: row.run_id,
        key: row.run_key,
        createdAt: row.created_at,
        isAfterFailure: Boolean(row.after_failure),
        event: readEvent(row),
      })),
    next: rows.length < pageSize ? null : rows.at(-1)!.run_id,
  };
}

/** Newest first. */
function* receivedEvents(db: Database, env: string, since: number, before: string): Rule<Piece<Event, string>> {
  const rows = yield* db.all<EventRow>(receivedEventsSql, env, firstIdAt(since), before, pageSize);
  return {
    rows: rows.filter((row) => row.received_at >= since).map(readEvent),
    next: rows.length < pageSize ? null : rows.at(-1)!.id,
  };
}

/** Oldest first: what came after the event of that id. */
function* eventsAfter(db: Database, env: string, after: string, limit: number): Rule<Event[]> {
  return (yield* db.all<EventRow>(eventsAfterSql, env, after, limit)).map(readEvent);
}

export interface SuppressedEvent {
  readonly decision: Decision;
  readonly event: Event;
  /** The first event; null when it has been pruned. */
  readonly first: Event | null;
}

interface Place {
  readonly eventId: string;
  readonly fn: string;
}

// Each comes with two events.
const suppressedPageSize = pageSize / 2;

/** Newest first. */
function* suppressedEvents(
  db: Database,
  env: string,
  since: number,
  before: Place,
): Rule<Piece<SuppressedEvent, Place>> {
  const { eventId, fn } = before;
  const page = yield* db.all<DecisionRow>(suppressedSql, env, firstIdAt(since), eventId, fn, suppressedPageSize);
  const rows = page.filter(({ decided_at }) => decided_at >= since);
  const ids = new Set(
    rows.flatMap((row) => [row.event_id, ...(row.first_event_id === null ? [] : [row.first_event_id])]),
  );
  const found = yield* db.all<EventRow>(db.sql.history.events, env, db.list([...ids]));
  const events = new Map(found.map((row) => [row.id, readEvent(row)]));
  const last = page.at(-1);
  return {
    rows: rows.flatMap((row) => {
      const event = events.get(row.event_id);
      if (event === undefined) return [];
      const first = row.first_event_id === null ? null : (events.get(row.first_event_id) ?? null);
      return [{ decision: readDecision(row), event, first }];
    }),
    next: page.length < suppressedPageSize ? null : { eventId: last!.event_id, fn: last!.fn },
  };
}

/** The whole of it, over a database as it is driven. */
export const historyOver = (db: Database, drive: Drive) => ({
  functionsWithRuns: async (env: string) => drive(functionsWithRuns(db, env)),
  eventsAfter: async (env: string, after: string, limit: number) => drive(eventsAfter(db, env, after, limit)),
  openedRuns: (env: string, fn: string, since: number) =>
    allRows(drive, afterAll, (before: string) => openedRuns(db, env, fn, since, before)),
  receivedEvents: (env: string, since: number) =>
    allRows(drive, afterAll, (before: string) => receivedEvents(db, env, since, before)),
  suppressedEvents: (env: string, since: number) =>
    allRows(drive, { eventId: afterAll, fn: "" }, (before: Place) => suppressedEvents(db, env, since, before)),
});
