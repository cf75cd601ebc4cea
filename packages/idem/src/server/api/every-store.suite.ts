// A world of the API over each store, PostgreSQL among them: one server for the tests of a file, a schema for each world.
import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { withRealTimers } from "../../testing/real-timers.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { type ApiWorld, apiWorld, stores } from "./api-world.suite.ts";

export const everyStore = [...stores, "postgres:"] as const;

export function useEveryStore(): (kind: (typeof everyStore)[number]) => Promise<ApiWorld> {
  let server: PostgresDatabase;
  let schemas = 0;
  beforeAll(async () => {
    server = await postgresDatabase();
  });
  afterAll(async () => {
    await server.remove();
  });
  return async (kind) => {
    if (kind !== "postgres:") return apiWorld({ store: kind });
    const platform = new ManualPlatform();
    const store = await openPostgresStore({
      url: `${server.url}?schema=world${++schemas}&pool=4`,
      pg,
      platform: withRealTimers(platform),
      owner: "test",
      wallMs: () => platform.wallMs(),
    });
    onTestFinished(() => store.close());
    // The engine of this world is alone with it, without hints.
    return apiWorld({ store: Object.assign(Object.create(store), { shared: null, outbox: null }), platform });
  };
}
