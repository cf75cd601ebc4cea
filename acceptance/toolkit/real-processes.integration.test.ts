// What the toolkit promises, of processes that are really killed and really many, on both databases.
import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../packages/idem/src/testing/shared-postgres.suite.ts";
import { type Ground, postgresGround, sqliteGround } from "../../torture/toolkit/ground.ts";
import { killHooks } from "./kill-hooks.suite.ts";
import { killWindows } from "./kill-windows.suite.ts";
import { manyProcesses } from "./many-processes.suite.ts";

let server: PostgresDatabase;
let schemas = 0;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(async () => {
  await server.remove();
});

function suites(open: () => Promise<Ground>, dialect: Ground["dialect"]): void {
  killWindows(open, dialect);
  killHooks(open, dialect);
  manyProcesses(open);
}

// They mostly wait for processes, so all of them at once; on a busy machine each then waits for all the others.
const options = { timeout: 180_000 };
describe.concurrent("on SQLite", options, () => suites(sqliteGround, "sqlite"));
describe.concurrent("on PostgreSQL", options, () =>
  suites(() => postgresGround(server.url, `shop${++schemas}`), "postgres"),
);
