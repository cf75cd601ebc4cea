// Claiming what is due, and writing how it ended. Every write carries the claim's owner and fence, and one that comes late changes nothing.
import type { Held } from "../claim/answers.ts";
import { type ClaimTable, type Holder, writeHeld } from "../claim/claim-operations.ts";
import { type Dialect, numberOf, numberOrNull, type Operation, type Row, sqlOf } from "../sql/operation.ts";
import { fromNow } from "../sql/parts.ts";

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

export function* claimEvents(dialect: Dialect, ask: ClaimAsk): Operation<ClaimedEvent[]> {
  const { now, skipLocked } = sqlOf(dialect);
  // What has ended its process as often as it may be tried is not tried again.
  yield {
    text: `
      update processed_webhook_events set state = 'dead', reason = 'its process died, or lost its lease, on the last attempt'
       where source = $1 and state = 'processing' and due_at <= ${now} and attempts >= $2`,
    params: [ask.source, ask.attemptsMax],
  };
  const { rows } = yield {
    text: `
      with due as (
        select event_id from processed_webhook_events
         where source = $1 and state in ('persisted', 'gathering', 'processing') and due_at <= ${now}
         order by due_at
         limit $2
         ${skipLocked})
      update processed_webhook_events
         set state = 'processing', owner = $3, fence = fence + 1, attempts = attempts + 1, due_at = ${now} + cast($4 as bigint)
       where source = $5 and event_id in (select event_id from due)
         and state in ('persisted', 'gathering', 'processing') and due_at <= ${now}
      returning source, event_id, kind, type, subject, payload, occurred_at, attempts, owner, fence`,
    params: [ask.source, ask.max, ask.owner, ask.leaseMs, ask.source],
  };
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

const held = "source = $3 and event_id = $4 and owner = $5 and fence = $6 and state = 'processing'";
const holder = ({ source, id, owner, fence }: ClaimedEvent) => [source, id, owner, fence];

const events: ClaimTable = {
  name: "processed_webhook_events",
  key: ["source", "event_id"],
  fence: "fence",
  held: "processing",
};
const heldBy = ({ source, id, owner, fence }: ClaimedEvent): Holder => ({ at: { source, event_id: id }, owner, fence });

export const extendEvent = (dialect: Dialect, event: ClaimedEvent, leaseMs: number): Operation<Held> =>
  writeHeld(events, heldBy(event), { due_at: fromNow(sqlOf(dialect), leaseMs), reason: null });

export type EventEnd =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly afterMs: number; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string };

// For people who look at the row.
const reasonCharsMax = 1_000;

/** False: somebody else has it, and what this one did in a transaction is undone. */
export function* endEvent(dialect: Dialect, event: ClaimedEvent, end: EventEnd): Operation<boolean> {
  const { now } = sqlOf(dialect);
  const reason = end.kind === "done" ? null : end.reason.slice(0, reasonCharsMax);
  if (end.kind === "again") {
    const { count } = yield {
      text: `
        update processed_webhook_events set state = 'persisted', due_at = ${now} + cast($1 as bigint), reason = $2
         where ${held}`,
      params: [end.afterMs, reason, ...holder(event)],
    };
    return count === 1;
  }
  const { count } = yield {
    text: `
      update processed_webhook_events set state = $1, reason = $2, processed_at = ${now}
       where ${held}`,
    params: [end.kind, reason, ...holder(event)],
  };
  return count === 1;
}

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
export function* replayEvent(dialect: Dialect, source: string, id: string): Operation<boolean> {
  const { count } = yield {
    text: `
      update processed_webhook_events set state = 'persisted', attempts = 0, due_at = ${sqlOf(dialect).now}
       where source = $1 and event_id = $2 and state = 'dead'`,
    params: [source, id],
  };
  return count === 1;
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

/** What waits for a person, oldest first. */
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
export function* reapEvents(dialect: Dialect, limit: number): Operation<number> {
  const { count } = yield {
    text: `
      delete from processed_webhook_events where (source, event_id) in (
        select source, event_id from processed_webhook_events
         where ends_at <= ${sqlOf(dialect).now} and state in ('done', 'absorbed') limit $1)`,
    params: [limit],
  };
  return count;
}
