// Commands on a PostgreSQL store: beside the nodes, without an owner, and without ever becoming one of them.
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { type PostgresDatabase, postgresDatabase } from "../testing/shared-postgres.suite.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { silent } from "./open-reading.ts";
import { temporaryFolder } from "./store-world.ts";

// With everything in it that a careless filter would stop at.
const password = "s3cret:/?#[]@!$&'()*+,;=%zz";
const escaped = encodeURIComponent(password);

let server: PostgresDatabase;
let admin: pg.Client;
let schemas = 0;
beforeAll(async () => {
  server = await postgresDatabase();
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`create role shop login superuser password '${password.replaceAll("'", "''")}'`);
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

const urlOf = (schema: string) => `postgres://shop:${escaped}@127.0.0.1:${server.port}/${server.name}?schema=${schema}`;

/** A store of its own, an app whose client is not started, and a terminal that looks at it. */
async function shop(options: { readonly isStarted?: boolean } = {}) {
  const schema = `shop${++schemas}`;
  const store = urlOf(schema);
  const idem = new Idem({ id: "shop", store, platform: nodePlatform, logger: silent });
  onTestFinished(() => idem.stop());
  idem.createFunction(
    { id: "charge", idempotency: "event.data.orderId" },
    { event: "order/paid" },
    async ({ event, step }) => step.run("charge-card", () => ({ receipt: `r-${event.data.orderId}` })),
  );
  idem.createFunction({ id: "remind" }, { event: "trial/started" }, async ({ step }) => step.sleep("week", "7d"));
  idem.createFunction({ id: "tidy" }, { cron: "0 0 1 1 *" }, async () => null);
  if (options.isStarted === true) await idem.start();
  const sent = await idem.send({ name: "order/paid", id: "order-paid-7", data: { orderId: 7 } });
  await idem.idle();
  const folder = temporaryFolder();
  const terminal = fakeTerminal({ cwd: folder, platform: nodePlatform, env: { IDEM_STORE: store } });
  return { idem, terminal, schema, folder, runId: sent.decisions[0]!.runId!, eventId: sent.ids[0]! };
}

const rowsOf = async (sql: string): Promise<any[]> => (await admin.query(sql)).rows;

describe("looking", () => {
  test("every reading command answers beside a living node", async () => {
    const { terminal, runId, eventId } = await shop({ isStarted: true });
    expect(await terminal.json("runs", "--function", "charge")).toMatchObject([{ id: runId, state: "completed" }]);
    expect(await terminal.json("run", runId)).toMatchObject({ id: runId, timeline: [{ name: "charge-card" }] });
    expect(await terminal.json("events", "--name", "order/paid")).toMatchObject([{ internalId: eventId }]);
    expect(await terminal.json("explain", "order-paid-7")).toMatchObject({ event: { internalId: eventId } });
    expect(await terminal.json("explain", "--function", "charge", "--key", "7")).toMatchObject({ kind: "key" });
    expect(await terminal.json("keys", "--function", "charge")).toMatchObject([
      { key: "7", holder: runId, isOpen: true },
    ]);
    expect((await terminal.json("functions")).map(({ id }: any) => id).sort()).toEqual(["charge", "remind", "tidy"]);
    expect(await terminal.json("crons")).toMatchObject([{ id: "tidy" }]);
    expect(await terminal.json("nodes")).toMatchObject([{ isDead: false }]);
    expect(await terminal.run("tail", "--once", "--last", "1000")).toBe(0);
    expect(terminal.written.out).toContain("event     order/paid order-paid-7");
    expect(await terminal.run("events", "--pending")).toBe(0);
  });

  test("check-deploy reads beside the nodes, by a role that may only select, and tells of a renamed step", async () => {
    const { idem, terminal, schema, folder } = await shop({ isStarted: true });
    await idem.send({ name: "trial/started", data: {} });
    await idem.idle();
    await admin.query(`create role looker login password 'looks'; grant usage on schema ${schema} to looker;
      grant select on all tables in schema ${schema} to looker`);
    onTestFinished(async () => void (await admin.query("drop owned by looker; drop role looker")));
    symlinkSync(fileURLToPath(new URL("../../../../node_modules", import.meta.url)), join(folder, "node_modules"));
    const build = (sleep: string) =>
      writeFileSync(
        join(folder, "build.mjs"),
        `import { Idem } from "idem"; const idem = new Idem({ id: "shop" });
        idem.createFunction({ id: "remind" }, { event: "trial/started" }, ({ step }) => step.sleep("${sleep}", "7d"));`,
      );
    const args = [
      "check-deploy",
      "build.mjs",
      "--store",
      `postgres://looker:looks@127.0.0.1:${server.port}/${server.name}?schema=${schema}`,
    ];
    build("week");
    expect((await terminal.json(...args, "--function", "remind")).summary).toMatchObject({ open: 1, goesOn: 1 });
    build("seven-days");
    expect(await terminal.run(...args)).toBe(1);
    expect(terminal.written.out).toContain('step "week", now "seven-days": it sleeps, and would sleep anew');
    expect(await terminal.json("nodes")).toHaveLength(1);
  }, 120_000);

  test("tail shows what happens while it looks, each event once, and ends when asked", async () => {
    const { idem, terminal } = await shop({ isStarted: true });
    const tail = terminal.run("tail", "--last", "1", "--json");
    await expect.poll(() => terminal.written.out).toContain("order-paid-7");
    const sent: string[] = [];
    for (let orderId = 20; orderId < 25; orderId++) {
      const { decisions } = await idem.send({ name: "order/paid", data: { orderId } });
      sent.push(decisions[0]!.runId!);
    }
    const shown = (wanted: string): string[] =>
      terminal.written.out
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
        .flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
    await expect.poll(() => shown("run")).toEqual(expect.arrayContaining(sent));
    terminal.interrupt();
    expect(await tail).toBe(0);
    expect(shown("event")).toHaveLength(6);
    expect(new Set(shown("event")).size).toBe(6);
  });
});

describe("writing", () => {
  test("a command sends, cancels, reruns, pauses, resumes, releases and drops without an owner", async () => {
    const { terminal, runId } = await shop();
    const again = await terminal.json("send", "order/paid", '{"orderId":7}');
    expect(again.decisions).toMatchObject([{ kind: "duplicate-key", runId }]);
    const rerun = await terminal.json("rerun", runId);
    expect(await terminal.json("cancel", rerun.runId)).toEqual({ cancelled: true });
    expect(await terminal.json("keys", "--release", "7", "--function", "charge", "--reason", "by hand")).toMatchObject({
      answer: "released",
    });
    expect(await terminal.json("pause", "charge")).toMatchObject({ changed: true });
    for (const orderId of [8, 9, 10])
      await terminal.json("send", "order/paid", `{"orderId":${orderId}}`, "--id", `o-${orderId}`);
    expect(await terminal.json("release", "o-8", "--function", "charge")).toMatchObject({ kind: "started" });
    expect(await terminal.json("drop", "o-9", "--function", "charge")).toMatchObject({ kind: "dropped" });
    expect(await terminal.json("resume", "charge", "--release")).toMatchObject({ changed: true, decided: 1 });
    expect(await terminal.json("prune", "--older-than", "30d")).toMatchObject({ deleted: { events: 0 } });
  });

  test("what a command sent is executed by a node", async () => {
    const { idem, terminal } = await shop({ isStarted: true });
    const sent = await terminal.json("send", "order/paid", '{"orderId":11}');
    expect(await idem.runs.wait(sent.decisions[0].runId)).toMatchObject({ state: "completed" });
  });

  test("no command registers a function, leases a job, decides a tick, enlists as a worker or migrates", async () => {
    const { terminal, schema, runId, idem } = await shop();
    await idem.stop();
    // A tick has come that a node would decide at once.
    await admin.query(`update ${schema}.crons set last_tick_at = last_tick_at - 400 * 86400000::bigint`);
    const facts = () =>
      rowsOf(`select (select json_agg(c order by fn) from ${schema}.crons c) as crons,
                     (select json_agg(f order by fn) from ${schema}.functions f) as functions,
                     (select json_agg(m order by version) from ${schema}.migrations m) as migrations,
                     (select count(*)::int from ${schema}.jobs where leased_by is not null) as leased,
                     (select count(*)::int from ${schema}.workers) as workers`);
    const before = await facts();
    expect(before[0]).toMatchObject({ leased: 0, workers: 0 });
    await terminal.json("send", "order/paid", '{"orderId":12}');
    await terminal.json("rerun", runId);
    for (const command of ["runs", "events", "functions", "crons", "keys", "nodes"]) await terminal.json(command);
    await terminal.run("doctor");
    expect(await facts()).toEqual(before);
  });
});

describe("a store that cannot be used", () => {
  test("a schema without tables is refused and not made, by commands that look and commands that write", async () => {
    const terminal = fakeTerminal({ cwd: "/", platform: nodePlatform, env: { IDEM_STORE: urlOf("nothing_here") } });
    for (const args of [["runs"], ["doctor"], ["send", "a/b"]]) {
      expect(await terminal.run(...args)).toBe(3);
      expect(terminal.written.err).toMatch(
        /schema "nothing_here" has no tables of Idem; "idem migrate", or the first node/,
      );
    }
    expect(await rowsOf("select 1 from pg_namespace where nspname = 'nothing_here'")).toEqual([]);
  });

  test("a schema of an older version is refused untouched, and idem migrate brings it up to date", async () => {
    const { terminal, schema, idem } = await shop();
    await idem.stop();
    const versions = () => rowsOf(`select version from ${schema}.migrations order by version`);
    const known = await versions();
    const [last] = await rowsOf(`delete from ${schema}.migrations where version = ${known.at(-1).version} returning *`);
    expect(await terminal.run("runs")).toBe(3);
    expect(terminal.written.err).toMatch(/has version \d+, older than \d+; "idem migrate", or the next node/);
    expect(await terminal.run("upgrade", "--check", "--json")).toBe(1);
    const told = JSON.parse(terminal.written.out);
    expect(told.pending.map(({ name }: { name: string }) => name)).toEqual([last.name]);
    expect(told.steps.join("\n")).toMatch(/pg_dump.*\nidem migrate /);
    await admin.query({
      text: `insert into ${schema}.migrations (version, name, checksum) values ($1, $2, $3)`,
      values: [last.version, last.name, last.checksum],
    });
    expect(await terminal.json("migrate")).toMatchObject({ schemaVersion: known.at(-1).version });
    expect(await terminal.json("upgrade", "--check")).toMatchObject({ pending: [], steps: [] });
    expect(await versions()).toEqual(known);
    await admin.query(`insert into ${schema}.migrations (version, name) values (9999, 'later')`);
    expect(await terminal.run("runs")).toBe(3);
    expect(terminal.written.err).toContain("schema version 9999; this version of Idem knows up to");
  });

  test("idem migrate makes a store, and makes it once", async () => {
    const terminal = fakeTerminal({ cwd: "/", platform: nodePlatform, env: { IDEM_STORE: urlOf("fresh") } });
    const first = await terminal.json("migrate");
    expect(await terminal.json("migrate")).toEqual(first);
    expect(await terminal.json("runs")).toEqual([]);
    expect(await terminal.run("migrate", "--store", "sqlite:./x.db")).toBe(2);
  });

  test("backup and restore say that pg_dump is for this", async () => {
    const { terminal, folder } = await shop();
    writeFileSync(join(folder, "copy.db"), "");
    for (const args of [
      ["backup", "b.db"],
      ["restore", "copy.db", "--force"],
    ]) {
      expect(await terminal.run(...args)).toBe(3);
      expect(terminal.written.err).toMatch(/is a PostgreSQL store.*pg_dump copies it and pg_restore/);
    }
  });

  test("a server that does not answer, or does not let one in, exits with 3", async () => {
    const terminal = fakeTerminal({ cwd: "/", platform: nodePlatform });
    const cases = [
      ["postgres://localhost:1/x", /did not take the operation: postgres:\/\/\S+: \S+.*\[STORE_UNAVAILABLE\]/],
      [
        `postgres://shop:wrong@127.0.0.1:${server.port}/${server.name}`,
        /does not let this process in: .*\[STORE_ACCESS_DENIED\]/,
      ],
    ] as const;
    for (const [url, told] of cases) {
      for (const args of [["runs"], ["send", "a/b"]]) {
        expect(await terminal.run(...args, "--store", url)).toBe(3);
        expect(terminal.written.err).toMatch(told);
      }
    }
  });
});

describe("secrets", () => {
  const secret = (text: string) => text.includes("s3cret") || text.includes(escaped) || text.includes("zz");

  test("no command prints the password of a store's address", async () => {
    const { terminal, runId, folder } = await shop();
    writeFileSync(join(folder, "copy.db"), "");
    const all: string[][] = [
      ["runs"],
      ["run", runId],
      ["events"],
      ["explain", runId],
      ["keys"],
      ["functions"],
      ["crons"],
      ["nodes"],
      ["tail", "--once"],
      ["send", "order/paid", "{}"],
      ["cancel", runId],
      ["rerun", runId],
      ["pause", "charge"],
      ["resume", "charge"],
      ["release", "nothing"],
      ["drop", "nothing"],
      ["prune", "--older-than", "1d"],
      ["prune", "--older-than", "1d", "--dry-run"],
      ["doctor", "--report", "note.md"],
      ["backup", "x.db"],
      ["restore", "copy.db"],
      ["migrate"],
      ["upgrade", "--check"],
    ];
    for (const args of all) {
      for (const more of [[], ["--json"]]) {
        await terminal.run(...args, ...more);
        expect([args, secret(terminal.written.out + terminal.written.err)]).toEqual([args, false]);
      }
    }
  });

  test.each([
    ["a wrong one", () => `postgres://shop:s3cret@127.0.0.1:${server.port}/${server.name}`],
    ["no server", () => "postgres://shop:s3cret@127.0.0.1:1/postgres"],
    ["as a word of the address", () => "postgres://127.0.0.1:1/postgres?user=shop&password=s3cret"],
    ["not escaped", () => "postgres://shop:s3cret/zz@127.0.0.1:1/postgres"],
    ["not escaped, with another @", () => "postgres://shop:a@s3cret@127.0.0.1:1/postgres"],
    ["a schema that is too long", () => `postgres://shop:s3cret@127.0.0.1/postgres?schema=${"x".repeat(64)}`],
    ["another database", () => "mysql://shop:s3cret@127.0.0.1/postgres"],
    ["no slashes", () => "postgres:shop:s3cret@127.0.0.1/postgres"],
  ])("an error about an address leaves it out: %s", async (_, url) => {
    for (const debug of ["0", "1"]) {
      const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env: { IDEM_DEBUG: debug } });
      const commands = [["runs"], ["send", "a/b"], ["migrate"], ["backup", "x.db"]];
      for (const args of commands) {
        expect(await terminal.run(...args, "--store", url())).not.toBe(0);
        expect([args, terminal.written.err, secret(terminal.written.out + terminal.written.err)]).toEqual([
          args,
          expect.stringContaining("127.0.0.1"),
          false,
        ]);
      }
      // A server waits for one that is not ready, until it is stopped.
      const serving = terminal.run("dev", "--port", "0", "--no-discovery", "--store", url());
      let isOver = false;
      void serving.finally(() => {
        isOver = true;
      });
      await expect.poll(() => isOver || terminal.written.out.includes("store not ready")).toBe(true);
      terminal.interrupt();
      await serving;
      const { out, err } = terminal.written;
      expect([out + err, secret(out + err)]).toEqual([expect.stringContaining("127.0.0.1"), false]);
    }
  });

  test("an address in the wrong place is not repeated with its password", async () => {
    const terminal = fakeTerminal({ cwd: "/", platform: nodePlatform });
    const url = "postgres://shop:s3cret@127.0.0.1/postgres";
    for (const args of [[url], ["runs", url], ["--store", url, "runs"], ["run", url, url], [`--store=${url}`]]) {
      expect(await terminal.run(...args)).toBe(2);
      expect([terminal.written.err, secret(terminal.written.err)]).toEqual([expect.any(String), false]);
    }
  });
});

describe("a server on PostgreSQL", () => {
  test("idem dev says which store it uses, without its password, serves, and a command sees what it accepted", async () => {
    const { terminal, schema } = await shop();
    const code = terminal.run("dev", "--port", "0", "--no-discovery", "--no-poll");
    await expect.poll(() => /Ctrl-C stops/.test(terminal.written.out) || terminal.written.err !== "").toBe(true);
    expect(terminal.written.out).toContain(
      `store    postgres://…@127.0.0.1:${server.port}/${server.name}?schema=${schema}`,
    );
    const origin = /listens +(\S+)/.exec(terminal.written.out)![1]!;
    const body = JSON.stringify({ name: "trial/started", id: "trial-1", data: {} });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${origin}/e/any`, { method: "POST", headers, body })).status).toBe(200);
    const beside = fakeTerminal({ cwd: "/", platform: nodePlatform, env: { IDEM_STORE: urlOf(schema) } });
    expect(await beside.json("explain", "trial-1")).toMatchObject({ event: { name: "trial/started" } });
    expect(await (await fetch(`${origin}/api/status`)).text()).not.toContain(escaped);
    terminal.interrupt();
    expect(await code).toBe(0);
    expect(terminal.written.out).not.toContain(escaped);
  });
});
