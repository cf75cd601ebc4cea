// Where the claim of a key lies. Claims are appended, and keys come in no order: written one by one, a tree over them dirties a
// page for every key, which was most of what a key cost. So the newest claims are found through this map, and go into the tree
// (claim_keys) thousands at a time, in its order: a page is then written for many keys, not for one.
//
//   n ≤ meta 'claims-indexed' ──▶ in claim_keys          n above it ──▶ here, exact, read again at every start
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
const deleteFromTreeSql = "delete from claim_keys where env = ? and scope = ? and key = ?";
// Sorted first, so that neighbours in the tree are written together.
const fillTreeSql = `
  insert into claim_keys (env, scope, key, n)
  select env, scope, key, n from claims where n > ? and n <= ? order by env, scope, key`;

// A reader without the map reads this many rows to be sure (some 5 ms), and filling the tree takes some 50 ms, between two
// commits. Fewer would write more pages per key once the tree is large.
const newestMax = 32_768;

/** Finds the row of a key. */
export type FindClaimRow = (env: string, scope: string, key: string) => number | undefined;

const findBesideOwnerSql = `
  select n from claim_keys where env = :env and scope = :scope and key = :key
  union all
  select n from claims where n > ${indexedTo} and env = :env and scope = :scope and key = :key
  limit 1`;

/** For whoever looks at a file that another process writes: the tree, and then the claims that are not in it yet. */
export const findBesideOwner =
  (connection: Connection): FindClaimRow =>
  (env, scope, key) =>
    connection.find<{ n: number }>(findBesideOwnerSql, { env, scope, key })[0]?.n;

export class ClaimIndex {
  private readonly newest = new Map<string, number>();
  /** What this transaction changed, with what was there before, to take it back. */
  private readonly changes: { readonly name: string; readonly before: number | undefined }[] = [];
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
    const n = this.newest.get(nameOf(env, scope, key));
    if (n !== undefined || this.indexedTo === 0) return n;
    return this.connection.one<{ n: number }>(findInTreeSql, env, scope, key)?.n;
  };

  /** The number under which a claim of this key, which has none, is to be written. Numbers are never used again. */
  add(env: string, scope: string, key: string): number {
    this.last += 1;
    this.change(nameOf(env, scope, key), this.last);
    return this.last;
  }

  remove({ n, env, scope, key }: ClaimKeyRow): void {
    if (n <= this.indexedTo) this.connection.run(deleteFromTreeSql, env, scope, key);
    else this.change(nameOf(env, scope, key), undefined);
  }

  private change(name: string, n: number | undefined): void {
    this.changes.push({ name, before: this.newest.get(name) });
    this.set(name, n);
  }

  private set(name: string, n: number | undefined): void {
    if (n === undefined) this.newest.delete(name);
    else this.newest.set(name, n);
  }

  /** A place in the transaction to go back to. */
  get mark(): number {
    return this.changes.length;
  }

  noteRollback(mark: number): void {
    while (this.changes.length > mark) {
      const { name, before } = this.changes.pop()!;
      this.set(name, before);
    }
  }

  noteCommit(): void {
    this.changes.length = 0;
  }

  get isFull(): boolean {
    return this.newest.size >= this.max;
  }

  /** In a transaction of its own; `forgetNewest` once it is committed. */
  fillTree(): void {
    this.connection.run(fillTreeSql, this.indexedTo, this.last);
    this.connection.run(writeIndexedToSql, String(this.last));
  }

  forgetNewest(): void {
    this.indexedTo = this.last;
    this.newest.clear();
  }
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
