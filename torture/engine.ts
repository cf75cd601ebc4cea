// The engine under test, loaded from a folder: the built package, or a copy of it with a defect.
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { limits } from "../packages/idem/modules/engine/limits.js";
import type * as Index from "../packages/idem/modules/index.js";
import type * as NodePlatform from "../packages/idem/modules/platform/node-platform.js";
import type { CrashPoint, Platform } from "../packages/idem/modules/platform/platform.js";
import type { RunMemo } from "../packages/idem/modules/store/leases.js";
import type * as PostgresAddress from "../packages/idem/modules/store/postgres/address.js";
import type * as PostgresConnection from "../packages/idem/modules/store/postgres/connection.js";
import type * as PostgresHealth from "../packages/idem/modules/store/postgres/health-reads.js";
import type * as PostgresStore from "../packages/idem/modules/store/postgres/postgres-store.js";
import type * as PostgresSessions from "../packages/idem/modules/store/postgres/sessions.js";
import type * as PostgresStatement from "../packages/idem/modules/store/postgres/statement.js";
import type { StoreReads } from "../packages/idem/modules/store/reads.js";
import type * as Core from "../packages/idem/modules/store/sqlite/core.js";
import type * as Driver from "../packages/idem/modules/store/sqlite/driver.js";
import type * as Health from "../packages/idem/modules/store/sqlite/health-reads.js";
import type * as Migrations from "../packages/idem/modules/store/sqlite/migrations.js";
import type * as ReadOnly from "../packages/idem/modules/store/sqlite/read-only-store.js";
import type * as Thread from "../packages/idem/modules/store/sqlite/thread-store.js";

export type { CrashPoint, Platform, RunMemo, StoreReads };
export type Idem = InstanceType<typeof Index.Idem>;

export interface EngineUnderTest {
  readonly Idem: typeof Index.Idem;
  readonly nodePlatform: typeof NodePlatform.nodePlatform;
  readonly openThreadStore: typeof Thread.openThreadStore;
  readonly openReadOnlyStore: typeof ReadOnly.openReadOnlyStore;
  readonly SqliteCore: typeof Core.SqliteCore;
  readonly health: typeof Health;
  readonly migrations: ReturnType<typeof Migrations.loadMigrations>;
}

/** The repository's root, from torture/ as well as from torture/dist/. */
export const root = (() => {
  const here = dirname(fileURLToPath(import.meta.url));
  return here.endsWith("dist") ? join(here, "..", "..") : join(here, "..");
})();

/** A program of this folder, as a process runs it. */
export const program = (name: string): string => join(root, "torture", "dist", `${name}.js`);

export const builtEngine = join(root, "packages", "idem", "modules");

const loaderOf =
  (folder: string) =>
  (file: string): Promise<any> =>
    import(pathToFileURL(join(folder, file)).href);

/** The SQLite of the runtime that this is. */
export const loadDriver = async (): Promise<ReturnType<typeof Driver.sqliteDriver>> =>
  ((await loaderOf(builtEngine)("store/sqlite/driver.js")) as typeof Driver).sqliteDriver();

export async function loadEngine(folder = builtEngine): Promise<EngineUnderTest> {
  const load = loaderOf(folder);
  const [index, platform, thread, readOnly, core, health, migrations] = await Promise.all([
    load("index.js"),
    load("platform/node-platform.js"),
    load("store/sqlite/thread-store.js"),
    load("store/sqlite/read-only-store.js"),
    load("store/sqlite/core.js"),
    load("store/sqlite/health-reads.js"),
    load("store/sqlite/migrations.js"),
  ]);
  return {
    Idem: index.Idem,
    nodePlatform: platform.nodePlatform,
    openThreadStore: thread.openThreadStore,
    openReadOnlyStore: readOnly.openReadOnlyStore,
    SqliteCore: core.SqliteCore,
    health,
    migrations: migrations.loadMigrations(),
  };
}

/** The same engine over PostgreSQL. */
export interface NodeUnderTest {
  readonly Idem: typeof Index.Idem;
  readonly nodePlatform: typeof NodePlatform.nodePlatform;
  /** The engine's own; a process that changes them changes its engine. */
  readonly limits: { -readonly [Name in keyof typeof limits]: number };
  readonly openPostgresStore: typeof PostgresStore.openPostgresStore;
  readonly readAddress: typeof PostgresAddress.readAddress;
  readonly poolFor: typeof PostgresSessions.poolFor;
  readonly Connection: typeof PostgresConnection.Connection;
  readonly Statements: typeof PostgresStatement.Statements;
  readonly health: typeof PostgresHealth;
}

export async function loadNode(folder = builtEngine): Promise<NodeUnderTest> {
  const load = loaderOf(folder);
  const [index, platform, { limits }, store, address, sessions, connection, statement, health] = await Promise.all([
    load("index.js"),
    load("platform/node-platform.js"),
    load("engine/limits.js"),
    load("store/postgres/postgres-store.js"),
    load("store/postgres/address.js"),
    load("store/postgres/sessions.js"),
    load("store/postgres/connection.js"),
    load("store/postgres/statement.js"),
    load("store/postgres/health-reads.js"),
  ]);
  return {
    Idem: index.Idem,
    nodePlatform: platform.nodePlatform,
    limits,
    openPostgresStore: store.openPostgresStore,
    readAddress: address.readAddress,
    poolFor: sessions.poolFor,
    Connection: connection.Connection,
    Statements: statement.Statements,
    health,
  };
}

/** Every named crash point; the compiler refuses a list that misses one. */
const points: Record<CrashPoint, true> = {
  "ingest:before-commit": true,
  "ingest:after-commit": true,
  "lease:after-commit": true,
  "step:before-attempt": true,
  "step:before-commit": true,
  "step:after-commit": true,
  "suspend:before-commit": true,
  "suspend:after-commit": true,
  "finish:before-commit": true,
  "finish:after-commit": true,
  "deliver:before-commit": true,
  "deliver:after-commit": true,
  "rescue:after-commit": true,
};
export const crashPoints = Object.keys(points) as CrashPoint[];
