// Taking a raw event's id. The primary key decides who was first, not this code.
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";

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

export function* insertEvent(dialect: Dialect, event: NewEvent): Operation<Inserted> {
  const { now } = sqlOf(dialect);
  for (let turn = 0; turn < turnsMax; turn++) {
    const { rows } = yield {
      text: `
        insert into processed_webhook_events
          (source, event_id, kind, type, subject, digest, state, payload, body, occurred_at,
           first_seen_at, last_seen_at, deliveries, conflicts, due_at, attempts, fence, ends_at)
        values ($1, $2, 'raw', $3, $4, $5, $6, $7, $8, $9, ${now}, ${now}, 1, 0, ${now}, 0, 0, ${now} + cast($10 as bigint))
        on conflict (source, event_id) do nothing
        returning event_id`,
      params: [
        event.source,
        event.id,
        event.type,
        event.subject,
        event.digest,
        event.state,
        event.payload,
        event.body,
        event.at,
        event.windowMs,
      ],
    };
    if (rows.length > 0) return { kind: "fresh" };
    // Past its window an id is free again, whether or not the reaper has come by.
    yield {
      text: `
        delete from processed_webhook_events
         where source = $1 and event_id = $2 and ends_at <= ${now} and state in ('done', 'absorbed')`,
      params: [event.source, event.id],
    };
    const { rows: seen } = yield {
      text: `
        update processed_webhook_events
           set last_seen_at = ${now}, deliveries = deliveries + 1,
               conflicts = conflicts + case when digest = $1 then 0 else 1 end
         where source = $2 and event_id = $3
        returning digest`,
      params: [event.digest, event.source, event.id],
    };
    if (seen.length > 0) return { kind: "duplicate", isConflicting: seen[0]!.digest !== event.digest };
  }
  throw new Error("the row of this event comes and goes");
}
