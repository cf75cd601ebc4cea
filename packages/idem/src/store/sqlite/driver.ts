// Chooses the SQLite, and names what the store uses of it: each driver (drivers/) gives that and nothing else. Every refusal has SQLite's own
// name for it as its code (`SQLITE_BUSY`), with all three.
//
//   runtime                                              driver
//   Bun                                                  bun:sqlite
//   Node with a SQLite inside that is new enough; Deno   node:sqlite
//   every other Node                                     better-sqlite3, which people install themselves
//   IDEM_SQLITE=better-sqlite3 | node | bun              that one, or a refusal: for tests
import { errors } from "../../model/errors.ts";
import { chosenDriver, installedModule, runtime, runtimeModule } from "../../platform/driver-modules.ts";
import { type BetterSqlite3, betterSqlite3 } from "./drivers/better-sqlite3.ts";
import { type BunSqlite, bunSqlite } from "./drivers/bun-sqlite.ts";
import { type NodeSqlite, nodeSqlite } from "./drivers/node-sqlite.ts";

export const driverNames = ["better-sqlite3", "node", "bun"] as const;
export type DriverName = (typeof driverNames)[number];

export type Param = string | number | null;
export type Named = Readonly<Record<string, Param>>;

export interface OpenOptions {
  readonly readonly: boolean;
  /** The time that a statement waits by itself for somebody else's lock. */
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
