// Claiming what may be handed on. By state, not by a cursor: a message whose transaction began first and committed last is found like any other.
// Of each order key only the oldest unfinished message can be claimed; one that died for good holds up its key where the author chose `block`.
import type { Held } from "../claim/answers.ts";
import { type ClaimTable, type Holder, writeHeld } from "../claim/claim-operations.ts";
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";
import { fromNow } from "../sql/parts.ts";
import { type TakenMessage, takenOf } from "./message.ts";

export interface ClaimAsk {
  readonly owner: string;
  readonly leaseMs: number;
  readonly max: number;
  /** Null: all. */
  readonly topics: readonly string[] | null;
}

export function* claimMessages(dialect: Dialect, ask: ClaimAsk): Operation<TakenMessage[]> {
  const { now, skipLocked } = sqlOf(dialect);
  const topics = ask.topics ?? [];
  const ofTopics = ask.topics === null ? "" : `and m.topic in (${topics.map((_, i) => `$${i + 1}`).join(", ")})`;
  const after = topics.length;
  const { rows } = yield {
    text: `
      with due as materialized (
        select m.seq from idem_outbox m
         where m.state = 'pending' and m.due_at <= ${now} and m.lease_until <= ${now} ${ofTopics}
           and (m.order_key is null or not exists (
             select 1 from idem_outbox older
              where older.order_key = m.order_key and older.seq < m.seq
                and older.state <> 'done' and (older.state = 'pending' or older.on_dead = 'block')))
         order by m.seq
         limit $${after + 1}
         ${skipLocked})
      update idem_outbox
         set owner = $${after + 2},
             lease_until = ${now} + $${after + 3},
             started = started + 1,
             first_started_at = coalesce(first_started_at, ${now})
       where seq in (select seq from due)
      returning seq, id, topic, message, order_key, started, finished, ${now} - first_started_at as tried_for_ms`,
    params: [...topics, ask.max, ask.owner, ask.leaseMs],
  };
  return rows.map(takenOf).sort((a, b) => a.seq - b.seq);
}

/** Who writes: the claimant. A claim of somebody else, later, has a higher fence. */
export interface MessageHolder {
  readonly seq: number;
  readonly owner: string;
  readonly started: number;
}

export const extendMessage = (dialect: Dialect, holder: MessageHolder, leaseMs: number): Operation<Held> =>
  writeHeld(messages, heldBy(holder), { lease_until: fromNow(sqlOf(dialect), leaseMs) });

const messages: ClaimTable = { name: "idem_outbox", key: ["seq"], fence: "started", held: "pending" };
const heldBy = ({ seq, owner, started }: MessageHolder): Holder => ({ at: { seq }, owner, fence: started });
