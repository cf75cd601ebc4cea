// npm run postgres:tried [-- 14 15 16 17 18 system pgbouncer hints failover] [--skip contract] [--failovers 30]
//
// PostgreSQL as it is run: the store's contract and a short story on each version, behind a real PgBouncer, without hints, and a standby that
// takes over. Starts what is installed, says why it left out the rest, and prints the table of docs/postgres-tried.md. A quarter of an hour.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { failOver } from "./postgres-tried/failover.mjs";
import { Skipped, startBouncer, startOfSystem, startVersion } from "./postgres-tried/servers.mjs";
import { must, tellStory } from "./postgres-tried/story.mjs";

const root = join(import.meta.dirname, "..");
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { skip: { type: "string" }, failovers: { type: "string", default: "1" } },
});

/** How many of the store's tests passed there. */
async function contract(url, words) {
  const test = join("packages", "idem", "src", "store", "postgres", "postgres-store.test.ts");
  const args = [join("node_modules", "vitest", "vitest.mjs"), "run", "--project", "idem", test, "--no-color"];
  const env = { ...process.env, POSTGRES_TRIED_URL: url, POSTGRES_TRIED_WORDS: words };
  const child = spawn(process.execPath, args, { cwd: root, env });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (out += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`the contract failed:\n${out.slice(-4_000)}`);
  return `contract: ${/Tests\s+(\d+) passed/.exec(out)[1]} tests`;
}

async function versionOf(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("show server_version");
  await client.end();
  return `PostgreSQL ${rows[0].server_version}`;
}

/** Both, over one address; `words` go into each address as they stand. */
async function whole(server, url, words = "") {
  const admin = new pg.Pool({ connectionString: server.url, max: 2 });
  try {
    const story = await tellStory(`${url}?schema=story${words}`, admin);
    return [...(values.skip === "contract" ? [] : [await contract(url, words)]), story];
  } finally {
    await admin.end();
  }
}

/** @type {{ name: string, group: string, try: () => Promise<{ with: string, results: string[] }> }[]} */
const tries = [
  ...[14, 15, 16, 17, 18].map((major) => ({
    name: `PostgreSQL ${major}`,
    group: String(major),
    try: () =>
      over(
        () => startVersion(major),
        (server) => whole(server, server.url),
      ),
  })),
  {
    name: "PostgreSQL of the system's packages",
    group: "system",
    try: () =>
      over(
        () => startOfSystem(),
        (server) => whole(server, server.url),
      ),
  },
  {
    name: "without hints (`hints=false`)",
    group: "hints",
    try: () =>
      over(
        () => startVersion(18),
        (server) => whole(server, server.url, "&hints=false"),
      ),
  },
  ...["transaction", "session"].map((mode) => ({
    name: `PgBouncer, \`pool_mode = ${mode}\`, \`pooler=true\``,
    group: "pgbouncer",
    // By session a node keeps every one it has opened: there must be as many as all nodes together may hold.
    try: () =>
      behind(mode, mode === "session" ? { default_pool_size: 60 } : {}, (server, bouncer) =>
        whole(server, bouncer.url, "&pooler=true"),
      ),
  })),
  {
    name: "PgBouncer, and no `pooler=true`",
    group: "pgbouncer",
    try: () =>
      behind("transaction", {}, async (_, bouncer) => [await refused(bouncer.url, 'add "pooler=true" to the address')]),
  },
  {
    name: "PgBouncer that passes settings over (`ignore_startup_parameters = options`), and no `pooler=true`",
    group: "pgbouncer",
    try: () =>
      behind("transaction", { ignore_startup_parameters: "options" }, async (_, bouncer) => [
        await refused(bouncer.url, 'add "pooler=true" to the address'),
      ]),
  },
  {
    name: "PgBouncer, `pool_mode = statement`",
    group: "pgbouncer",
    try: () =>
      behind("statement", {}, async (_, bouncer) => [
        await refused(`${bouncer.url}?pooler=true`, "set its pool_mode to transaction or session"),
      ]),
  },
  {
    name: "PgBouncer with one session of the server for all (`default_pool_size = 1`)",
    group: "pgbouncer",
    try: () =>
      behind("transaction", { default_pool_size: 1 }, async (server, bouncer) => {
        const admin = new pg.Pool({ connectionString: server.url, max: 2 });
        try {
          return [await tellStory(`${bouncer.url}?pooler=true`, admin)];
        } finally {
          await admin.end();
        }
      }),
  },
  ...[true, false].map((isSynchronous) => ({
    name: `${isSynchronous ? "a synchronous" : "an asynchronous"} standby takes over from a primary that was killed`,
    group: "failover",
    try: async () => {
      // A loss that is reported where there is none is a matter of instants: many kills, each at another one.
      const count = isSynchronous ? Number(values.failovers) : 1;
      let result = "";
      for (let n = 1; n <= count; n++) {
        result = await failOver(18, { isSynchronous });
        if (count > 1) process.stderr.write(`${n} of ${count}: ${result}\n`);
      }
      const results = [count === 1 ? result : `${count} times; the last: ${result}`];
      return { with: "PostgreSQL 18, two hosts in the address", results };
    },
  })),
];

async function over(start, act) {
  const server = await start();
  try {
    return { with: await versionOf(server.url), results: await act(server) };
  } finally {
    await server.remove();
  }
}

async function behind(mode, settings, act) {
  const server = await startVersion(18);
  try {
    const bouncer = await startBouncer(server, mode, settings);
    try {
      return {
        with: `PgBouncer ${bouncer.version}, ${await versionOf(server.url)}`,
        results: await act(server, bouncer),
      };
    } finally {
      await bouncer.remove();
    }
  } finally {
    await server.remove();
  }
}

async function refused(url, words) {
  const { Idem } = await import("../packages/idem/dist/index.js");
  const idem = new Idem({ id: "shop", store: url, logger: false });
  const error = await idem.start().then(
    () => null,
    (error) => error,
  );
  await idem.stop();
  must(error !== null, "it started");
  must(String(error.message).includes(words), `it said: ${error.message}`);
  return `refused at start (\`${error.code}\`): "${words}"`;
}

const groups = [...new Set(tries.map(({ group }) => group))];
const unknown = positionals.filter((word) => !groups.includes(word));
if (unknown.length > 0) throw new Error(`There is no ${unknown.join(", ")}; there are ${groups.join(", ")}`);
const chosen = tries.filter(({ group }) => positionals.length === 0 || positionals.includes(group));
const rows = [];
let isFailed = false;
for (const { name, try: attempt } of chosen) {
  process.stderr.write(`${name} … `);
  try {
    const { with: version, results } = await attempt();
    process.stderr.write(`${results.join("; ")}\n`);
    rows.push([name, version, results.join("; ")]);
  } catch (error) {
    const isSkipped = error instanceof Skipped;
    isFailed ||= !isSkipped;
    const what = isSkipped ? `skipped: ${error.message}` : `FAILED: ${error.message}`;
    process.stderr.write(`${what}\n`);
    rows.push([name, "", what.split("\n")[0]]);
  }
}
console.log(
  `Tried on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${process.platform} ${process.arch}:\n`,
);
console.log("| what | with | result |\n| --- | --- | --- |");
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
process.exit(isFailed ? 1 : 0);
