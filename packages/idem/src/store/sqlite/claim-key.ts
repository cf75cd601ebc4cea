// Claiming a key. The first writer wins; everyone after learns who won. One writer at a time, so reading before writing is
// safe here, and it reads like the rule (select-then-insert and upsert cost the same: store.md §2.1).
import { askClaim, type Claim, type ClaimAsk } from "../../model/claim.ts";
import { type ClaimRow, readClaim } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

const selectClaimSql = `
  select scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked,
         last_asked_at, outcome
    from claims
   where env = ? and scope = ? and key = ?`;

const insertClaimSql = `
  insert into claims (holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked,
                      last_asked_at, outcome, env, scope, key)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const updateClaimSql = `
  update claims
     set holder = ?, fence = ?, generation = ?, state = ?, fingerprint = ?, taken_at = ?, lease_until = ?, ends_at = ?,
         held = ?, asked = ?, last_asked_at = ?, outcome = ?
   where env = ? and scope = ? and key = ?`;

// A duplicate changes two counters and nothing else.
const countAskingSql = "update claims set asked = asked + 1, last_asked_at = ? where env = ? and scope = ? and key = ?";

export function findClaim(tx: Transaction, env: string, scope: string, key: string): Claim | null {
  const row = tx.connection.one<ClaimRow>(selectClaimSql, env, scope, key);
  return row === undefined ? null : readClaim(row);
}

export function writeClaim(tx: Transaction, env: string, claim: Claim, exists: boolean): void {
  tx.connection.run(
    exists ? updateClaimSql : insertClaimSql,
    claim.holder,
    claim.fence,
    claim.generation,
    claim.state,
    claim.fingerprint,
    claim.takenAt,
    claim.leaseUntil,
    claim.endsAt,
    claim.held ? 1 : 0,
    claim.asked,
    claim.lastAskedAt,
    claim.outcome,
    env,
    claim.scope,
    claim.key,
  );
}

export function countAsking(tx: Transaction, env: string, scope: string, key: string): void {
  tx.connection.run(countAskingSql, tx.at.now, env, scope, key);
}

/** Asks for the key on behalf of a holder; `previousHolder` is whoever had it in an earlier window. */
export function claimKey(
  tx: Transaction,
  env: string,
  ask: ClaimAsk,
  state: Claim["state"],
): { taken: boolean; claim: Claim; previousHolder: string | null } {
  const existing = findClaim(tx, env, ask.scope, ask.key);
  const asked = askClaim(existing, ask, tx.at);
  if (!asked.taken) {
    countAsking(tx, env, ask.scope, ask.key);
    return { ...asked, previousHolder: null };
  }
  const claim = { ...asked.claim, state };
  writeClaim(tx, env, claim, existing !== null);
  return { taken: true, claim, previousHolder: existing?.holder ?? null };
}
