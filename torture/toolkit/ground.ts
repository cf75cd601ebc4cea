// The things that stay when the shop's process is gone: its database, the engine's store, and its notes. Time that has to pass is taken
// from the rows, for the database's clock is nobody's to move.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { chargesOf, deathsOf, type ShopPlace, shopTables } from "./stores.ts";

export interface Ground extends ShopPlace {
  rows(text: string): Promise<any[]>;
  run(text: string): Promise<void>;
  /** Ends the leases of a dead process: those of keys, and those of the engine's worker. */
  endLeases(): Promise<void>;
  /** Destination keys of an order's charges, in order. */
  charges(order: string): string[];
  /** The points at which processes died, in order. */
  deaths(): string[];
  remove(): Promise<void>;
}

const longerThanLeasesMs = 120_000;
const endLeasesSql = `
  update idempotency_keys
     set lease_until = lease_until - ${longerThanLeasesMs}, due_at = due_at - ${longerThanLeasesMs}
   where state = 'running' and lease_until > 0;
  update processed_webhook_events set due_at = due_at - ${longerThanLeasesMs} where state = 'processing';
  update idem_claims set lease_until = lease_until - ${longerThanLeasesMs} where lease_until > 0`;

const endClaimsSql = (claims: string): string =>
  `update ${claims} set lease_until = lease_until - ${longerThanLeasesMs} where scope = 'http' and lease_until is not null`;

export async function sqliteGround(): Promise<Ground> {
  const { folder, ...written } = makeFolder();
  const where = join(folder, "shop.db");
  const engine = join(folder, "engine.db");
  const db = new Database(where);
  db.pragma("journal_mode = WAL");
  db.exec(shopTables("sqlite"));
  return {
    dialect: "sqlite",
    where,
    engine: `sqlite:${engine}`,
    folder,
    ...written,
    rows: async (text) => db.prepare(text).all(),
    run: async (text) => void db.exec(text),
    async endLeases() {
      db.exec(endLeasesSql);
      // A dead worker's leases its next owner takes over at once; those of keys are the claimants'.
      if (!existsSync(engine)) return;
      const claims = new Database(engine);
      claims.exec(endClaimsSql("claims"));
      claims.close();
    },
    async remove() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Its last words may have reached the server: a lease that they extend must not be ended before.
const othersSql = `
  select count(*)::int as others from pg_stat_activity
   where datname = current_database() and backend_type = 'client backend' and application_name <> 'ground'`;

const goneMs = 30_000;

async function areGone(pool: pg.Pool): Promise<void> {
  const since = performance.now();
  while ((await pool.query(othersSql)).rows[0].others > 0) {
    if (performance.now() - since > goneMs) throw new Error(`a dead process still has sessions after ${goneMs} ms`);
    await pool.query("select pg_sleep(0.005)");
  }
}

/** In a database of its own, so that many stand on one server and each knows its sessions. */
export async function postgresGround(url: string, name: string): Promise<Ground> {
  const { folder, ...written } = makeFolder();
  const where = url.replace(/\/\w+$/, `/${name}`);
  const server = new pg.Client({ connectionString: url });
  await server.connect();
  await server.query(`create database ${name}`);
  await server.end();
  const pool = new pg.Pool({ connectionString: where, max: 2, application_name: "ground" });
  pool.on("error", () => {});
  await pool.query(shopTables("postgres"));
  return {
    dialect: "postgres",
    where,
    engine: `${where}?schema=engine&pool=2`,
    folder,
    ...written,
    rows: async (text) => (await pool.query(text)).rows,
    run: async (text) => void (await pool.query(text)),
    async endLeases() {
      await areGone(pool);
      await pool.query(endLeasesSql);
      const { rows } = await pool.query("select to_regclass('engine.workers') as found");
      if (rows[0].found === null) return;
      await pool.query(`update engine.workers set until = until - ${longerThanLeasesMs}`);
      await pool.query(endClaimsSql("engine.claims"));
    },
    async remove() {
      await pool.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeFolder(): Pick<Ground, "folder" | "charges" | "deaths"> {
  const folder = mkdtempSync(join(tmpdir(), "idem-shop-"));
  return {
    folder,
    charges: (order) =>
      linesOf(chargesOf(folder))
        .map((line) => line.split(" "))
        .filter(([of]) => of === order)
        .map(([, key]) => key!),
    deaths: () => linesOf(deathsOf(folder)),
  };
}

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
