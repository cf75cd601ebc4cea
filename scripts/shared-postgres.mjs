// One PostgreSQL server for a whole run of vitest, as a `globalSetup`. It starts with the first test file that needs a database, so a run of unit tests
// pays nothing. Test files reach it through packages/idem/src/testing/shared-postgres.suite.ts, and each gets a database of its own.
import { once } from "node:events";
import { createServer } from "node:net";
import { startLocalPostgres } from "./local-postgres.mjs";

const settings = {
  // Four workers, each with several nodes that have pools.
  max_connections: "400",
  // After a checkpoint each page goes into the log as a whole. The data lives for minutes, so no checkpoint is needed.
  checkpoint_timeout: "1h",
  max_wal_size: "16GB",
  // It starts a process for each of the many databases.
  autovacuum_naptime: "5min",
};

// Projects of one run share the process that sets them up, but not its modules.
const runs = Symbol.for("idem.shared-postgres");

export default async function setup(project) {
  globalThis[runs] ??= { users: 0, opening: open() };
  const run = globalThis[runs];
  run.users++;
  const { address, close } = await run.opening;
  project.provide("sharedPostgres", address);
  return async () => {
    if (--run.users > 0) return;
    delete globalThis[runs];
    await close();
  };
}

/** Any connection to this port gets the server's URL, once the server is up, with the name of a database that no other file has. */
async function open() {
  let starting = null;
  let databases = 0;
  const start = () => {
    starting ??= startLocalPostgres({ settings });
    return starting;
  };
  const desk = createServer((socket) => {
    socket.on("error", () => {});
    start().then(
      ({ port }) => socket.end(`postgres://idem:idem@127.0.0.1:${port}/test${++databases}\n`),
      (error) => socket.end(`error ${error.message}\n`),
    );
  });
  desk.listen(0, "127.0.0.1");
  await once(desk, "listening");
  return {
    address: { host: "127.0.0.1", port: desk.address().port },
    async close() {
      desk.close();
      await (await starting)?.remove();
    },
  };
}
