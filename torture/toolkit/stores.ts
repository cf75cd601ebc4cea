// The places of the shop's facts, each use of them a point to die at: its own database, the engine's store, and a file of charges.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Idem } from "idem";
import { type Adapter, type Dialect, pgAdapter, sqliteAdapter, tablesSql } from "idem/sql";
import { builtEngine } from "../engine.ts";
import type { Points } from "./points.ts";
import { watchedAdapter } from "./watched-store.ts";

export interface ShopPlace {
  readonly dialect: Dialect;
  /** A file, or an address for a pool. */
  readonly where: string;
  /** Of the engine's store, for the mode that needs one. */
  readonly engine: string;
  /** The folder of the notes on charges and deaths. */
  readonly folder: string;
}

export const chargesOf = (folder: string): string => join(folder, "charges.txt");
export const deathsOf = (folder: string): string => join(folder, "deaths.txt");

/** The toolkit's tables and the shop's own. */
export const shopTables = (dialect: Dialect): string => `
  ${tablesSql(dialect)};
  create table orders (id text not null);
  create table receipts (order_id text not null, charge text not null);`;

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

// Drivers and the engine are loaded where they are needed: half of a life's time would go into those that are not.
export async function openDatabase(
  { dialect, where }: ShopPlace,
  points: Points,
): Promise<{ adapter: Adapter<any>; close: () => Promise<void> }> {
  if (dialect === "postgres") {
    const { watchedPool } = await import("./watched-pool.ts");
    const pool = watchedPool(where, points);
    return { adapter: watchedAdapter(pgAdapter(pool), points), close: () => pool.end() };
  }
  const { default: Database } = await import("better-sqlite3");
  const db = new Database(where);
  db.pragma("journal_mode = WAL");
  db.pragma("busy_timeout = 5000");
  return { adapter: watchedAdapter(sqliteAdapter(db), points), close: async () => void db.close() };
}

export async function engineOf({ engine }: ShopPlace, points: Points): Promise<Idem> {
  const load = (file: string) => import(pathToFileURL(join(builtEngine, file)).href);
  const [{ Idem }, { nodePlatform }, { limits }] = await Promise.all([
    import("idem"),
    load("platform/node-platform.js"),
    load("engine/limits.js"),
  ]);
  // The process after a death looks for what it left; a test has no five seconds for it.
  Object.assign(limits, { sweepMs: 100, pollMs: 100 });
  const platform = { ...nodePlatform, point: (name: string) => points.reach(`engine:${name}`) };
  return new Idem({ id: "shop", store: engine, logger: silent, platform });
}

export function lazily<T>(make: () => Promise<T>): { get(): Promise<T>; ifOpen: Promise<T> | null } {
  const self = {
    ifOpen: null as Promise<T> | null,
    get: () => {
      self.ifOpen ??= make();
      return self.ifOpen;
    },
  };
  return self;
}
