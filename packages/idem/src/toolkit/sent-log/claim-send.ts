// Claiming the right to send, and to find out. The row that says SENDING is committed before the first byte leaves.
//
//   nothing, intent, refused, window over ──claim──▶ sending ──receipt──▶ sent
//                                            ▲         ├─ definite refusal ─▶ refused
//                                            │         └─ threw, or lease over ─▶ unknown ──▶ parked, sent or sending again, as chosen
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";
import { entryColumns, entryOf, type SentEntry } from "./entry.ts";

export interface SendAsk {
  readonly id: string;
  readonly template: string;
  readonly recipient: string;
  readonly about: string | null;
  readonly owner: string;
  readonly leaseMs: number;
  readonly windowMs: number;
}

export type SendClaim =
  | { readonly kind: "send"; readonly entry: SentEntry }
  /** Somebody's else, or in doubt; and if in doubt, perhaps ours to decide: its lease is over. */
  | { readonly kind: "there"; readonly entry: SentEntry };

/** Null: it was deleted between the two statements. */
export function* claimSend(dialect: Dialect, ask: SendAsk): Operation<SendClaim | null> {
  const { now } = sqlOf(dialect);
  const claimed = yield {
    text: `
      insert into idem_sent_log as log
        (id, template, recipient, about, owner, window_ms, lease_until, ends_at,
         state, generation, fence, attempts, sending_at)
      values ($1, $2, $3, $4, $5, $6, ${now} + $7, ${now} + $8, 'sending', 1, 1, 1, ${now})
      on conflict (id) do update
         set state = 'sending',
             owner = excluded.owner,
             fence = log.fence + 1,
             generation = case when log.state = 'sent' then log.generation + 1 else log.generation end,
             attempts = case when log.state = 'sent' then 1 else log.attempts + 1 end,
             sending_at = case when log.state = 'sent' then excluded.sending_at else log.sending_at end,
             lease_until = excluded.lease_until,
             window_ms = excluded.window_ms,
             ends_at = excluded.ends_at,
             unknown_at = null, sent_at = null, receipt = null, reason = null
       where log.state in ('intent', 'refused') or (log.state = 'sent' and log.ends_at <= ${now})
      returning ${entryColumns(now)}`,
    params: [ask.id, ask.template, ask.recipient, ask.about, ask.owner, ask.windowMs, ask.leaseMs, ask.windowMs],
  };
  if (claimed.rows[0] !== undefined) return { kind: "send", entry: entryOf(claimed.rows[0]) };
  const there = yield { text: `select ${entryColumns(now)} from idem_sent_log where id = $1`, params: [ask.id] };
  return there.rows[0] === undefined ? null : { kind: "there", entry: entryOf(there.rows[0]) };
}

/** One of those who find a dead lease may decide what became of it; the others see its lease. Null: somebody else was first. */
export function* takeDoubt(
  dialect: Dialect,
  ask: Pick<SendAsk, "id" | "owner" | "leaseMs">,
  fence: number,
): Operation<SentEntry | null> {
  const { now } = sqlOf(dialect);
  const { rows } = yield {
    text: `
      update idem_sent_log
         set state = 'unknown', owner = $1, fence = fence + 1, unknown_at = coalesce(unknown_at, lease_until),
             lease_until = ${now} + $2
       where id = $3 and fence = $4 and lease_until <= ${now} and state in ('sending', 'unknown')
      returning ${entryColumns(now)}`,
    params: [ask.owner, ask.leaseMs, ask.id, fence],
  };
  return rows[0] === undefined ? null : entryOf(rows[0]);
}

export interface SendHolder {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
}

/** It was not sent, as far as anybody can tell, or the author chose to send again: the same tag, one attempt more. */
export function* sendAgain(dialect: Dialect, holder: SendHolder, leaseMs: number): Operation<SentEntry | null> {
  const { now } = sqlOf(dialect);
  const { rows } = yield {
    text: `
      update idem_sent_log
         set state = 'sending', attempts = attempts + 1, unknown_at = null, lease_until = ${now} + $1
       where id = $2 and owner = $3 and fence = $4 and state = 'unknown'
      returning ${entryColumns(now)}`,
    params: [leaseMs, holder.id, holder.owner, holder.fence],
  };
  return rows[0] === undefined ? null : entryOf(rows[0]);
}

export function* extendSend(dialect: Dialect, holder: SendHolder, leaseMs: number): Operation<boolean> {
  const { count } = yield {
    text: `
      update idem_sent_log set lease_until = ${sqlOf(dialect).now} + $1
       where id = $2 and owner = $3 and fence = $4 and state in ('sending', 'unknown')`,
    params: [leaseMs, holder.id, holder.owner, holder.fence],
  };
  return count === 1;
}
