// The logical event that carries a raw one: the window that is open, a late one that already says it all, or a new window. One transaction with
// the raw event's row; where two raw events of a key come at once, the unique window number decides who opens it.
import { type Dialect, numberOf, type Operation, sqlOf } from "../sql/operation.ts";
import { fromNow, inserting, sqlPart, statementOf } from "../sql/parts.ts";
import type { Coalescing, Merged } from "./coalesce.ts";
import { seenFirst } from "./webhook-rows.ts";

export interface Absorbing {
  readonly source: string;
  readonly id: string;
  readonly subject: string | null;
  readonly digest: string;
  readonly key: { readonly text: string; readonly hash: string };
  readonly merged: Merged;
  /** JSON. */
  readonly payload: string;
  readonly lateMs: number;
  readonly windowMs: number;
}

/** A logical row's payload column. */
export interface LogicalRow extends Merged {
  readonly key: string;
  readonly count: number;
  /** The newest raw event's payload, as JSON. */
  readonly newest: string;
}

const turnsMax = 20;

export function* absorbEvent(dialect: Dialect, event: Absorbing, coalesce: Coalescing): Operation<void> {
  const sql = sqlOf(dialect);
  const lock = dialect === "postgres" ? "for update" : "";
  for (let turn = 0; turn < turnsMax; turn++) {
    const { rows } = yield {
      text: `
        select event_id, number, state, payload, due_at, first_seen_at, ${sql.now} as now from processed_webhook_events
         where source = $1 and business_key = $2 and kind = 'logical'
         order by number desc limit 1 ${lock}`,
      params: [event.source, event.key.hash],
    };
    const last = rows[0];
    if (last !== undefined) {
      const carried = JSON.parse(String(last.payload)) as LogicalRow;
      const logicalId = String(last.event_id);
      if (last.state === "gathering" && numberOf(last.now) < numberOf(last.due_at)) {
        return yield* absorb(dialect, event, logicalId, grown(carried, event, coalesce), coalesce);
      }
      const isLate = numberOf(last.now) - numberOf(last.first_seen_at) <= coalesce.windowMs + event.lateMs;
      if (isLate && coalesce.addsNothing(mergedIn(carried), event.merged)) return yield* point(event, logicalId);
    }
    const number = last === undefined ? 0 : numberOf(last.number) + 1;
    const logicalId = `logical-${event.key.hash}.${number}`;
    const row: LogicalRow = { ...event.merged, key: event.key.text, count: 1, newest: event.payload };
    const logical = {
      source: event.source,
      event_id: logicalId,
      kind: "logical",
      type: event.merged.type,
      subject: event.subject,
      digest: event.digest,
      state: "gathering",
      payload: JSON.stringify(row),
      business_key: event.key.hash,
      number,
      due_at: fromNow(sql, coalesce.windowMs),
    };
    const { rows: opened } = yield statementOf(sqlPart`
      insert into processed_webhook_events ${inserting(logical, seenFirst(sql, event.windowMs))}
      on conflict do nothing returning event_id`);
    if (opened.length > 0) return yield* point(event, logicalId);
    // Another raw event opened it first: now there is one to be absorbed by.
  }
  throw new Error("the windows of this key open faster than they can be read");
}

const mergedIn = ({ type, changed, wasNew }: LogicalRow): Merged => ({ type, changed, wasNew });

const grown = (carried: LogicalRow, { merged, payload }: Absorbing, coalesce: Coalescing): LogicalRow => ({
  ...carried,
  ...coalesce.merge(mergedIn(carried), merged),
  count: carried.count + 1,
  newest: payload,
});

function* absorb(
  dialect: Dialect,
  event: Absorbing,
  logicalId: string,
  row: LogicalRow,
  { expects }: Coalescing,
): Operation<void> {
  const { now } = sqlOf(dialect);
  const isComplete = expects !== null && row.count >= expects;
  yield {
    text: `
      update processed_webhook_events
         set type = $1, payload = $2, last_seen_at = ${now}, due_at = ${isComplete ? now : "due_at"}
       where source = $3 and event_id = $4`,
    params: [row.type, JSON.stringify(row), event.source, logicalId],
  };
  yield* point(event, logicalId);
}

function* point({ source, id }: Absorbing, logicalId: string): Operation<void> {
  yield {
    text: "update processed_webhook_events set carried_by = $1 where source = $2 and event_id = $3",
    params: [logicalId, source, id],
  };
}
