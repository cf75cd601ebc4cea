// The doctor on a PostgreSQL server: what it reads there, and what it makes of it.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import type { ServerPlace } from "./command.ts";
import { examineServer, judgeServer, type ServerReadings } from "./examine-server.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { silent } from "./open-reading.ts";
import { openServerReading } from "./open-server-reading.ts";
import { temporaryFolder } from "./store-world.ts";

let server: LocalPostgres;
let admin: pg.Client;
let schemas = 0;
beforeAll(async () => {
  server = await startLocalPostgres();
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

/** A store with one finished and one sleeping run. */
async function shop() {
  const schema = `shop${++schemas}`;
  const store = `${server.url}?schema=${schema}`;
  const idem = new Idem({ id: "shop", store, platform: nodePlatform, logger: silent });
  idem.createFunction({ id: "draft" }, { event: "placement/changed" }, async () => null);
  idem.createFunction({ id: "remind" }, { event: "trial/started" }, async ({ step }) => step.sleep("week", "7d"));
  await idem.start();
  onTestFinished(() => idem.stop());
  const sleeping = await idem.send({ name: "trial/started" });
  await idem.send({ name: "placement/changed", data: { placementId: 1 } });
  await idem.idle();
  const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env: { IDEM_STORE: store } });
  return { idem, terminal, schema, store, sleeping: sleeping.decisions[0]!.runId! };
}

const finding = (terminal: { written: { out: string } }, kind: string) =>
  JSON.parse(terminal.written.out).findings.find((each: { kind: string }) => each.kind === kind);

describe("idem doctor", () => {
  test("a sound server has no problems, and its facts are shown", async () => {
    const { terminal } = await shop();
    expect([await terminal.run("doctor"), terminal.written.err]).toEqual([0, ""]);
    for (const fact of [
      /integrity +ok/,
      /schema version +\d+ in schema "shop/,
      /server +PostgreSQL \d+/,
      /durability +fsync on, full_page_writes on, synchronous_commit on/,
      /standbys +none connected/,
      /queue +[\d.]+ KiB, \d+ rows?, \d+ dead/,
      /sessions +\d+ of 100/,
      /autovacuum +on, every 10 s/,
      /nodes +1 alive with 0 leases/,
      /open runs +0 queued, 0 running, 1 waiting/,
    ]) {
      expect(terminal.written.out).toMatch(fact);
    }
    expect(terminal.written.out).toContain('"remind": 1 for a time');
  });

  test("finds in history what ran twice, as on a file", async () => {
    const { terminal, idem } = await shop();
    for (const placementId of [2, 3, 2, 3]) await idem.send({ name: "placement/changed", data: { placementId } });
    await idem.idle();
    expect(await terminal.run("doctor", "--json")).toBe(1);
    expect(finding(terminal, "doubled-runs").facts).toMatchObject({ expression: "event.data.placementId" });
  });

  test("finds runs that nothing will take up, and says how to give them back", async () => {
    const { terminal, idem, schema, sleeping } = await shop();
    const { decisions } = await idem.send({ name: "trial/started" });
    await idem.idle();
    await idem.stop();
    await admin.query(`delete from ${schema}.jobs where id = '${sleeping}'`);
    await admin.query(
      `update ${schema}.jobs set leased_by = 'nobody', due_at = null where id = '${decisions[0]!.runId}'`,
    );
    expect(await terminal.run("doctor", "--json")).toBe(1);
    expect(finding(terminal, "run-without-job").facts).toEqual({ runIds: [sleeping] });
    const lost = finding(terminal, "lease-of-unknown-worker");
    expect(lost.facts).toEqual({ runIds: [decisions[0]!.runId] });
    await admin.query(/update .*$/.exec(lost.next)![0]);
    await terminal.run("doctor", "--json");
    expect(finding(terminal, "lease-of-unknown-worker")).toBeUndefined();
  });

  test("looks at a server that no node would start on, and says why", async () => {
    const { terminal } = await shop();
    const set = async (value: string) => {
      await admin.query(`alter system set full_page_writes = ${value}`);
      await admin.query("select pg_reload_conf()");
      const current = async () => (await admin.query("show full_page_writes")).rows[0].full_page_writes;
      await expect.poll(current).toBe(value);
    };
    onTestFinished(() => set("on"));
    await set("off");
    expect(await terminal.run("doctor")).toBe(1);
    expect(terminal.written.out).toContain("No node starts on this server: full_page_writes is off");
    expect(await terminal.run("runs")).toBe(0);
    expect(await terminal.run("send", "a/b")).toBe(3);
    expect(terminal.written.err).toContain("STORE_NOT_DURABLE");
  });

  test("a role that may only select can look at everything, and write nothing", async () => {
    const { schema } = await shop();
    await admin.query(`create role looker_${schema} login password 'looker'`);
    await admin.query(`grant usage on schema ${schema} to looker_${schema}`);
    const url = `postgres://looker_${schema}:looker@127.0.0.1:${server.port}/postgres?schema=${schema}`;
    const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env: { IDEM_STORE: url } });
    expect(await terminal.run("runs")).toBe(3);
    expect(terminal.written.err).toContain(`may not read schema "${schema}"`);
    await admin.query(`grant select on all tables in schema ${schema} to looker_${schema}`);
    for (const args of [["runs"], ["events"], ["functions"], ["keys"], ["crons"], ["nodes"], ["tail", "--once"]]) {
      expect([args, await terminal.run(...args)]).toEqual([args, 0]);
    }
    expect(await terminal.run("doctor")).toBe(0);
    expect(terminal.written.out).toContain("among this role's own sessions");
    expect(await terminal.run("send", "trial/started")).toBe(3);
    expect(terminal.written.err).toContain("permission denied");
  });
});

describe("what is read from the server", () => {
  const reading = async () => {
    const { store } = await shop();
    const opened = await openServerReading(store, nodePlatform);
    onTestFinished(() => opened.store.close());
    return opened.place as ServerPlace;
  };

  test("a transaction that is open elsewhere is named with its session", async () => {
    const place = await reading();
    const other = new pg.Client({ connectionString: server.url, application_name: "a report" });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("begin isolation level repeatable read");
    await other.query("select 1");
    const { oldTransactions } = await import("../store/postgres/server-reads.ts");
    const { rows } = await other.query("select pg_backend_pid() as pid");
    expect(await oldTransactions(place.connection, 5)).toContainEqual(
      expect.objectContaining({
        pid: rows[0].pid,
        role: "idem",
        application: "a report",
        state: "idle in transaction",
      }),
    );
  });

  test("a standby that follows asynchronously is counted, and whoever starts is told what may be lost", async () => {
    const place = await reading();
    const standby = new pg.Client({ connectionString: server.url, replication: "true" } as pg.ClientConfig);
    await standby.connect();
    onTestFinished(() => standby.end());
    const { findings, facts } = await examineServer(place, []);
    expect(facts.standbys).toBe("1 connected, asynchronous");
    expect(findings.map(({ kind, level }) => [kind, level])).toEqual([["asynchronous-failover", "note"]]);
    const said: string[] = [];
    const logger = { ...silent, warn: (line: unknown) => void said.push(String(line)) };
    const idem = new Idem({ id: "shop", store: `${server.url}?schema=told`, platform: nodePlatform, logger });
    await idem.start();
    await idem.stop();
    expect(said).toEqual([expect.stringContaining("1 standby follows this server asynchronously")]);
  });
});

describe("what is made of it", () => {
  const sound: ServerReadings = {
    schema: "idem",
    settings: {
      synchronous_standby_names: "",
      fsync: "on",
      full_page_writes: "on",
      synchronous_commit: "on",
      in_recovery: false,
      version: 180_000,
      encoding: "UTF8",
    },
    server: { kind: "PostgreSQL", refusal: null, note: null, hasHints: true, hasTableLocks: true },
    facts: { version: "18.0", bytes: 1, deadJobs: 10, oldestTransactionMs: 0, sessions: 10, sessionsMax: 100 },
    state: {
      now: 0,
      seesAll: true,
      sessions: 10,
      sessionsReserved: 3,
      jobsBytes: 1_000_000,
      liveJobs: 100,
      autovacuum: "on",
      autovacuumNaptimeMs: 10_000,
      synchronousStandbys: "",
      standbys: 0,
      standbysDroppedAt: null,
    },
    wrong: [],
    transactions: [{ pid: 7, role: "reports", application: "psql", state: "active", ageMs: 60_000 }],
    nodes: [{ startedAt: 1_000 }],
  };
  const { state, facts, settings, server: recognised } = sound;
  const found = (readings: Partial<ServerReadings>) =>
    judgeServer({ ...sound, ...readings }).map(({ kind, level }) => `${level} ${kind}`);

  test("a server whose oldest transaction is a minute old is sound", () => {
    expect(found({})).toEqual([]);
  });

  test.each<[string, Partial<ServerReadings>]>([
    ["problem server-refused", { settings: { ...settings, fsync: "off" } }],
    ["problem server-refused", { settings: { ...settings, in_recovery: true } }],
    ["problem server-refused", { server: { ...recognised, kind: "Aurora DSQL", refusal: "it has no locks of rows" } }],
    ["note server-only-alike", { server: { ...recognised, kind: "Citus", note: "this server has Citus 13" } }],
    ["problem integrity", { wrong: ["index runs_pkey is not valid"] }],
    ["note asynchronous-failover", { state: { ...state, standbys: 1 } }],
    [
      "note asynchronous-failover",
      {
        state: { ...state, standbys: 1, synchronousStandbys: "standby1" },
        settings: { ...settings, synchronous_commit: "local" },
      },
    ],
    ["problem standbys-dropped", { state: { ...state, standbys: 1, standbysDroppedAt: 2_000 } }],
    ["problem standbys-dropped", { state: { ...state, standbysDroppedAt: 2_000 } }],
    ["problem old-transaction", { transactions: [{ ...sound.transactions[0]!, ageMs: 60_001 }] }],
    ["problem queue-bloat", { facts: { ...facts, deadJobs: 50_001 } }],
    ["note queue-grown", { state: { ...state, jobsBytes: 300 * 1024 * 1024 } }],
    ["problem sessions-scarce", { state: { ...state, sessions: 78 } }],
    ["problem autovacuum-off", { state: { ...state, autovacuum: "off" } }],
    ["note autovacuum-rare", { state: { ...state, autovacuumNaptimeMs: 60_000 } }],
  ])("%s", (expected, readings) => {
    expect(found(readings)).toEqual([expected]);
  });

  test("a standby that commits wait for is nothing to say", () => {
    expect(found({ state: { ...state, standbys: 1, synchronousStandbys: "standby1" } })).toEqual([]);
  });

  test("a standby that is named again, or was dropped before the nodes started, is no problem", () => {
    expect(found({ state: { ...state, standbysDroppedAt: 2_000, synchronousStandbys: "standby1" } })).toEqual([]);
    expect(found({ state: { ...state, standbysDroppedAt: 1_000 } })).toEqual([]);
    const asynchronous = { ...state, standbys: 1, standbysDroppedAt: 1_000 };
    expect(found({ state: asynchronous })).toEqual(["note asynchronous-failover"]);
  });

  test("who holds a transaction open is told by pid, role and program", () => {
    const transactions = [
      { pid: 7, role: "reports", application: "psql", state: "idle in transaction", ageMs: 600_000 },
      { pid: null, role: "billing", application: "tx-1", state: "prepared", ageMs: 300_000 },
    ];
    const [old] = judgeServer({ ...sound, transactions });
    expect(old!.title).toContain("open for 10 min");
    expect(old!.details).toEqual([
      "pid 7 (reports, psql): idle in transaction for 10 min",
      "prepared transaction (billing, tx-1): prepared for 5 min",
    ]);
  });
});
