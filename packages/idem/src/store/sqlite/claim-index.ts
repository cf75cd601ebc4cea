// Finds the claim of a key. Claims are appended, and keys come in no order: written one by one, a tree over them dirties a
// page for every key, which was most of what a key cost. So the newest claims are found through this map, and go into the tree
// (claim_keys) thousands at a time, in its order: a page is then written for many keys, not for one.
//
//   n ≤ meta 'claims-indexed' ──▶ in claim_keys          n above it ──▶ here, exact, read again at every start
//   newest ──full──▶ filling ──a piece after each commit, the last one moves 'claims-indexed'──▶ in claim_keys
//
// Sound because one process owns the file, and the epoch is checked in every transaction. Nobody else may write a claim.
import type { Connection } from "./connection.ts";

/** The newest claim that is in the tree. */
export const indexedTo = "(select cast(value as integer) from meta where name = 'claims-indexed')";
const indexedToSql = `select ${indexedTo} as n`;
const writeIndexedToSql = "update meta set value = ? where name = 'claims-indexed'";
const lastSql = "select max(n) as n from claims";
const newestSql = "select n, env, scope, key from claims where n > ?";
const findInTreeSql = "select n from claim_keys where env = ? and scope = ? and key = ?";
const deleteFromTreeSql = "delete from claim_keys where env = ? and scope = ? and key = ? and n = ?";

const makeSortedSql = `
  create temp table if not exists sorted_claims (place integer primary key, env text, scope text, key text, n integer)`;
const emptySortedSql = "delete from temp.sorted_claims";
const sortSql = `
  insert into temp.sorted_claims (env, scope, key, n)
  select env, scope, key, n from claims where n > ? and n <= ? order by env, scope, key`;
// In the order of the tree: neighbours are written together. What was deleted meanwhile stays out; what an owner that was
// killed half-way has put in stays as it is.
const fillTreeSql = `
  insert into claim_keys (env, scope, key, n)
  select s.env, s.scope, s.key, s.n from temp.sorted_claims s join claims c on c.n = s.n
   where s.place > ? and s.place <= ?
  on conflict do nothing`;

// A reader without the map reads up to this many rows to be sure: 3 ms. Fewer would write more pages per key once the tree is
// large: with this many, a million keys in the tree, a page is written for every third.
const newestMax = 32_768;
// The tree is filled in so many pieces, one after each commit: all at once would hold up the next commit for 0.3 s at a million.
const piecesPerFill = 32;

/** Finds the row of a key. */
export type FindClaimRow = (env: string, scope: string, key: string) => number | undefined;

const findBesideOwnerSql = `
  select n from claim_keys where env = :env and scope = :scope and key = :key
  union all
  select n from claims where n > ${indexedTo} and env = :env and scope = :scope and key = :key
  limit 1`;

/** For readers of a file that another process writes: the tree, and then the claims that are not in it yet. */
export const findBesideOwner =
  (connection: Connection): FindClaimRow =>
  (env, scope, key) =>
    connection.find<{ n: number }>(findBesideOwnerSql, { env, scope, key })[0]?.n;

type Names = Map<string, number>;

export class ClaimIndex {
  private newest: Names = new Map();
  /** On their way into the tree: no claim is added here any more. */
  private filling: { readonly names: Names; readonly to: number; done: number } | null = null;
  /** Changes of this transaction, each with what was there before, to take it back. */
  private readonly changes: { readonly names: Names; readonly name: string; readonly before: number | undefined }[] =
    [];
  /** Of all claims up to this one, those that are left are in the tree. */
  private indexedTo: number;
  private last: number;

  constructor(
    private readonly connection: Connection,
    private readonly max = newestMax,
  ) {
    this.indexedTo = connection.one<{ n: number }>(indexedToSql)!.n;
    this.last = Math.max(this.indexedTo, connection.one<{ n: number | null }>(lastSql)!.n ?? 0);
    for (const { n, env, scope, key } of connection.all<ClaimKeyRow>(newestSql, this.indexedTo)) {
      this.newest.set(nameOf(env, scope, key), n);
    }
  }

  readonly find: FindClaimRow = (env, scope, key) => {
    const name = nameOf(env, scope, key);
    const n = this.newest.get(name) ?? this.filling?.names.get(name);
    if (n !== undefined || this.indexedTo === 0) return n;
    return this.connection.one<{ n: number }>(findInTreeSql, env, scope, key)?.n;
  };

  /** The number under which a claim of this key, which has none, is to be written. Numbers are never used again. */
  add(env: string, scope: string, key: string): number {
    this.last += 1;
    this.change(this.newest, nameOf(env, scope, key), this.last);
    return this.last;
  }

  /** The claim's row was deleted. */
  remove({ n, env, scope, key }: ClaimKeyRow): void {
    const name = nameOf(env, scope, key);
    for (const names of [this.newest, this.filling?.names]) {
      if (names?.get(name) === n) this.change(names, name, undefined);
    }
    this.connection.run(deleteFromTreeSql, env, scope, key, n);
  }

  private change(names: Names, name: string, n: number | undefined): void {
    this.changes.push({ names, name, before: names.get(name) });
    set(names, name, n);
  }

  /** A place in the transaction to go back to. */
  get mark(): number {
    return this.changes.length;
  }

  noteRollback(mark: number): void {
    while (this.changes.length > mark) {
      const { names, name, before } = this.changes.pop()!;
      set(names, name, before);
    }
  }

  noteCommit(): void {
    this.changes.length = 0;
  }

  /** Whether there is a piece of the tree to fill. Between two transactions. */
  get isDue(): boolean {
    if (this.filling === null && this.newest.size >= this.max) this.beginFill();
    return this.filling !== null;
  }

  private beginFill(): void {
    this.connection.run(makeSortedSql);
    this.connection.run(emptySortedSql);
    this.connection.run(sortSql, this.indexedTo, this.last);
    this.filling = { names: this.newest, to: this.last, done: 0 };
    this.newest = new Map();
  }

  /** In a transaction of its own; `noteFilled` once it is committed. */
  fillPiece(): void {
    const { done, to } = this.filling!;
    this.connection.run(fillTreeSql, done, done + this.piece);
    if (this.isLastPiece) this.connection.run(writeIndexedToSql, String(to));
  }

  noteFilled(): void {
    const filling = this.filling!;
    if (this.isLastPiece) {
      this.indexedTo = filling.to;
      this.filling = null;
    } else filling.done += this.piece;
  }

  private get piece(): number {
    return Math.ceil(this.max / piecesPerFill);
  }

  // No row was left out of the sorting but such as were deleted, and their numbers are among these.
  private get isLastPiece(): boolean {
    const { done, to } = this.filling!;
    return done + this.piece >= to - this.indexedTo;
  }
}

function set(names: Names, name: string, n: number | undefined): void {
  if (n === undefined) names.delete(name);
  else names.set(name, n);
}

export interface ClaimKeyRow {
  readonly n: number;
  readonly env: string;
  readonly scope: string;
  readonly key: string;
}

// Lengths first: no two keys share a name, whatever they contain.
const nameOf = (env: string, scope: string, key: string): string =>
  `${env.length},${scope.length},${env}${scope}${key}`;
