// One SQLite handle with its prepared statements. Durability is set here, read back here, and refused here:
// better-sqlite3 drops `synchronous` to NORMAL after the first write in WAL mode unless it is set (docs/reference/stores.md#durability-of-a-file).
import Database from "better-sqlite3";
import { errors } from "../../model/errors.ts";
import { makePrivate, preparePrivate } from "../../platform/private-files.ts";

// 3.51.3 mends a WAL-reset race that two connections checkpointing together can meet.
const versionMin = [3, 51, 3] as const;

// 16 MiB of 4 KiB pages: checkpoints stay short and the log stays well under its 64 MiB alarm.
const checkpointPages = 4_000;

// A long reader keeps the log from being begun again, and it grows; once it is, what is above this goes back to the disk. Twice what
// is usual, so that an ordinary checkpoint truncates nothing.
const logBytesMax = 2 * checkpointPages * 4_096;

// Long enough for any tool that means to be short; whoever opens a file has nothing better to do meanwhile.
const busyMsMax = 5_000;

// Enough for the right edges of all trees and the keys of half a million claims; more would not be this process's to take.
const cacheKib = 32 * 1024;

export type Param = string | number | null;

// A bound limit may change the plan, so SQLite compiles the statement anew for each binding (21 µs for one of a lease's instead of 1). A sum
// may not (docs/reference/stores.md).
const boundLimit = /\blimit (\?|:\w+)/g;

export class Connection {
  readonly db: Database.Database;
  private readonly statements = new Map<string, Database.Statement>();

  constructor(
    readonly path: string,
    options: { readonly: boolean; synchronous?: "FULL" | "NORMAL" },
  ) {
    if (!options.readonly && path !== ":memory:") {
      preparePrivate(path);
      // SQLite makes them like the file; these are of an earlier build.
      for (const ending of ["-wal", "-shm"]) makePrivate(`${path}${ending}`);
    }
    this.db = new Database(path, { readonly: options.readonly, timeout: busyMsMax });
    try {
      this.prepareHandle(options);
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  private prepareHandle(options: { readonly: boolean; synchronous?: "FULL" | "NORMAL" }): void {
    const { path } = this;
    const version = this.one<{ v: string }>("select sqlite_version() as v")!.v;
    if (isOlder(version)) {
      throw errors.STORE_NOT_DURABLE({ path, why: `SQLite ${version} is older than ${versionMin.join(".")}` });
    }
    if (options.readonly) return;
    if (path !== ":memory:") {
      this.db.pragma("journal_mode = WAL");
      this.expectPragma("journal_mode", "wal");
    }
    this.db.pragma(`synchronous = ${options.synchronous ?? "FULL"}`);
    if (options.synchronous === undefined) this.expectPragma("synchronous", 2);
    this.db.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    this.db.pragma(`journal_size_limit = ${logBytesMax}`);
    this.db.pragma(`cache_size = ${-cacheKib}`);
    this.db.pragma("temp_store = MEMORY");
  }

  /** How long a statement waits by itself for somebody else's lock. */
  set busyMs(ms: number) {
    this.db.pragma(`busy_timeout = ${ms}`);
  }

  private expectPragma(name: string, wanted: string | number): void {
    const found = this.db.pragma(name, { simple: true });
    if (found !== wanted) {
      throw errors.STORE_NOT_DURABLE({ path: this.path, why: `${name} is ${String(found)} instead of ${wanted}` });
    }
  }

  private prepare(sql: string): Database.Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.db.prepare(sql.replaceAll(boundLimit, "$& + 0"));
      this.statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs a write and says how many rows it changed. */
  run(sql: string, ...params: Param[]): number {
    return this.prepare(sql).run(...params).changes;
  }

  one<Row>(sql: string, ...params: Param[]): Row | undefined {
    return this.prepare(sql).get(...params) as Row | undefined;
  }

  all<Row>(sql: string, ...params: Param[]): Row[] {
    return this.prepare(sql).all(...params) as Row[];
  }

  /** For statements whose parameters have names; what they do not name is passed over. */
  find<Row>(sql: string, named: Readonly<Record<string, Param>>): Row[] {
    const statement = this.prepare(sql);
    if (statement.reader) return statement.all(named) as Row[];
    statement.run(named);
    return [];
  }

  close(): void {
    this.statements.clear();
    this.db.close();
  }
}

function isOlder(version: string): boolean {
  const parts = version.split(".").map(Number);
  for (let i = 0; i < versionMin.length; i++) {
    const difference = (parts[i] ?? 0) - versionMin[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}
