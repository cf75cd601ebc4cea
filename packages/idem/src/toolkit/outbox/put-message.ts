// Writing a message inside the user's transaction. It is there exactly if that commits.
// Repeat: a dedup key that is taken adds nothing and answers with the first message's id.
//
// Order is decided here. Numbers are given when rows are inserted, and transactions commit in another order: a dispatcher would hand on
// the second of two messages before it can see the first. So senders of one order key take turns until their transactions end, and
// a reader who sees a message sees all that came before it. SQLite has one writer, which is the same.
import { createHash } from "node:crypto";
import { errors } from "../../model/errors.ts";
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";

export interface NewMessage {
  readonly id: string;
  readonly topic: string;
  readonly text: string;
  readonly orderKey: string | null;
  readonly dedupKey: string | null;
  readonly onDead: "block" | "skip" | null;
  /** Null: at once. */
  readonly notBefore: number | null;
}

export interface PutMessage {
  /** False: a message with this dedup key was there already. */
  readonly added: boolean;
  readonly id: string;
}

export function* putMessages(dialect: Dialect, messages: readonly NewMessage[]): Operation<PutMessage[]> {
  const { now } = sqlOf(dialect);
  if (dialect === "postgres") {
    // Sorted, so that two calls that share keys take their turns in the same order and cannot deadlock.
    const turns = new Set(messages.flatMap(({ orderKey }) => (orderKey === null ? [] : [turnOf(orderKey)])));
    for (const turn of [...turns].sort()) {
      yield { text: "select cast(pg_advisory_xact_lock(cast($1 as bigint)) as text)", params: [turn] };
    }
  }
  const put: PutMessage[] = [];
  for (const message of messages) put.push(yield* putMessage(now, message));
  return put;
}

/** 64 bits of a hash: two keys that share them take turns with each other, and nothing else. */
const turnOf = (orderKey: string): string =>
  createHash("sha256")
    .update(JSON.stringify(["idem_outbox", orderKey]))
    .digest()
    .readBigInt64BE(0)
    .toString();

function* putMessage(now: string, message: NewMessage): Operation<PutMessage> {
  const { id, topic, text, orderKey, dedupKey, onDead, notBefore } = message;
  // The first may be deleted between the two statements, being done for a week.
  for (let tries = 0; tries < 3; tries++) {
    const added = yield {
      text: `
        insert into idem_outbox
          (id, topic, message, order_key, dedup_key, on_dead, state, lease_until, due_at, started, finished, created_at)
        values ($1, $2, $3, $4, $5, $6, 'pending', 0, coalesce(cast($7 as bigint), ${now}), 0, 0, ${now})
        on conflict (topic, dedup_key) do nothing
        returning id`,
      params: [id, topic, text, orderKey, dedupKey, onDead, notBefore],
    };
    if (added.rows.length === 1) return { added: true, id };
    const first = yield {
      text: "select id from idem_outbox where topic = $1 and dedup_key = $2",
      params: [topic, dedupKey],
    };
    if (first.rows[0] !== undefined) return { added: false, id: first.rows[0].id as string };
  }
  throw errors.ROW_CONTENDED({ table: "idem_outbox" });
}
