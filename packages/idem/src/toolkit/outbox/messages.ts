// Messages as claims that are taken by order instead of by name: what may be handed on, how a try ends, what people do about the dead.
//
// By state, not by a cursor: a message whose transaction began first and committed last is found like any other. Of each order key only the
// oldest unfinished message can be claimed; one that died for good holds up its key where the author chose `block`.
import { type ClaimTable, type Holder, reapRows, takeDue, updateRows, writeHeld } from "../claim/claim-operations.ts";
import type { Held } from "../claim/decide-claim.ts";
import { reasonText, type WorkEnd } from "../claim/work-under-claim.ts";
import { numberOf, type Operation, type Sql } from "../sql/operation.ts";
import { fromNow, listed, plain, sqlPart } from "../sql/parts.ts";
import { type TakenMessage, takenOf } from "./message.ts";

const columns = "seq, id, topic, message, order_key, started, finished";

const table: ClaimTable = { name: "idem_outbox", key: ["seq"], fence: "started", held: "pending", columns };

export interface ClaimAsk {
  readonly owner: string;
  readonly leaseMs: number;
  readonly max: number;
  /** Null: all. */
  readonly topics: readonly string[] | null;
}

export function* claimMessages(sql: Sql, { owner, leaseMs, max, topics }: ClaimAsk): Operation<TakenMessage[]> {
  const now = plain(sql.now);
  const ofTopics = topics === null ? plain("true") : sqlPart`topic in (${listed(topics)})`;
  const rows = yield* takeDue(sql, table, {
    due: sqlPart`state = 'pending' and due_at <= ${now} and lease_until <= ${now} and ${ofTopics}
      and (order_key is null or not exists (
        select 1 from idem_outbox older
         where older.order_key = idem_outbox.order_key and older.seq < idem_outbox.seq
           and older.state <> 'done' and (older.state = 'pending' or older.on_dead = 'block')))`,
    order: "seq",
    limit: max,
    set: {
      owner,
      lease_until: fromNow(sql, leaseMs),
      started: plain("started + 1"),
      first_started_at: sqlPart`coalesce(first_started_at, ${now})`,
    },
    columns: plain(`${columns}, ${sql.now} - first_started_at as tried_for_ms`),
  });
  return rows.map(takenOf).sort((a, b) => a.seq - b.seq);
}

export interface MessageHolder {
  readonly seq: number;
  readonly owner: string;
  readonly started: number;
}

const heldBy = ({ seq, owner, started }: MessageHolder): Holder => ({ at: { seq }, owner, fence: started });

export const extendMessage = (sql: Sql, holder: MessageHolder, leaseMs: number): Operation<Held> =>
  writeHeld(table, heldBy(holder), { lease_until: fromNow(sql, leaseMs) });

export const endMessage = (sql: Sql, holder: MessageHolder, end: WorkEnd): Operation<Held> =>
  writeHeld(table, heldBy(holder), {
    finished: plain("finished + 1"),
    reason: reasonText(end),
    ...(end.kind === "again"
      ? { lease_until: 0, due_at: fromNow(sql, end.afterMs) }
      : { state: end.kind, ended_at: plain(sql.now) }),
  });

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

const dead = (id: string) => sqlPart`id = ${id} and state = 'dead'`;

/** To be tried again, as if for the first time. False: it is not dead. */
export function* reviveDead(sql: Sql, id: string): Operation<boolean> {
  const anew = { state: "pending", started: 0, finished: 0, owner: null, lease_until: 0, due_at: plain(sql.now) };
  return (yield* updateRows(table, { ...anew, first_started_at: null, ended_at: null }, dead(id))) === 1;
}

/** Let go of for good; what waited behind it goes on. False: it is not dead. */
export function* dropDead(sql: Sql, id: string): Operation<boolean> {
  return (yield* updateRows(table, { state: "done", ended_at: plain(sql.now) }, dead(id))) === 1;
}

const dayMs = 86_400_000;

/** Longer than people take to ask what became of a message, and how long a dedup key stays taken after it was handed on. */
export const doneKeptMs = 7 * dayMs;

const deadKeptMs = 30 * dayMs;

/** A dead message that blocks is kept: without its row, those behind it would overtake it. */
export const reapMessages = (sql: Sql, limit: number): Operation<number> =>
  reapRows(
    sql,
    table,
    plain(`state <> 'pending' and ended_at <= ${sql.now} - ${doneKeptMs}
      and (state = 'done' or (ended_at <= ${sql.now} - ${deadKeptMs} and (order_key is null or on_dead = 'skip')))`),
    "ended_at",
    limit,
  );
