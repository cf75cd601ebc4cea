// Claiming a key. The first writer wins; everyone after learns who won. Asking locks the key until the transaction ends, whether
// its claim exists or not: where it does not, a row is made that nobody else can see, and removed unless the key is taken.
// What was found is kept with the transaction, so a key is read once and later askers of the same transaction see what earlier ones took.

import { isSingletonScope } from "../../flow/singleton/plan.ts";
import { type Claim, type ClaimAsk, eventScope, webhookScope } from "../../model/claim.ts";
import { type ClaimRow, claimValues, readClaim } from "../rows.ts";
import { compareTexts, indexable } from "./text.ts";
import type { Transaction } from "./transaction.ts";

const claimColumns = `scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked,
  last_asked_at, outcome`;

const lockClaimSql = `
  insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
  values (?, ?, ?, '', 0, '', 'released', 0, 0, 0, 0, 0)
  on conflict (env, scope, key) do update set asked = claims.asked
  returning ${claimColumns}`;

// The rows that are made are the claims as they will be if their keys are free, which is nearly always: then nothing is left to write.
// A row that was made has no deleter yet; one that was there was just locked.
const lockAllSql = `
  insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
  select env, scope, key, holder, 1, generation, state, cast(:now as bigint), cast(:now as bigint) + window_ms, held, 1, cast(:now as bigint)
    from unnest(cast(:envs as text[]), cast(:scopes as text[]), cast(:keys as text[]), cast(:holders as text[]),
                cast(:generations as text[]), cast(:states as text[]), cast(:windows as bigint[]), cast(:helds as smallint[]))
      as asked (env, scope, key, holder, generation, state, window_ms, held)
  on conflict (env, scope, key) do update set asked = claims.asked
  returning env, xmax = 0 as made, ${claimColumns}`;

const writeClaimSql = `
  update claims
     set holder = ?, fence = ?, generation = ?, state = ?, fingerprint = ?, taken_at = ?, lease_until = ?, ends_at = ?,
         held = ?, asked = ?, last_asked_at = ?, outcome = ?
   where env = ? and scope = ? and key = ?`;

// A duplicate changes two counters and nothing else.
const countAskingSql = "update claims set asked = asked + 1, last_asked_at = ? where env = ? and scope = ? and key = ?";

const deleteClaimSql = "delete from claims where env = ? and scope = ? and key = ?";

/** A key that this transaction has locked. */
export interface LockedClaim {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** What everyone else will find, as far as this transaction has got; null while nobody has it. */
  claim: Claim | null;
  /** The row that was made to lock it, if nobody had it. */
  readonly made: Claim | null;
}

const idOf = (env: string, scope: string, key: string): string => JSON.stringify([env, scope, indexable(key)]);

/** Locks the key. Null when nobody ever claimed it, or nobody remembers. */
export async function findClaim(tx: Transaction, env: string, scope: string, key: string): Promise<Claim | null> {
  const id = idOf(env, scope, key);
  const locked = tx.claims.get(id);
  if (locked !== undefined) return locked.claim;
  const row = (await tx.connection.one<ClaimRow>(lockClaimSql, env, scope, indexable(key)))!;
  const claim = readClaim(row);
  const found: LockedClaim =
    row.asked === 0 ? { env, scope, key, claim: null, made: claim } : { env, scope, key, claim, made: null };
  tx.claims.set(id, found);
  return found.claim;
}

/** The key was locked by finding it. */
export function writeClaim(tx: Transaction, env: string, claim: Claim): void {
  const locked = tx.claims.get(idOf(env, claim.scope, claim.key))!;
  const isAsMade = locked.claim === null && locked.made !== null && isSame(locked.made, claim);
  locked.claim = claim;
  if (isAsMade) return;
  tx.connection.write(writeClaimSql, ...claimValues(claim), env, claim.scope, indexable(claim.key));
}

const isSame = (a: Claim, b: Claim): boolean =>
  (Object.keys(a) as (keyof Claim)[]).every((name) => a[name] === b[name]);

export function countAsking(tx: Transaction, env: string, { scope, key }: Claim): void {
  const locked = tx.claims.get(idOf(env, scope, key))!;
  const { claim } = locked;
  if (claim !== null) locked.claim = { ...claim, asked: claim.asked + 1, lastAskedAt: tx.at.now };
  tx.connection.write(countAskingSql, tx.at.now, env, scope, indexable(key));
}

/** The key was locked by finding it; a row that was made for that is dropped at the end. */
export function deleteClaim(tx: Transaction, env: string, { scope, key }: Pick<Claim, "scope" | "key">): void {
  const locked = tx.claims.get(idOf(env, scope, key))!;
  if (locked.made === null) tx.connection.write(deleteClaimSql, env, scope, indexable(key));
  locked.claim = null;
}

/** What was locked and not taken leaves nothing behind. */
export function dropMade(tx: Transaction): void {
  for (const { env, scope, key, claim, made } of tx.claims.values()) {
    if (claim === null && made !== null) tx.connection.write(deleteClaimSql, env, scope, indexable(key));
  }
}

/** Several keys, in the one order in which everybody locks them. */
export async function lockClaims(
  tx: Transaction,
  env: string,
  keys: readonly { readonly scope: string; readonly key: string }[],
): Promise<void> {
  const inOrder = [...keys].sort(lockOrder);
  for (const { scope, key } of inOrder) await findClaim(tx, env, scope, key);
}

export interface ExpectedAsk {
  readonly env: string;
  readonly ask: ClaimAsk;
  /** The claim's state once it is taken. */
  readonly state: Claim["state"];
}

/** Locks many keys that are about to be asked for, in one statement. Of askings for one key the first counts. */
export async function lockExpected(tx: Transaction, expected: readonly ExpectedAsk[]): Promise<void> {
  const asks = new Map<string, ExpectedAsk>();
  for (const each of expected) {
    const id = idOf(each.env, each.ask.scope, each.ask.key);
    if (!asks.has(id) && !tx.claims.has(id)) asks.set(id, each);
  }
  if (asks.size === 0) return;
  const inOrder = [...asks.values()].sort((a, b) => lockOrder(a.ask, b.ask) || compareTexts(a.env, b.env));
  const rows = await tx.connection.find<ClaimRow & { env: string; made: boolean }>(lockAllSql, {
    now: tx.at.now,
    envs: inOrder.map(({ env }) => env),
    scopes: inOrder.map(({ ask }) => ask.scope),
    keys: inOrder.map(({ ask }) => indexable(ask.key)),
    holders: inOrder.map(({ ask }) => ask.holder),
    generations: inOrder.map(({ ask }) => ask.generation),
    states: inOrder.map(({ state }) => state),
    windows: inOrder.map(({ ask }) => ask.windowMs),
    helds: inOrder.map(({ ask }) => (ask.held ? 1 : 0)),
  });
  for (const row of rows) {
    const { env, scope, key } = row;
    const claim = readClaim(row);
    tx.claims.set(
      idOf(env, scope, key),
      row.made ? { env, scope, key, claim: null, made: claim } : { env, scope, key, claim, made: null },
    );
  }
}

// Whoever has a singleton key finds out which function keys its holder has, and asks for them then.
const kindOf = (scope: string): number =>
  scope === eventScope || scope === webhookScope ? 0 : isSingletonScope(scope) ? 1 : 2;

/** The one order in which everybody locks keys. */
const lockOrder = (a: Pick<ClaimAsk, "scope" | "key">, b: Pick<ClaimAsk, "scope" | "key">): number =>
  kindOf(a.scope) - kindOf(b.scope) || compareTexts(a.scope, b.scope) || compareTexts(a.key, b.key);
