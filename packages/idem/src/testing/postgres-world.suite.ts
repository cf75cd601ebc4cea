// A real server for the tests of one file: in each test a schema of its own for the engine, one for the user's own tables, and as many
// clients as it wants, each a node.
import pg from "pg";
import { afterAll, beforeAll, onTestFinished, vi } from "vitest";
import { limits } from "../engine/limits.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import type { Pg } from "../store/postgres/sessions.ts";
import type { Store } from "../store/store.ts";
import { type PostgresDatabase, postgresDatabase } from "./shared-postgres.suite.ts";

export interface PostgresWorld {
  readonly url: string;
  /** Of the engine's tables. */
  readonly schema: string;
  /** A node; `over` may stand between it and its store. */
  node(options?: { readonly pg?: Pg; readonly url?: string; readonly over?: (store: Store) => Store }): Promise<Idem>;
  /** A session of the user's, or of an administrator. */
  session(database?: string): Promise<pg.Client>;
  /** Rows of the first column. */
  column(sql: string, ...values: unknown[]): Promise<any[]>;
  /** Errors that nodes logged. */
  readonly logged: string[];
}

export function usePostgres(): () => Promise<PostgresWorld> {
  let server: PostgresDatabase;
  let worlds = 0;
  beforeAll(async () => {
    server = await postgresDatabase();
  });
  afterAll(async () => {
    await server.remove();
  });

  return async () => {
    const schema = `idem${++worlds}`;
    const url = `${server.url}?schema=${schema}&pool=4`;
    const logged: string[] = [];
    const error = (...words: unknown[]) => logged.push(words.map(String).join(" "));
    const logger: IdemOptions["logger"] = { debug() {}, info() {}, warn() {}, error };
    const session = async (database?: string) => {
      const connectionString = database === undefined ? server.url : server.url.replace(/\/\w+$/, `/${database}`);
      const client = new pg.Client({ connectionString });
      client.on("error", () => {});
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    };
    const admin = new pg.Pool({ connectionString: server.url, max: 3 });
    onTestFinished(() => admin.end());
    await admin.query("create table if not exists effects (world text not null, what text not null, by text)");
    return {
      url,
      schema,
      session,
      logged,
      column: async (sql, ...values) => {
        const { rows } = await admin.query<unknown[]>({ text: sql, values, rowMode: "array" });
        return rows.map(([first]) => first);
      },
      node: async (options = {}) => {
        const opened = await openPostgresStore({
          url: options.url ?? url,
          pg: options.pg ?? pg,
          platform: nodePlatform,
          owner: "test",
        });
        const store = options.over?.(opened) ?? opened;
        const idem = new Idem({ id: "shop", store, logger, runsInFlight: limits.runsInFlight });
        onTestFinished(() => idem.stop({ grace: 0 }));
        return idem;
      },
    };
  };
}

/** The store, with some of its parts replaced. */
export const replaced = (store: Store, parts: Partial<Store>): Store => ({ ...store, ...parts });

/** Waits until it holds. */
export const until = <T>(holds: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(holds, { timeout: 60_000, interval: 20 });
