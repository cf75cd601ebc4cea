// Webhook deliveries as claims: an event's id is taken when it comes, and what is due is taken by time. Every later write carries owner and
// fence, and one that comes late changes nothing.
import {
  type ClaimTable,
  type Holder,
  insertRow,
  reapRows,
  takeDue,
  updateRows,
  writeHeld,
} from "../claim/claim-operations.ts";
import type { Held } from "../claim/decide-claim.ts";
import { reasonText, type WorkEnd } from "../claim/work-under-claim.ts";
import { numberOf, numberOrNull, type Operation, type Row, type Sql } from "../sql/operation.ts";
import { type Columns, fromNow, matching, plain, setting, sqlPart, statementOf } from "../sql/parts.ts";

const table: ClaimTable = {
  name: "processed_webhook_events",
  key: ["source", "event_id"],
  fence: "fence",
  held: "processing",
  columns: "source, event_id, kind, type, subject, payload, occurred_at, attempts, owner, fence",
};

export interface NewEvent {
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly subject: string | null;
  readonly digest: string;
  readonly payload: string | null;
  readonly body: Uint8Array | null;
  readonly at: number | null;
  readonly windowMs: number;
  readonly state: "persisted" | "absorbed" | "quarantined";
}

export type Inserted = { readonly kind: "fresh" } | { readonly kind: "duplicate"; readonly isConflicting: boolean };

// A row that is reaped between two of its statements costs a turn; three of those in a row do not happen.
const turnsMax = 4;

/** The primary key decides who was first, not this code. */
export function* insertEvent(sql: Sql, event: NewEvent): Operation<Inserted> {
  const { id, at: occurredAt, windowMs, source, ...columns } = event;
  const at = { source, event_id: id };
  const now = plain(sql.now);
  const insert = { ...columns, kind: "raw", occurred_at: occurredAt, due_at: now, ...seenFirst(sql, windowMs) };
  for (let turn = 0; turn < turnsMax; turn++) {
    if (yield* insertRow(sql, table, { at, insert: () => insert })) return { kind: "fresh" };
    // Past its window an id is free again, whether or not the reaper has come by.
    yield statementOf(sqlPart`delete from processed_webhook_events where ${matching(at)} and ${ended(sql)}`);
    const again = {
      last_seen_at: now,
      deliveries: plain("deliveries + 1"),
      conflicts: sqlPart`conflicts + case when digest = ${event.digest} then 0 else 1 end`,
    };
    const { rows } = yield statementOf(
      sqlPart`update processed_webhook_events set ${setting(again)} where ${matching(at)} returning digest`,
    );
    if (rows.length > 0) return { kind: "duplicate", isConflicting: rows[0]!.digest !== event.digest };
  }
  throw new Error("the row of this event comes and goes");
}

/** The first columns of every row, raw or logical. */
export const seenFirst = (sql: Sql, windowMs: number): Columns => ({
  first_seen_at: plain(sql.now),
  last_seen_at: plain(sql.now),
  deliveries: 1,
  conflicts: 0,
  attempts: 0,
  fence: 0,
  ends_at: fromNow(sql, windowMs),
});

const ended = ({ now }: Sql) => plain(`ends_at <= ${now} and state in ('done', 'absorbed')`);

export interface ClaimedEvent {
  readonly source: string;
  readonly id: string;
  readonly kind: "raw" | "logical";
  readonly type: string;
  readonly subject: string | null;
  readonly payload: string;
  readonly at: number | null;
  readonly attempt: number;
  readonly owner: string;
  readonly fence: number;
}

export interface ClaimAsk {
  readonly source: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly attemptsMax: number;
  readonly max: number;
}

export function* claimEvents(
  sql: Sql,
  { source, owner, leaseMs, attemptsMax, max }: ClaimAsk,
): Operation<ClaimedEvent[]> {
  const due = plain(`due_at <= ${sql.now}`);
  // An event that has ended its process as often as it may be tried is not tried again.
  yield* updateRows(
    table,
    { state: "dead", reason: "its process died, or lost its lease, on the last attempt" },
    sqlPart`source = ${source} and state = 'processing' and ${due} and attempts >= ${attemptsMax}`,
  );
  const rows = yield* takeDue(sql, table, {
    due: sqlPart`source = ${source} and state in ('persisted', 'gathering', 'processing') and ${due}`,
    order: "due_at",
    limit: max,
    set: {
      state: "processing",
      owner,
      fence: plain("fence + 1"),
      attempts: plain("attempts + 1"),
      due_at: fromNow(sql, leaseMs),
    },
    columns: plain(table.columns),
  });
  return rows.map(claimedOf);
}

const claimedOf = (row: Row): ClaimedEvent => ({
  source: String(row.source),
  id: String(row.event_id),
  kind: row.kind as ClaimedEvent["kind"],
  type: String(row.type),
  subject: row.subject as string | null,
  payload: String(row.payload),
  at: numberOrNull(row.occurred_at),
  attempt: numberOf(row.attempts),
  owner: String(row.owner),
  fence: numberOf(row.fence),
});

const heldBy = ({ source, id, owner, fence }: ClaimedEvent): Holder => ({ at: { source, event_id: id }, owner, fence });

export const extendEvent = (sql: Sql, event: ClaimedEvent, leaseMs: number): Operation<Held> =>
  writeHeld(table, heldBy(event), { due_at: fromNow(sql, leaseMs), reason: null });

/** `lost`: somebody else has it, and what this one did in a transaction is undone. */
export const endEvent = (sql: Sql, event: ClaimedEvent, end: WorkEnd): Operation<Held> =>
  writeHeld(table, heldBy(event), {
    reason: reasonText(end),
    ...(end.kind === "again"
      ? { state: "persisted", due_at: fromNow(sql, end.afterMs) }
      : { state: end.kind, processed_at: plain(sql.now) }),
  });

/** The raw events that a logical one carries, in the order they came. */
export function* carriedEvents(source: string, logicalId: string): Operation<string[]> {
  const { rows } = yield {
    text: `
      select event_id from processed_webhook_events where source = $1 and carried_by = $2
       order by first_seen_at, event_id`,
    params: [source, logicalId],
    isRead: true,
  };
  return rows.map((row) => String(row.event_id));
}

/** True: it was dead, and is due now, with all its attempts before it. */
export function* replayEvent(sql: Sql, source: string, id: string): Operation<boolean> {
  const anew = { state: "persisted", attempts: 0, due_at: plain(sql.now) };
  return (yield* updateRows(table, anew, matching({ source, event_id: id, state: "dead" }))) === 1;
}

export interface WaitingEvent {
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly state: "dead" | "quarantined";
  readonly attempts: number;
  readonly reason: string | null;
  readonly firstSeenAt: number;
}

/** Events that wait for a person, oldest first. */
export function* waitingEvents(source: string, limit: number): Operation<WaitingEvent[]> {
  const { rows } = yield {
    text: `
      select event_id, type, state, attempts, reason, payload, first_seen_at from processed_webhook_events
       where source = $1 and state in ('dead', 'quarantined')
       order by first_seen_at, event_id limit $2`,
    params: [source, limit],
    isRead: true,
  };
  return rows.map((row) => ({
    source,
    id: String(row.event_id),
    type: String(row.type),
    state: row.state as WaitingEvent["state"],
    attempts: numberOf(row.attempts),
    reason: (row.reason ?? (row.state === "quarantined" ? JSON.parse(String(row.payload)).why : null)) as string | null,
    firstSeenAt: numberOf(row.first_seen_at),
  }));
}

/** Frees space; correctness never waits for it. Gone are at most `limit` rows whose window is over, none that waits for anything. */
export const reapEvents = (sql: Sql, limit: number): Operation<number> =>
  reapRows(sql, table, ended(sql), "ends_at", limit);
