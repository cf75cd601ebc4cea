// What is written once something is known, or known to be unknown.
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";
import type { SendHolder } from "./claim-send.ts";
import { entryColumns, entryOf, type SentEntry } from "./entry.ts";

/**
 * It was sent. The one write that also counts when it comes late: a receipt in the hand is a fact, and as long as nobody sends again it
 * ends the doubt that the late lease had raised. False: another window, or somebody else is sending.
 */
export function* recordSent(
  dialect: Dialect,
  holder: SendHolder & { readonly generation: number },
  receipt: string,
): Operation<boolean> {
  const { now } = sqlOf(dialect);
  const { count } = yield {
    text: `
      update idem_sent_log
         set state = 'sent', receipt = $1, sent_at = ${now}, ends_at = ${now} + window_ms, lease_until = 0,
             unknown_at = null, reason = null
       where id = $2 and generation = $3
         and ((owner = $4 and fence = $5 and state in ('sending', 'unknown')) or state in ('intent', 'unknown', 'parked'))`,
    params: [receipt, holder.id, holder.generation, holder.owner, holder.fence],
  };
  return count === 1;
}

// For people who look at the row.
const reasonLengthMax = 1_000;

/** Ends the lease. `unknown` from a throw: from now on it is not known; from a search that found out nothing: since it ever was not. */
export function* recordDoubt(
  dialect: Dialect,
  holder: SendHolder,
  state: "refused" | "unknown" | "parked",
  reason: string,
): Operation<boolean> {
  const { now } = sqlOf(dialect);
  const unknownAt = state === "refused" ? "null" : `coalesce(unknown_at, ${now})`;
  const { count } = yield {
    text: `
      update idem_sent_log
         set state = $1, reason = $2, lease_until = 0, unknown_at = ${unknownAt}
       where id = $3 and owner = $4 and fence = $5 and state in ('sending', 'unknown')`,
    params: [state, reason.slice(0, reasonLengthMax), holder.id, holder.owner, holder.fence],
  };
  return count === 1;
}

export function* readEntry(dialect: Dialect, id: string): Operation<SentEntry | null> {
  const { rows } = yield {
    text: `select ${entryColumns(sqlOf(dialect).now)} from idem_sent_log where id = $1`,
    params: [id],
  };
  return rows[0] === undefined ? null : entryOf(rows[0]);
}

/** By id; `after` is the last of the page before. */
export function* listParked(dialect: Dialect, page: { limit: number; after: string }): Operation<SentEntry[]> {
  const { rows } = yield {
    text: `
      select ${entryColumns(sqlOf(dialect).now)} from idem_sent_log
       where state = 'parked' and id > $1 order by id limit $2`,
    params: [page.after, page.limit],
  };
  return rows.map(entryOf);
}

/** A person knows: it arrived, or it did not and the next asker sends. False: it is not parked. */
export function* resolveParked(dialect: Dialect, id: string, receipt: string | null): Operation<boolean> {
  const { now } = sqlOf(dialect);
  const { count } =
    receipt === null
      ? yield {
          text: "update idem_sent_log set state = 'intent', unknown_at = null where id = $1 and state = 'parked'",
          params: [id],
        }
      : yield {
          text: `
            update idem_sent_log
               set state = 'sent', receipt = $1, sent_at = ${now}, ends_at = ${now} + window_ms, unknown_at = null
             where id = $2 and state = 'parked'`,
          params: [receipt, id],
        };
  return count === 1;
}

export function* reapSent(dialect: Dialect, limit: number): Operation<number> {
  const { now, skipLocked } = sqlOf(dialect);
  const { count } = yield {
    text: `
      delete from idem_sent_log where id in (
        select id from idem_sent_log
         where state in ('intent', 'sent', 'refused') and ends_at <= ${now}
         limit $1 ${skipLocked})`,
    params: [limit],
  };
  return count;
}
