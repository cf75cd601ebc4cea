// The contract on a real server: one of its own, or the one that `npm run postgres:tried` names.
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { ManualClock } from "../../platform/manual-clock.ts";
import { storeContract } from "../contract/all.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { tableNames } from "./statement.ts";

const { POSTGRES_TRIED_URL: tried, POSTGRES_TRIED_WORDS: words = "" } = process.env;

let server: Pick<LocalPostgres, "url" | "remove">;
let admin: pg.Client;
beforeAll(async () => {
  server = tried === undefined ? await startLocalPostgres() : { url: tried, remove: async () => {} };
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
    platform: {
      monoMs: () => clock.monoMs(),
      soon: (run) => setImmediate(run),
      randomBytes: (count) => new Uint8Array(count),
      timer: (ms, run) => {
        const timer = setTimeout(run, ms);
        return { cancel: () => clearTimeout(timer) };
      },
    },
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
