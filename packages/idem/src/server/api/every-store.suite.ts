// A world of the API over each store, PostgreSQL among them: one server for the tests of a file, a schema for each world.
import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { type ApiWorld, apiWorld, stores } from "./api-world.suite.ts";

export const everyStore = [...stores, "postgres:"] as const;

export function useEveryStore(): (kind: (typeof everyStore)[number]) => Promise<ApiWorld> {
  let server: LocalPostgres;
  let schemas = 0;
  beforeAll(async () => {
    server = await startLocalPostgres();
  });
  afterAll(async () => {
    // Files that are deleted anyway need not be flushed first, which takes seconds.
    await server.crash();
    await server.remove();
  });
  return async (kind) => {
    if (kind !== "postgres:") return apiWorld({ store: kind });
    const platform = new ManualPlatform();
    const store = await openPostgresStore({
      url: `${server.url}?schema=world${++schemas}&pool=4`,
      pg,
      // The world's own time, and the machine's timers: waiting for the server cannot be hurried.
      platform: {
        monoMs: () => platform.monoMs(),
        soon: (run) => setImmediate(run),
        randomBytes: (count) => platform.randomBytes(count),
        timer: (ms, run) => {
          const timer = setTimeout(run, ms);
          return { cancel: () => clearTimeout(timer) };
        },
      },
      owner: "test",
      wallMs: () => platform.wallMs(),
    });
    onTestFinished(() => store.close());
    // The engine of this world is alone with it, without hints.
    return apiWorld({ store: Object.assign(Object.create(store), { shared: null, outbox: null }), platform });
  };
}
