// What people do about messages that died, and what is deleted by itself.
import { type Dialect, numberOf, type Operation, sqlOf } from "../sql/operation.ts";

export interface DeadMessage {
  readonly id: string;
  readonly topic: string;
  readonly orderKey: string | null;
  /** Whether later messages of its order key wait for a decision about it. */
  readonly isBlocking: boolean;
  /** "poison" when it ended its process, what it failed with otherwise. */
  readonly reason: string;
  readonly attempts: number;
  readonly diedAt: number;
}

/** The reason of a message that ended its process too often. */
export const poison = "poison";

/** Oldest first; `after` is the last id of the page before. */
export function* listDead(page: { limit: number; after: string | null }): Operation<DeadMessage[]> {
  const { rows } = yield {
    text: `
      select id, topic, order_key, on_dead, reason, started, ended_at from idem_outbox
       where state = 'dead' and seq > coalesce((select seq from idem_outbox where id = $1), 0)
       order by seq limit $2`,
    params: [page.after, page.limit],
  };
  return rows.map((row) => ({
    id: row.id as string,
    topic: row.topic as string,
    orderKey: row.order_key as string | null,
    isBlocking: row.order_key !== null && row.on_dead === "block",
    reason: row.reason as string,
    // The claim that found it to be poison was none.
    attempts: numberOf(row.started) - (row.reason === poison ? 1 : 0),
    diedAt: numberOf(row.ended_at),
  }));
}

/** To be tried again, as if for the first time. False: it is not dead. */
export function* reviveDead(dialect: Dialect, id: string): Operation<boolean> {
  const { count } = yield {
    text: `
      update idem_outbox
         set state = 'pending', started = 0, finished = 0, owner = null, lease_until = 0, due_at = ${sqlOf(dialect).now},
             first_started_at = null, ended_at = null
       where id = $1 and state = 'dead'`,
    params: [id],
  };
  return count === 1;
}

/** Let go of for good; what waited behind it goes on. False: it is not dead. */
export function* dropDead(dialect: Dialect, id: string): Operation<boolean> {
  const { count } = yield {
    text: `update idem_outbox set state = 'done', ended_at = ${sqlOf(dialect).now} where id = $1 and state = 'dead'`,
    params: [id],
  };
  return count === 1;
}

const dayMs = 86_400_000;

/** Longer than people take to ask what became of a message, and how long a dedup key stays taken after it was handed on. */
export const doneKeptMs = 7 * dayMs;

const deadKeptMs = 30 * dayMs;

/** A dead message that blocks is kept: without its row, those behind it would overtake it. */
export function* reapMessages(dialect: Dialect, limit: number): Operation<number> {
  const { now, skipLocked } = sqlOf(dialect);
  const { count } = yield {
    text: `
      delete from idem_outbox where seq in (
        select seq from idem_outbox
         where state <> 'pending' and ended_at <= ${now} - ${doneKeptMs}
           and (state = 'done'
                or (ended_at <= ${now} - ${deadKeptMs} and (order_key is null or on_dead = 'skip')))
         limit $1 ${skipLocked})`,
    params: [limit],
  };
  return count;
}
