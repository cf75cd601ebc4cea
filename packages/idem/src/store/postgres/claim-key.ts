// Claiming a key. The first writer wins; everyone after learns who won. A key is locked until the transaction ends, whether its claim exists
// or not: if it does not, a row is made that nobody else can see, and removed unless the key is taken. Only a request that is sure to be a
// duplicate locks nothing: its claim is read as it is committed, and the duplicate is decided as of that moment (docs/decisions/0059).
//
//   free      no row, released, or its window is over       → locked, because the request takes it
//   in doubt  a transaction that takes it is not committed  → locked, which waits for that transaction
//   taken     committed, open at the instant of the request → read; a later release, end or takeover is later than this duplicate
//
// What was found is kept with the transaction, so a key is read once, later requests of the same transaction see what earlier ones took, and
// duplicates are counted by one statement at its end.

import { isSingletonScope } from "../../flow/singleton/plan.ts";
import { askFor, type Claim, type ClaimAsk, eventScope, webhookScope } from "../../model/claim.ts";
import { type ClaimRow, claimValues, readClaim } from "../rows.ts";
import type { Connection } from "./connection.ts";
import { readAnswers } from "./kept-answers.ts";
import { compareTexts, indexable } from "./text.ts";
import { inEnv, type Transaction } from "./transaction.ts";

const claimColumns = `scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked,
  last_asked_at, outcome`;

const lockClaimSql = `
  insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
  values (?, ?, ?, '', 0, '', 'released', 0, 0, 0, 0, 0)
  on conflict (env, scope, key) do update set asked = claims.asked
  returning ${claimColumns}`;

// The rows that are made are the claims as they will be if their keys are free, which is nearly always: then nothing is left to write.
// A row that was made has no deleter yet; one that was there was just locked. What is left out is taken by any clock: windows are judged by
// one that is never ahead of this one, and no earlier than they were opened (askFor).
const lockFreeSql = `
  insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
  select env, scope, key, holder, 1, generation, state, cast(:now as bigint), cast(:now as bigint) + window_ms, held, 1, cast(:now as bigint)
    from unnest(cast(:envs as text[]), cast(:scopes as text[]), cast(:keys as text[]), cast(:holders as text[]),
                cast(:generations as text[]), cast(:states as text[]), cast(:windows as bigint[]), cast(:helds as smallint[]),
                cast(:shares as boolean[]))
      as requested (env, scope, key, holder, generation, state, window_ms, held, may_share)
   where not (may_share and exists (
           select 1 from claims c
            where c.env = requested.env and c.scope = requested.scope and c.key = requested.key and c.state <> 'released'
              and (c.held = 1 or c.ends_at > greatest(cast(:now as bigint), c.taken_at)) offset 0))
  on conflict (env, scope, key) do update set asked = claims.asked
  returning env, xmax = 0 as made, ${claimColumns}`;

const readClaimsSql = `
  select claim.*
    from unnest(cast(:envs as text[]), cast(:scopes as text[]), cast(:keys as text[])) as requested (env, scope, key)
   cross join lateral (
      select env, ${claimColumns} from claims
       where env = requested.env and scope = requested.scope and key = requested.key limit 1) claim`;

const writeClaimSql = `
  update claims
     set holder = ?, fence = ?, generation = ?, state = ?, fingerprint = ?, taken_at = ?, lease_until = ?, ends_at = ?,
         held = ?, asked = ?, last_asked_at = ?, outcome = ?
   where env = ? and scope = ? and key = ?`;

// Only claims that are locked here are written, so each conflicts with its row, and nothing is inserted: an update that joins many of them
// compares all with all.
const countSql = (whileLocked: string) => `
  with given as materialized (
    select * from unnest(cast(:envs as text[]), cast(:scopes as text[]), cast(:keys as text[]), cast(:generations as text[]),
                         cast(:counts as bigint[]), cast(:lasts as bigint[])) as given (env, scope, key, generation, count, last_at)),
  held as materialized (
    select given.* from given cross join lateral (
      select 1 from claims
       where env = given.env and scope = given.scope and key = given.key and generation = given.generation
         for no key update ${whileLocked}) claim)
  insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
  select env, scope, key, '', 0, '', 'released', 0, 0, 0, count, last_at from held
  on conflict (env, scope, key) do update
     set asked = claims.asked + excluded.asked, last_asked_at = greatest(claims.last_asked_at, excluded.last_asked_at)
  returning env, scope, key`;
const countFreeSql = countSql("skip locked");
const countAllSql = countSql("");

const deleteClaimSql = "delete from claims where env = ? and scope = ? and key = ?";
const deleteClaimsSql = "delete from claims where env = ? and scope = ? and key = any(cast(? as text[]))";

export interface ClaimName {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
}

/** What duplicates add to a claim. */
export interface DuplicateCount extends ClaimName {
  /** Names the window they fell into: a later one begins anew. */
  readonly generation: string;
  readonly count: number;
  readonly lastAt: number;
}

/** A key that this transaction has locked, or whose claim it has read. */
export interface KnownClaim extends ClaimName {
  /** What everyone else will find, as far as this transaction has got; null while nobody has it. */
  claim: Claim | null;
  /** The row that was made to lock it, if nobody had it. */
  readonly made: Claim | null;
  /** If not, it is taken and was only read: it must be locked before it is written. */
  readonly isLocked: boolean;
  /** Duplicates that were decided here and are not yet in its row. */
  uncounted: number;
}

const idOf = (env: string, scope: string, key: string): string => JSON.stringify([env, scope, indexable(key)]);

export const claimId = ({ env, scope, key }: ClaimName): string => idOf(env, scope, key);

/** For a request, which writes the claim only if it takes the key. Null when nobody ever claimed it, or nobody remembers. */
export async function findClaim(tx: Transaction, env: string, scope: string, key: string): Promise<Claim | null> {
  const known = tx.claims.get(idOf(env, scope, key));
  return known === undefined ? lockClaim(tx, env, scope, key) : known.claim;
}

/** The same for a caller that may write it in any case. */
export async function lockClaim(tx: Transaction, env: string, scope: string, key: string): Promise<Claim | null> {
  const id = idOf(env, scope, key);
  const known = tx.claims.get(id);
  if (known?.isLocked === true) return known.claim;
  const row = (await tx.connection.one<ClaimRow>(lockClaimSql, env, scope, indexable(key)))!;
  return keep(tx, id, { env, scope, key, isMade: row.asked === 0, isLocked: true, claim: readClaim(row) });
}

function keep(
  tx: Transaction,
  id: string,
  found: Pick<KnownClaim, "env" | "scope" | "key" | "isLocked"> & { readonly claim: Claim; readonly isMade: boolean },
): Claim | null {
  const { env, scope, key, isLocked, isMade, claim: row } = found;
  const before = tx.claims.get(id);
  // Counts of a window that has since been taken anew are dropped.
  const uncounted = before?.claim?.generation === row.generation ? before.uncounted : 0;
  const claim = isMade ? null : { ...row, asked: row.asked + uncounted };
  tx.claims.set(id, { env, scope, key, claim, made: isMade ? row : null, isLocked, uncounted });
  return claim;
}

/** The key was locked by finding it. */
export function writeClaim(tx: Transaction, env: string, claim: Claim): void {
  const locked = lockedClaim(tx, env, claim);
  const isAsMade = locked.claim === null && locked.made !== null && isSame(locked.made, claim);
  locked.claim = claim;
  // The claim has been counted up with each of them.
  locked.uncounted = 0;
  if (isAsMade) return;
  tx.connection.write(writeClaimSql, ...claimValues(claim), env, claim.scope, indexable(claim.key));
}

function lockedClaim(tx: Transaction, env: string, { scope, key }: Pick<Claim, "scope" | "key">): KnownClaim {
  const known = tx.claims.get(idOf(env, scope, key));
  if (known?.isLocked !== true) throw new Error(`the claim of ${scope} ${key} is to be written and was not locked`);
  return known;
}

const isSame = (a: Claim, b: Claim): boolean =>
  (Object.keys(a) as (keyof Claim)[]).every((name) => a[name] === b[name]);

/** Counts a duplicate, with the others of this transaction. */
export function countAsking(tx: Transaction, env: string, { scope, key }: Claim): void {
  const known = tx.claims.get(idOf(env, scope, key))!;
  const { claim } = known;
  if (claim === null) return;
  known.claim = { ...claim, asked: claim.asked + 1, lastAskedAt: Math.max(claim.lastAskedAt, tx.at.now) };
  known.uncounted++;
}

/** The key was locked by finding it; a row that was made for that is dropped at the end. */
export function deleteClaim(tx: Transaction, env: string, claim: Pick<Claim, "scope" | "key">): void {
  const locked = lockedClaim(tx, env, claim);
  if (locked.made === null) tx.connection.write(deleteClaimSql, env, claim.scope, indexable(claim.key));
  locked.claim = null;
}

/** What was locked and not taken leaves nothing behind. */
export function dropMade(tx: Transaction): void {
  const dropped = new Map<string, { readonly env: string; readonly scope: string; readonly keys: string[] }>();
  for (const { env, scope, key, claim, made } of tx.claims.values()) {
    if (claim !== null || made === null) continue;
    const id = inEnv(env, scope);
    const known = dropped.get(id);
    if (known === undefined) dropped.set(id, { env, scope, keys: [indexable(key)] });
    else known.keys.push(indexable(key));
  }
  for (const { env, scope, keys } of dropped.values()) tx.connection.write(deleteClaimsSql, env, scope, keys);
}

const named = (counts: readonly DuplicateCount[]) => ({
  envs: counts.map(({ env }) => env),
  scopes: counts.map(({ scope }) => scope),
  keys: counts.map(({ key }) => indexable(key)),
  generations: counts.map(({ generation }) => generation),
  counts: counts.map(({ count }) => count),
  lasts: counts.map(({ lastAt }) => lastAt),
});

/** Writes how many duplicates were decided here without waiting for a lock. Returns what other transactions kept it from writing. */
export async function countDuplicates(tx: Transaction): Promise<readonly DuplicateCount[]> {
  const counts: DuplicateCount[] = [];
  for (const { env, scope, key, claim, uncounted } of tx.claims.values()) {
    if (claim === null || uncounted === 0) continue;
    counts.push({ env, scope, key, generation: claim.generation, count: uncounted, lastAt: tx.at.now });
  }
  if (counts.length === 0) return counts;
  const rows = await tx.connection.find<ClaimName>(countFreeSql, named(counts));
  const written = new Set(rows.map(claimId));
  return counts.filter((each) => !written.has(claimId(each)));
}

/** The same for counts that were kept; waits for locked claims, in the one order in which every transaction locks them. */
export async function writeCounts(connection: Connection, counts: readonly DuplicateCount[]): Promise<void> {
  const inOrder = counts.toSorted((a, b) => lockOrder(a, b) || compareTexts(a.env, b.env));
  await connection.find(countAllSql, named(inOrder));
}

/** Several keys, in the one order in which everybody locks them. */
export async function lockClaims(
  tx: Transaction,
  env: string,
  keys: readonly { readonly scope: string; readonly key: string }[],
): Promise<void> {
  const inOrder = [...keys].sort(lockOrder);
  for (const { scope, key } of inOrder) await lockClaim(tx, env, scope, key);
}

export interface ExpectedAsk {
  readonly env: string;
  readonly ask: ClaimAsk;
  /** The claim's state once it is taken. */
  readonly state: Claim["state"];
  /** Whether nothing is written if the key is taken. */
  readonly mayShare: boolean;
}

/** Many keys that are about to be requested: those that are taken are read, the others locked. Of requests for one key the first counts. */
export async function lockExpected(tx: Transaction, expected: readonly ExpectedAsk[]): Promise<void> {
  const asks = new Map<string, ExpectedAsk>();
  for (const each of expected) {
    const id = idOf(each.env, each.ask.scope, each.ask.key);
    const known = tx.claims.get(id);
    if (known !== undefined && (known.isLocked || each.mayShare)) continue;
    const first = asks.get(id);
    if (first === undefined) asks.set(id, each);
    else if (first.mayShare && !each.mayShare) asks.set(id, { ...first, mayShare: false });
  }
  if (asks.size === 0) return;
  const inOrder = [...asks.values()].sort((a, b) => lockOrder(a.ask, b.ask) || compareTexts(a.env, b.env));
  const rows = await tx.connection.find<FoundRow & { readonly made: boolean }>(lockFreeSql, {
    now: tx.at.now,
    envs: inOrder.map(({ env }) => env),
    scopes: inOrder.map(({ ask }) => ask.scope),
    keys: inOrder.map(({ ask }) => indexable(ask.key)),
    holders: inOrder.map(({ ask }) => ask.holder),
    generations: inOrder.map(({ ask }) => ask.generation),
    states: inOrder.map(({ state }) => state),
    windows: inOrder.map(({ ask }) => ask.windowMs),
    helds: inOrder.map(({ ask }) => (ask.held ? 1 : 0)),
    shares: inOrder.map(({ mayShare }) => mayShare),
  });
  const taken: ExpectedAsk[] = [];
  for (const row of rows) {
    const { env, scope, key, made: isMade } = row;
    const id = idOf(env, scope, key);
    const claim = keep(tx, id, { env, scope, key, isMade, isLocked: true, claim: readClaim(row) });
    const each = asks.get(id)!;
    asks.delete(id);
    if (claim !== null && each.mayShare && isTakenFor(tx, claim, each)) taken.push(each);
  }
  const left = [...asks.values()];
  taken.push(...left);
  if (taken.length === 0) return;
  await Promise.all([readTaken(tx, left), readAnswers(tx, taken)]);
}

type FoundRow = ClaimRow & { readonly env: string };

const isTakenFor = (tx: Transaction, claim: Claim, { ask, state }: ExpectedAsk): boolean =>
  !askFor(tx.at, claim, ask, state).taken;

/** Claims of keys that were taken a moment ago. Who was let go of since is locked, like all that are free. */
async function readTaken(tx: Transaction, expected: readonly ExpectedAsk[]): Promise<void> {
  if (expected.length === 0) return;
  const rows = await tx.connection.find<FoundRow>(readClaimsSql, {
    envs: expected.map(({ env }) => env),
    scopes: expected.map(({ ask }) => ask.scope),
    keys: expected.map(({ ask }) => indexable(ask.key)),
  });
  const claims = new Map(rows.map((row) => [claimId(row), readClaim(row)]));
  for (const each of expected) {
    const { env, ask } = each;
    const { scope, key } = ask;
    const id = idOf(env, scope, key);
    const claim = claims.get(id);
    if (claim === undefined || !isTakenFor(tx, claim, each)) await lockClaim(tx, env, scope, key);
    else keep(tx, id, { env, scope, key, isMade: false, isLocked: false, claim });
  }
}

// Whoever has a singleton key finds out which function keys its holder has, and asks for them then.
const kindOf = (scope: string): number =>
  scope === eventScope || scope === webhookScope ? 0 : isSingletonScope(scope) ? 1 : 2;

/** The one order in which everybody locks keys. */
const lockOrder = (a: Pick<ClaimAsk, "scope" | "key">, b: Pick<ClaimAsk, "scope" | "key">): number =>
  kindOf(a.scope) - kindOf(b.scope) || compareTexts(a.scope, b.scope) || compareTexts(a.key, b.key);
