// The last days' rows, page by page, for tools that look for patterns in them. Nothing here holds a cursor or a lock between
// pages, and each row is read once.
import type { Decision } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import { tickEventName } from "../../model/tick.ts";
import { afterAll, firstIdAt } from "../id-times.ts";
import { type DecisionRow, type EventRow, eventColumns, readDecision, readEvent } from "../rows.ts";
import { isAfterFailure } from "./after-failure.ts";
import type { Connection } from "./connection.ts";

const pageSize = 500;

// A loose scan: one seek per function, however many runs each has.
const functionsWithRunsSql = `
  with recursive names (fn) as (
    select min(fn) from runs where env = :env
    union all
    select (select min(fn) from runs where env = :env and fn > names.fn) from names where names.fn is not null)
  select fn from names where fn is not null`;

export const functionsWithRuns = async (connection: Connection, env: string): Promise<string[]> =>
  (await connection.find<{ fn: string }>(functionsWithRunsSql, { env })).map(({ fn }) => fn);

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
  after_failure: boolean;
}

// Reruns are left out: a person asked for those. So are batches, whose events have keys of their own, and ticks, which are claimed by
// their instant. Events are looked up one by one: the planner cannot know that a page is small.
const openedRunsSql = `
  select r.id as run_id, r.key as run_key, r.created_at, ${isAfterFailure} as after_failure, ${eventColumns}
    from runs r join lateral (select * from events where env = r.env and id = r.event_id limit 1) e on true
   where r.env = ? and r.fn = ? and r.id >= ? and r.id < ? and r.rerun_of is null
     and r.carried is null and e.name <> '${tickEventName}'
   order by r.id desc limit ${pageSize}`;

/** Newest first. */
export async function* openedRuns(
  connection: Connection,
  env: string,
  fn: string,
  since: number,
): AsyncGenerator<OpenedRun> {
  const from = firstIdAt(since);
  let before = afterAll;
  for (;;) {
    const rows = await connection.all<OpenedRow>(openedRunsSql, env, fn, from, before);
    for (const row of rows) {
      if (row.created_at < since) continue;
      const { run_id: runId, run_key: key, created_at: createdAt } = row;
      yield { runId, key, createdAt, isAfterFailure: row.after_failure, event: readEvent(row) };
    }
    if (rows.length < pageSize) return;
    before = rows.at(-1)!.run_id;
  }
}

const receivedEventsSql = `
  select ${eventColumns} from events e
   where e.env = ? and e.id >= ? and e.id < ? order by e.id desc limit ${pageSize}`;

/** Newest first. */
export async function* receivedEvents(connection: Connection, env: string, since: number): AsyncGenerator<Event> {
  const from = firstIdAt(since);
  let before = afterAll;
  for (;;) {
    const rows = await connection.all<EventRow>(receivedEventsSql, env, from, before);
    for (const row of rows) if (row.received_at >= since) yield readEvent(row);
    if (rows.length < pageSize) return;
    before = rows.at(-1)!.id;
  }
}

const eventsAfterSql = `
  select ${eventColumns} from events e where e.env = ? and e.id > ? order by e.id limit ?`;

/** Oldest first: what came after the event of that id. */
export const eventsAfter = async (
  connection: Connection,
  env: string,
  after: string,
  limit: number,
): Promise<Event[]> => (await connection.all<EventRow>(eventsAfterSql, env, after, limit)).map(readEvent);

export interface SuppressedEvent {
  readonly decision: Decision;
  readonly event: Event;
  /** What was first; null when it has been pruned. */
  readonly first: Event | null;
}

// Each comes with two events.
const suppressedPageSize = pageSize / 2;
const suppressedSql = `
  select d.event_id, d.fn, d.kind, d.reason, d.run_id, d.key, d.window_ends_at, d.first_event_id, d.decided_at
    from decisions d
   where d.env = ? and d.event_id >= ? and (d.event_id, d.fn) < (?, ?) and d.kind in ('duplicate-event', 'duplicate-key')
   order by d.event_id desc, d.fn desc limit ${suppressedPageSize}`;
const eventsSql = `select ${eventColumns} from events e where e.env = ? and e.id = any(?)`;

/** Newest first. */
export async function* suppressedEvents(
  connection: Connection,
  env: string,
  since: number,
): AsyncGenerator<SuppressedEvent> {
  const from = firstIdAt(since);
  let before = { eventId: afterAll, fn: "" };
  for (;;) {
    const page = await connection.all<DecisionRow>(suppressedSql, env, from, before.eventId, before.fn);
    const rows = page.filter(({ decided_at }) => decided_at >= since);
    const ids = new Set(
      rows.flatMap((row) => [row.event_id, ...(row.first_event_id === null ? [] : [row.first_event_id])]),
    );
    const found = await connection.all<EventRow>(eventsSql, env, [...ids]);
    const events = new Map(found.map((row) => [row.id, readEvent(row)]));
    for (const row of rows) {
      const event = events.get(row.event_id);
      if (event === undefined) continue;
      const first = row.first_event_id === null ? null : (events.get(row.first_event_id) ?? null);
      yield { decision: readDecision(row), event, first };
    }
    if (page.length < suppressedPageSize) return;
    before = { eventId: page.at(-1)!.event_id, fn: page.at(-1)!.fn };
  }
}
