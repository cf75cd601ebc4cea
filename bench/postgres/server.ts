// The one PostgreSQL that everything here is measured on. Each engine, and each state of a store, has a database of its own in it, so that
// the server's counters, which are kept by database, speak of one thing; what watches sits in yet another one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import type * as LocalPostgres from "../../scripts/local-postgres.mjs";
import { root } from "../machine.ts";

export interface BenchServer {
  /** Asks without being counted with anybody. */
  readonly admin: pg.Client;
  readonly settings: Readonly<Record<string, string>>;
  /** Of the process that all others of the server are children of. */
  readonly pid: number;
  urlOf(database: string): string;
  createDatabase(name: string): Promise<void>;
  dropDatabase(name: string): Promise<void>;
  /** A session in a database, ended afterwards. */
  inside<T>(database: string, body: (client: pg.Client) => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

const shown = [
  ...[
    "server_version",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "shared_buffers",
    "max_wal_size",
  ],
  ...["checkpoint_timeout", "autovacuum_naptime", "max_connections", "wal_sync_method", "io_method"],
];

export async function startServer(): Promise<BenchServer> {
  const script = pathToFileURL(join(root, "scripts", "local-postgres.mjs")).href;
  const { startLocalPostgres } = (await import(script)) as typeof LocalPostgres;
  const server = await startLocalPostgres({
    isOnDisk: true,
    settings: { shared_buffers: "1GB", max_wal_size: "4GB", shared_preload_libraries: "pg_stat_statements" },
  });
  try {
    const admin = new pg.Client({ connectionString: server.url });
    admin.on("error", () => {});
    await admin.connect();
    await admin.query("create extension pg_stat_statements");
    // Counts nothing until it is asked to: it would cost everybody a few percent.
    await trackStatements(admin, false);
    const settings = await settingsOf(admin);
    for (const name of ["fsync", "synchronous_commit", "full_page_writes"]) {
      if (settings[name] !== "on") throw new Error(`${name} is ${settings[name]}: these figures would not count`);
    }
    const { rows } = await admin.query<{ folder: string }>("select current_setting('data_directory') as folder");
    const pid = Number(readFileSync(join(rows[0]!.folder, "postmaster.pid"), "utf8").split("\n")[0]);
    const urlOf = (database: string) => server.url.replace(/\/postgres$/, `/${database}`);
    return {
      admin,
      settings,
      pid,
      urlOf,
      createDatabase: async (name) => {
        await admin.query(`create database ${name}`);
      },
      dropDatabase: async (name) => {
        await admin.query(`drop database ${name} with (force)`);
      },
      inside: async (database, body) => {
        const client = new pg.Client({ connectionString: urlOf(database) });
        await client.connect();
        try {
          return await body(client);
        } finally {
          await client.end();
        }
      },
      remove: async () => {
        await admin.end();
        await server.remove();
      },
    };
  } catch (error) {
    await server.remove();
    throw error;
  }
}

export async function trackStatements(admin: pg.Client, isTracked: boolean): Promise<void> {
  await admin.query(`alter system set pg_stat_statements.track = '${isTracked ? "top" : "none"}'`);
  await admin.query("select pg_reload_conf()");
}

async function settingsOf(admin: pg.Client): Promise<Record<string, string>> {
  const { rows } = await admin.query<{ name: string; value: string }>(
    "select name, current_setting(name) as value from pg_settings where name = any($1)",
    [shown],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}
