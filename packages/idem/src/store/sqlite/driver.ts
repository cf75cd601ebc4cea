// The one place that knows which SQLite this is. What the store uses of a driver stands here and nowhere else; whatever is refused has SQLite's own
// name for it as its code (`SQLITE_BUSY`), with all three.
//
//   runtime                                              driver
//   Bun                                                  bun:sqlite
//   Node with a SQLite inside that is new enough; Deno   node:sqlite
//   every other Node                                     better-sqlite3, which people install themselves
//   IDEM_SQLITE=better-sqlite3 | node | bun              that one, or a refusal: for tests
import { errors } from "../../model/errors.ts";
import { chosenDriver, installedModule, runtime, runtimeModule } from "../../platform/driver-modules.ts";
import { resultName, resultOfMessage } from "./result-names.ts";

export const driverNames = ["better-sqlite3", "node", "bun"] as const;
export type DriverName = (typeof driverNames)[number];

export type Param = string | number | null;
export type Named = Readonly<Record<string, Param>>;

export interface OpenOptions {
  readonly readonly: boolean;
  /** How long a statement waits by itself for somebody else's lock. */
  readonly busyMs: number;
  /** Refuses instead of making a file. */
  readonly mustExist?: boolean;
}

export interface Driver {
  readonly name: DriverName;
  open(path: string, options: OpenOptions): Handle;
}

export interface Prepared {
  /** Whether it gives rows. */
  readonly reader: boolean;
  run(...params: readonly (Param | Named)[]): { readonly changes: number };
  get(...params: readonly (Param | Named)[]): unknown;
  all(...params: readonly (Param | Named)[]): unknown[];
}

export interface Handle {
  readonly isOpen: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): Prepared;
  /** Any number of statements, their rows passed over. */
  exec(sql: string): void;
  /** Rows as lists of cells, one after another. */
  cells(sql: string): Iterable<Param[]>;
  /** One snapshot of everything, into an empty file. */
  backup(target: string, onProgress: (done: number, total: number) => void): Promise<void>;
  /** With everything that was prepared: no lock stays. */
  close(): void;
}

/** The first cell that a pragma answers with; nothing where it only sets. */
export function pragma(handle: Handle, text: string): unknown {
  const statement = handle.prepare(`pragma ${text}`);
  if (statement.reader) return Object.values((statement.get() as object | undefined) ?? {})[0];
  statement.run();
  return undefined;
}

/** Everything or nothing, and the only writer meanwhile. */
export function immediately(handle: Handle, body: () => void): void {
  handle.exec("begin immediate");
  try {
    body();
    handle.exec("commit");
  } catch (error) {
    if (handle.inTransaction) handle.exec("rollback");
    throw error;
  }
}

// 3.51.3 mends a WAL-reset race that two connections checkpointing together can meet.
const versionMin = [3, 51, 3] as const;
export const sqliteMin = versionMin.join(".");

export function isOlder(version: string): boolean {
  const parts = version.split(".").map(Number);
  for (let i = 0; i < versionMin.length; i++) {
    const difference = (parts[i] ?? 0) - versionMin[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const load: Readonly<Record<DriverName, () => Driver>> = {
  "better-sqlite3": () => betterSqlite3(installedModule("better-sqlite3") as BetterSqlite3),
  node: () => nodeSqlite(runtimeModule("node:sqlite") as NodeSqlite),
  bun: () => bunSqlite(runtimeModule("bun:sqlite") as BunSqlite),
};

let loaded: Driver | null = null;

/** The same for the whole life of a thread. */
export function sqliteDriver(): Driver {
  loaded ??= chooseDriver({ chosen: chosenDriver(), runtime: runtime(), load });
  return loaded;
}

export interface Surroundings {
  readonly chosen: string | undefined;
  readonly runtime: ReturnType<typeof runtime>;
  readonly load: Readonly<Record<DriverName, () => Driver>>;
}

export function chooseDriver({ chosen, runtime, load }: Surroundings): Driver {
  const give = (name: DriverName, before = ""): Driver => {
    try {
      return load[name]();
    } catch (error) {
      const { code, message } = error as { code?: unknown; message?: string };
      const isMissing = code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND";
      const module = name === "better-sqlite3" ? name : `${name}:sqlite`;
      const what = isMissing ? "is not installed" : `does not load: ${String(message).split("\n")[0]!}`;
      throw errors.STORE_DRIVER_UNUSABLE({ why: `${before}${module} ${what}` }, { cause: error });
    }
  };
  if (chosen !== undefined && chosen !== "") {
    const name = driverNames.find((each) => each === chosen);
    if (name !== undefined) return give(name, `IDEM_SQLITE=${chosen} on ${runtime.name}: `);
    const why = `IDEM_SQLITE is "${chosen}", which is none of ${driverNames.join(", ")}`;
    throw errors.STORE_DRIVER_UNUSABLE({ why });
  }
  if (runtime.kind === "bun") return give("bun");
  const inside = insideNode(load.node);
  if (typeof inside !== "string") return inside;
  return give("better-sqlite3", `${runtime.name} has ${inside}, and `);
}

/** Node's own, or why it is not used. */
function insideNode(load: () => Driver): Driver | string {
  let driver: Driver;
  try {
    driver = load();
  } catch {
    return "no SQLite inside";
  }
  const version = versionOf(driver);
  return isOlder(version) ? `SQLite ${version} inside, older than ${sqliteMin}` : driver;
}

function versionOf(driver: Driver): string {
  const handle = driver.open(":memory:", { readonly: false, busyMs: 0 });
  try {
    return (handle.prepare("select sqlite_version() as v").get() as { v: string }).v;
  } finally {
    handle.close();
  }
}

// ---------------------------------------------------------------------------------------------------- better-sqlite3

interface BetterSqlite3 {
  new (path: string, options: { readonly: boolean; timeout: number; fileMustExist: boolean }): BetterDatabase;
}

interface BetterDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): Prepared & { raw(): { iterate(): Iterable<Param[]> } };
  exec(sql: string): void;
  backup(
    target: string,
    options: { progress: (pages: { totalPages: number; remainingPages: number }) => number },
  ): Promise<unknown>;
  close(): void;
}

// 4 MiB between two looks at the event loop.
const pagesPerStep = 1_000;

/** Its statements are ours as they are: nothing stands between on the path of every run. */
function betterSqlite3(Database: BetterSqlite3): Driver {
  return {
    name: "better-sqlite3",
    open: (path, { readonly, busyMs, mustExist }) => {
      const db = new Database(path, { readonly, timeout: busyMs, fileMustExist: mustExist ?? false });
      return {
        get isOpen() {
          return db.open;
        },
        get inTransaction() {
          return db.inTransaction;
        },
        prepare: (sql) => db.prepare(sql),
        exec: (sql) => db.exec(sql),
        cells: (sql) => db.prepare(sql).raw().iterate(),
        backup: (target, onProgress) =>
          inSnapshot(db, () =>
            db.backup(target, {
              progress: ({ totalPages, remainingPages }) => {
                onProgress(totalPages - remainingPages, totalPages);
                return pagesPerStep;
              },
            }),
          ),
        close: () => db.close(),
      };
    },
  };
}

/**
 * The open read transaction pins one snapshot: without it every commit of the owner would make SQLite begin its copy again, and a busy
 * store would never be copied.
 */
async function inSnapshot(db: Pick<Handle, "exec">, copy: () => Promise<unknown>): Promise<void> {
  db.exec("begin");
  try {
    db.exec("select 1 from sqlite_schema limit 1");
    await copy();
  } finally {
    db.exec("commit");
  }
}

// -------------------------------------------------------------------------------------------------------- node:sqlite

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean; timeout: number }) => NodeDatabase;
  backup(
    db: NodeDatabase,
    target: string,
    options: { rate: number; progress: (pages: { totalPages: number; remainingPages: number }) => void },
  ): Promise<unknown>;
}

interface NodeDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}

interface NodeStatement {
  run(...params: readonly unknown[]): { readonly changes: number };
  get(...params: readonly unknown[]): unknown;
  all(...params: readonly unknown[]): unknown[];
  iterate(): Iterable<unknown>;
  columns(): readonly unknown[];
  setReturnArrays(on: boolean): void;
  setAllowUnknownNamedParameters(on: boolean): void;
}

function nodeSqlite({ DatabaseSync, backup }: NodeSqlite): Driver {
  return {
    name: "node",
    open: (path, { readonly, busyMs, mustExist }) => {
      if (mustExist === true) named(() => new DatabaseSync(path, { readOnly: true, timeout: busyMs }).close());
      const db = named(() => new DatabaseSync(path, { readOnly: readonly, timeout: busyMs }));
      const exec = (sql: string) => named(() => db.exec(sql));
      return {
        get isOpen() {
          return db.isOpen;
        },
        get inTransaction() {
          return db.isTransaction;
        },
        prepare: (sql) => new NodePrepared(named(() => db.prepare(sql))),
        exec,
        *cells(sql) {
          const statement = named(() => db.prepare(sql));
          statement.setReturnArrays(true);
          yield* statement.iterate() as Iterable<Param[]>;
        },
        backup: (target, onProgress) =>
          inSnapshot({ exec }, () =>
            backup(db, target, {
              rate: pagesPerStep,
              progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
            }).catch((error: unknown) => {
              throw withName(error);
            }),
          ),
        close: () => db.close(),
      };
    },
  };
}

class NodePrepared implements Prepared {
  readonly reader: boolean;

  constructor(private readonly statement: NodeStatement) {
    this.reader = statement.columns().length > 0;
    statement.setAllowUnknownNamedParameters(true);
  }

  run(...params: readonly unknown[]): { readonly changes: number } {
    try {
      return this.statement.run(...params);
    } catch (error) {
      throw withName(error);
    }
  }

  get(...params: readonly unknown[]): unknown {
    try {
      return this.statement.get(...params);
    } catch (error) {
      throw withName(error);
    }
  }

  all(...params: readonly unknown[]): unknown[] {
    try {
      return this.statement.all(...params);
    } catch (error) {
      throw withName(error);
    }
  }
}

function named<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw withName(error);
  }
}

/** Node tells SQLite's number, Deno only of a prepared statement. */
function withName(error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: unknown; message?: unknown };
  if (code !== "ERR_SQLITE_ERROR") return error;
  const number = typeof errcode === "number" ? errcode : resultOfMessage(String(message));
  return Object.assign(error as Error, { code: resultName(number) });
}

// --------------------------------------------------------------------------------------------------------- bun:sqlite

interface BunSqlite {
  readonly Database: new (
    path: string,
    options: { readonly?: boolean; readwrite?: boolean; create?: boolean; strict: boolean },
  ) => BunDatabase;
}

interface BunDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): BunStatement;
  exec(sql: string): void;
  close(): void;
}

interface BunStatement {
  readonly columnNames: readonly string[];
  run(...params: readonly unknown[]): { readonly changes: number };
  get(...params: readonly unknown[]): unknown;
  all(...params: readonly unknown[]): unknown[];
  iterate(): Iterable<Readonly<Record<string, Param>>>;
  finalize(): void;
}

function bunSqlite({ Database }: BunSqlite): Driver {
  return {
    name: "bun",
    open: (path, { readonly, busyMs, mustExist }) => {
      const create = mustExist !== true;
      const db = new Database(path, readonly ? { readonly, strict: true } : { readwrite: true, create, strict: true });
      // One that is not finalised keeps the file open, and its locks, behind a closed database.
      const prepared = new Set<BunStatement>();
      let isOpen = true;
      const handle: Handle = {
        get isOpen() {
          return isOpen;
        },
        get inTransaction() {
          return db.inTransaction;
        },
        prepare: (sql) => {
          const statement = db.prepare(sql);
          prepared.add(statement);
          return new BunPrepared(statement);
        },
        exec: (sql) => void db.exec(sql),
        *cells(sql) {
          const statement = db.prepare(sql);
          try {
            const names = statement.columnNames;
            for (const row of statement.iterate()) yield names.map((name) => row[name]!);
          } finally {
            statement.finalize();
          }
        },
        // It has no online copy page by page; this is one statement, and so one snapshot.
        backup: async (target, onProgress) => {
          db.exec(`vacuum into '${target.replaceAll("'", "''")}'`);
          onProgress(1, 1);
        },
        close: () => {
          isOpen = false;
          for (const statement of prepared) statement.finalize();
          prepared.clear();
          db.close();
        },
      };
      handle.exec(`pragma busy_timeout = ${busyMs}`);
      return handle;
    },
  };
}

class BunPrepared implements Prepared {
  readonly reader: boolean;

  constructor(private readonly statement: BunStatement) {
    this.reader = statement.columnNames.length > 0;
  }

  run(...params: readonly unknown[]): { readonly changes: number } {
    return this.statement.run(...params);
  }

  get(...params: readonly unknown[]): unknown {
    return this.statement.get(...params) ?? undefined;
  }

  all(...params: readonly unknown[]): unknown[] {
    return this.statement.all(...params);
  }
}
