// Claiming a key. The first writer wins; everyone after learns who won. One writer at a time, so reading before writing is
// safe here, and it reads like the rule (select-then-insert and upsert cost the same: docs/reference/stores.md#keys).
import type { Claim } from "../../model/claim.ts";
import { type ClaimRow, claimValues, readClaim } from "../rows.ts";
import type { FoundClaim } from "../rules/database.ts";
import type { Transaction } from "./transaction.ts";

const selectClaimSql = `
  select scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked,
         last_asked_at, outcome
    from claims where n = ?`;

const insertClaimSql = `
  insert into claims (holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked,
                      last_asked_at, outcome, n, env, scope, key)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const updateClaimSql = `
  update claims
     set holder = ?, fence = ?, generation = ?, state = ?, fingerprint = ?, taken_at = ?, lease_until = ?, ends_at = ?,
         held = ?, asked = ?, last_asked_at = ?, outcome = ?
   where n = ?`;

const deleteClaimSql = "delete from claims where n = ?";

// A duplicate changes two counters and nothing else.
const countAskingSql = "update claims set asked = asked + 1, last_asked_at = ? where n = ?";

export function findClaim(tx: Transaction, env: string, scope: string, key: string): FoundClaim | null {
  const n = tx.claims.find(env, scope, key);
  const row = n === undefined ? undefined : tx.connection.one<ClaimRow>(selectClaimSql, n);
  return row === undefined ? null : { row: n!, claim: readClaim(row) };
}

/** Into the row of the claim that was found, or a new one. */
export function writeClaim(tx: Transaction, env: string, claim: Claim, found: FoundClaim | null): void {
  const { scope, key } = claim;
  const values = claimValues(claim);
  if (found === null) values.push(tx.claims.add(env, scope, key), env, scope, key);
  else values.push(found.row);
  tx.connection.run(found === null ? insertClaimSql : updateClaimSql, ...values);
}

export function countAsking(tx: Transaction, { row }: FoundClaim): void {
  tx.connection.run(countAskingSql, tx.at.now, row);
}

export function deleteClaim(tx: Transaction, env: string, { row, claim: { scope, key } }: FoundClaim): void {
  tx.connection.run(deleteClaimSql, row);
  tx.claims.remove({ n: row, env, scope, key });
}
