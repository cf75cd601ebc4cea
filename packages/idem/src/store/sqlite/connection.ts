// One SQLite handle with its prepared statements. Durability is set here, read back here, and refused here:
// better-sqlite3 drops `synchronous` to NORMAL after the first write in WAL mode unless it is set (docs/reference/stores.md#durability-of-a-file).
import { errors } from "../../model/errors.ts";
import { makePrivate, preparePrivate } from "../../platform/private-files.ts";
import { type Handle, isOlder, type Param, type Prepared, pragma, sqliteDriver, sqliteMin } from "./driver.ts";

// 16 MiB of 4 KiB pages: checkpoints stay short and the log stays well under its 64 MiB alarm.
const checkpointPages = 4_000;

// A long reader keeps the log from being begun again, and it grows; once it is, what is above this goes back to the disk. Twice what
// is usual, so that an ordinary checkpoint truncates nothing.
const logBytesMax = 2 * checkpointPages * 4_096;

// Long enough for any tool that means to be short; a process that opens a file has nothing better to do meanwhile.
const busyMsMax = 5_000;

// Enough for the right edges of all trees and the keys of half a million claims; more would not be this process's to take.
const cacheKib = 32 * 1024;

// A bound limit may change the plan, so SQLite compiles the statement anew for each binding (21 µs for one of a lease's instead of 1). A sum
// may not (docs/reference/stores.md).
const boundLimit = /\blimit (\?|:\w+)/g;

export class Connection {
  readonly db: Handle;
  private readonly statements = new Map<string, Prepared>();

  constructor(
    readonly path: string,
    options: { readonly: boolean; synchronous?: "FULL" | "NORMAL" },
  ) {
    if (!options.readonly && path !== ":memory:") {
      preparePrivate(path);
      // SQLite makes them like the file; these are of an earlier build.
      for (const ending of ["-wal", "-shm"]) makePrivate(`${path}${ending}`);
    }
    this.db = sqliteDriver().open(path, { readonly: options.readonly, busyMs: busyMsMax });
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
      throw errors.STORE_NOT_DURABLE({ path, why: `SQLite ${version} is older than ${sqliteMin}` });
    }
    if (options.readonly) return;
    if (path !== ":memory:") {
      this.db.exec("pragma journal_mode = WAL");
      this.expectPragma("journal_mode", "wal");
    }
    this.pragma(`synchronous = ${options.synchronous ?? "FULL"}`);
    if (options.synchronous === undefined) this.expectPragma("synchronous", 2);
    // On macOS a plain sync ends in the disk's own memory, which a power cut empties; these go through it. Elsewhere they do nothing.
    for (const name of ["fullfsync", "checkpoint_fullfsync"]) {
      this.pragma(`${name} = on`);
      this.expectPragma(name, 1);
    }
    this.db.exec(`pragma wal_autocheckpoint = ${checkpointPages}`);
    this.db.exec(`pragma journal_size_limit = ${logBytesMax}`);
    this.db.exec(`pragma cache_size = ${-cacheKib}`);
    this.db.exec("pragma temp_store = MEMORY");
  }

  /** The time that a statement waits by itself for somebody else's lock. */
  set busyMs(ms: number) {
    this.db.exec(`pragma busy_timeout = ${ms}`);
  }

  /** The first cell that it answers with. */
  pragma(text: string): unknown {
    return pragma(this.db, text);
  }

  private expectPragma(name: string, wanted: string | number): void {
    const found = this.pragma(name);
    if (found !== wanted) {
      throw errors.STORE_NOT_DURABLE({ path: this.path, why: `${name} is ${String(found)} instead of ${wanted}` });
    }
  }

  private prepare(sql: string): Prepared {
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
