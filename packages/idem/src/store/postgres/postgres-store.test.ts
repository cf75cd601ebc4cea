// The contract on a real server: one of its own, or the one that `npm run postgres:tried` names.
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { withRealTimers } from "../../testing/real-timers.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { storeContract } from "../contract/all.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { tableNames } from "./statement.ts";

const { POSTGRES_TRIED_URL: tried, POSTGRES_TRIED_WORDS: words = "" } = process.env;

let server: Pick<PostgresDatabase, "url" | "remove">;
let admin: pg.Client;
beforeAll(async () => {
  server = tried === undefined ? await postgresDatabase() : { url: tried, remove: async () => {} };
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

// To make a schema takes longer than most tests: one that a test is done with is emptied for the next.
const free: string[] = [];
let schemas = 0;

storeContract("PostgreSQL", async () => {
  const clock = new ManualClock();
  const schema = free.pop() ?? `test${++schemas}`;
  const store = await openPostgresStore({
    url: `${server.url}?schema=${schema}&pool=4${words}`,
    pg,
    platform: withRealTimers(clock),
    owner: "test",
    wallMs: () => clock.wallMs(),
  });
  const close = async () => {
    await store.close();
    await admin.query(tableNames.map((table) => `delete from ${schema}.${table}`).join(";"));
    free.push(schema);
  };
  return { store: { ...store, close }, clock };
});
