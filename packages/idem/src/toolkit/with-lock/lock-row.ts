// A lease on a name, as a row. The fence never goes back: it is at least the time at which the name was taken, so also a name whose row was
// deleted meanwhile gets a higher one.
import { type Dialect, numberOf, type Operation, sqlOf } from "../sql/operation.ts";

export type LockClaim =
  | { readonly kind: "held"; readonly fence: number }
  | { readonly kind: "taken"; readonly leaseLeftMs: number };

export interface LockHolder {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

export function* claimLock(dialect: Dialect, name: string, owner: string, leaseMs: number): Operation<LockClaim> {
  const { now } = sqlOf(dialect);
  const claimed = yield {
    text: `
      insert into idem_locks as lock (name, owner, fence, lease_until) values ($1, $2, ${now}, ${now} + $3)
      on conflict (name) do update
         set owner = excluded.owner,
             fence = case when excluded.fence > lock.fence then excluded.fence else lock.fence + 1 end,
             lease_until = excluded.lease_until
       where lock.lease_until <= ${now}
      returning fence`,
    params: [name, owner, leaseMs],
  };
  if (claimed.rows[0] !== undefined) return { kind: "held", fence: numberOf(claimed.rows[0].fence) };
  const there = yield {
    text: `select lease_until - ${now} as left_ms from idem_locks where name = $1`,
    params: [name],
  };
  const leftMs = there.rows[0] === undefined ? 0 : numberOf(there.rows[0].left_ms);
  return { kind: "taken", leaseLeftMs: Math.max(0, leftMs) };
}

/** False: somebody else may have it. */
export function* extendLock(dialect: Dialect, { name, owner, fence }: LockHolder, leaseMs: number): Operation<boolean> {
  const { count } = yield {
    text: `update idem_locks set lease_until = ${sqlOf(dialect).now} + $1 where name = $2 and owner = $3 and fence = $4`,
    params: [leaseMs, name, owner, fence],
  };
  return count === 1;
}

/** False: somebody else had it meanwhile. */
export function* releaseLock(dialect: Dialect, { name, owner, fence }: LockHolder): Operation<boolean> {
  const { count } = yield {
    text: `update idem_locks set lease_until = ${sqlOf(dialect).now} where name = $1 and owner = $2 and fence = $3`,
    params: [name, owner, fence],
  };
  return count === 1;
}

/** Inside a transaction: until it ends, nobody can take the name over. False: somebody has. */
export function* holdLock(dialect: Dialect, { name, owner, fence }: LockHolder): Operation<boolean> {
  const { rows } = yield {
    text: `
      select 1 as held from idem_locks where name = $1 and owner = $2 and fence = $3
      ${dialect === "postgres" ? "for update" : ""}`,
    params: [name, owner, fence],
  };
  return rows.length === 1;
}

const dayMs = 86_400_000;

export function* reapLockRows(dialect: Dialect, limit: number): Operation<number> {
  const { now, skipLocked } = sqlOf(dialect);
  const { count } = yield {
    text: `
      delete from idem_locks where name in (
        select name from idem_locks where lease_until <= ${now} - ${dayMs} limit $1 ${skipLocked})`,
    params: [limit],
  };
  return count;
}
