// A server whose commits wait for a standby, and a standby that stops answering. Whoever waits can be sent away: what it has committed is
// then seen by everybody, and is nowhere else.
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type LocalPostgres, type LocalStandby, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { end, env, fn, newEvent, newStep, startPair, World } from "../contract/world.ts";
import { openPostgresStore } from "./postgres-store.ts";

let server: LocalPostgres;
let standby: LocalStandby;
let admin: pg.Pool;
let schemas = 0;
beforeAll(async () => {
  server = await startLocalPostgres({ settings: { shared_buffers: "32MB" } });
  standby = await server.addStandby();
  admin = new pg.Pool({ connectionString: server.url, max: 2 });
  admin.on("error", () => {});
  // What was answered can then be read at the standby.
  await configure("synchronous_commit", "remote_apply");
});
afterEach(() => standby.thaw());
afterAll(async () => {
  await admin.end();
  await server.remove();
});

const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 60_000, interval: 10 });

async function openNode(schema: string, pool = 8) {
  const store = await openPostgresStore({
    url: `${server.url}?schema=${schema}&pool=${pool}`,
    pg,
    platform: nodePlatform,
    owner: schema,
  });
  onTestFinished(() => store.close());
  return new World(store, nodePlatform as never);
}

async function open() {
  const schema = `replicated${++schemas}`;
  return { schema, world: await openNode(schema) };
}

/** For all sessions, also those that are open; null for what it was. */
async function configure(name: string, value: string | null): Promise<void> {
  await admin.query(value === null ? `alter system reset ${name}` : `alter system set ${name} = ${value}`);
  await admin.query("select pg_reload_conf()");
}

/** The sessions of a store that wait for the standby. */
async function waiting(schema: string): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name like $1 and wait_event = 'SyncRep'",
    [`idem ${schema}%`],
  );
  return rows.map(({ pid }) => pid);
}

/** Once so many of them do, or what should wait was answered. */
const untilWaiting = (schema: string, count: number, answered: readonly unknown[] = []) =>
  until(async () => {
    const pids = await waiting(schema);
    if (answered.length === 0) expect(pids).toHaveLength(count);
    return pids;
  }) as Promise<number[]>;

async function eventsAt(url: string, schema: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`select id from "${schema}".events order by id`);
  await client.end();
  return rows.map(({ id }) => id);
}

/** What the standby would know if it took over now. */
async function eventsOfPromoted(schema: string): Promise<string[]> {
  const promoted = await standby.promotedCopy();
  const ids = await eventsAt(promoted.url, schema);
  await promoted.remove();
  return ids;
}

const aClaim = { env, scope: "http", key: "k", token: "t", fingerprint: null, windowMs: 60_000, leaseMs: 60_000 };

describe("an event whose commit waits for a standby that froze", () => {
  const ways: [string, (pids: readonly number[]) => Promise<unknown>][] = [
    [
      "the session was ended",
      (pids) => admin.query("select pg_terminate_backend(pid) from unnest($1::int[]) pid", [pids]),
    ],
    [
      "the wait was cancelled",
      (pids) => admin.query("select pg_cancel_backend(pid) from unnest($1::int[]) pid", [pids]),
    ],
    [
      "the server was restarted",
      async () => {
        await server.crash();
        await server.start();
      },
    ],
  ];

  test.each(ways)("is not acknowledged because %s: the repeat waits as the first did", async (_, cut) => {
    const { schema, world } = await open();
    const before = ["a", "b"];
    await world.ingest(before.map((id) => newEvent(id)));
    standby.freeze();
    const acknowledged: string[] = [];
    const sent = ["c", "d", "e"].map((id) =>
      world.ingest([newEvent(id)], [startPair(`run of ${id}`)]).then(() => acknowledged.push(id)),
    );
    const pids = await untilWaiting(schema, 1);
    await cut(pids);
    // Seen by everybody, and the repeat still waits.
    await until(async () => expect((await admin.query(`select 1 from "${schema}".events`)).rowCount).toBe(5));
    await untilWaiting(schema, 1, acknowledged);
    expect(acknowledged).toEqual([]);
    expect(await eventsOfPromoted(schema)).toEqual(before);
    standby.thaw();
    await Promise.all(sent);
    expect(await eventsAt(standby.url, schema)).toEqual([...before, "c", "d", "e"]);
  });
});

describe("what was done already", () => {
  test("is answered to nobody before the standby has it, whatever was asked and whoever asks", async () => {
    const { schema, world } = await open();
    await world.store.register({ env, app: "shop", functions: [{ fn, id: fn, config: "{}", crons: [] }] });
    for (const id of ["saved", "ended", "cancelled"]) await world.startLeased(id);
    const asked: Record<string, (by: World) => Promise<unknown>> = {
      "an event without id and key": (by) => by.ingest([newEvent("plain")]),
      "an event that starts a run": (by) => by.start("started"),
      "a step": (by) => by.advance("saved", { steps: [newStep("s")] }),
      "an end": (by) => by.advance("ended", { next: end("completed") }),
      "a cancel": (by) => by.store.cancel({ env, runId: "cancelled", result: "null", releaseKey: false, ingest: null }),
      "a key": (by) => by.store.claim(aClaim),
      "a registration": (by) =>
        by.store.register({ env, app: "shop", functions: [{ fn, id: fn, config: "{}", crons: [] }] }),
      "what another node wrote and this one read": (by) => by.store.shared!.stand(),
    };
    for (const ask of Object.values(asked)) await ask(world);
    const other = await openNode(schema, 20);
    standby.freeze();
    const answered: string[] = [];
    const asking = Object.entries(asked).map(([what, ask]) => ask(other).then(() => answered.push(what)));
    // Two of them are events, which go together.
    await untilWaiting(schema, asking.length - 1, answered);
    expect(answered).toEqual([]);
    standby.thaw();
    await Promise.all(asking);
  });
});

describe("a server that is set to lose commits while nodes use it", () => {
  const lost = { code: "STORE_DURABILITY_LOST" };
  let ids = 0;

  /** Everything that acknowledges, each by a way of its own; every call is about something new. */
  async function acknowledging(world: World) {
    const leased = async () => {
      const runId = `run ${++ids}`;
      await world.startLeased(runId);
      return runId;
    };
    const runs = { save: await leased(), end: await leased(), step: await leased() };
    const { transactional } = world.store;
    const input = { env, worker: "w1", runId: runs.step, jobId: runs.step, fence: 1 };
    const asked: Record<string, () => Promise<unknown>> = {
      event: () => world.ingest([newEvent(`event ${++ids}`)]),
      step: () => world.advance(runs.save, { steps: [newStep(`step ${++ids}`)] }),
      end: () => world.advance(runs.end, { next: end("completed") }),
      transaction: () => transactional!.run(input, async () => newStep(`step ${++ids}`)),
      key: () => world.store.claim({ ...aClaim, key: `key ${++ids}` }),
      beat: () => world.store.heartbeat("w1", 60_000),
    };
    return asked;
  }
  const rowsOf = async (schema: string) =>
    (
      await admin.query(`select (select count(*) from "${schema}".events) as events, (select count(*) from "${schema}".steps) as steps,
        (select count(*) from "${schema}".runs where ended_state is not null) as ended, (select count(*) from "${schema}".claims) as claims`)
    ).rows[0];

  test.each([
    ["synchronous_commit", "off"],
    ["synchronous_commit", "local"],
    ["fsync", "off"],
    ["full_page_writes", "off"],
  ])(
    "%s = %s: nothing more is acknowledged or kept, and everything goes on once it is set back",
    async (name, value) => {
      const { schema, world } = await open();
      onTestFinished(() => configure(name, name === "synchronous_commit" ? "remote_apply" : null));
      const asked = await acknowledging(world);
      await configure(name, value);
      // Each session hears of it by itself; until then it is as safe as it was.
      const { end: _, ...repeatable } = asked;
      for (const ask of Object.values(repeatable)) await until(() => expect(ask()).rejects.toMatchObject(lost));
      const before = await rowsOf(schema);
      for (const ask of Object.values(asked)) await expect(ask()).rejects.toMatchObject(lost);
      expect(await rowsOf(schema)).toEqual(before);
      await configure(name, name === "synchronous_commit" ? "remote_apply" : null);
      for (const ask of Object.values(asked)) await until(ask);
    },
  );

  test("by its role or database: sessions opened since are refused, and none of them is kept for later", async () => {
    const { schema, world } = await open();
    const setBack = () => admin.query("alter role idem reset synchronous_commit");
    onTestFinished(async () => void (await setBack()));
    const sendsOne = () => world.ingest([newEvent(`event ${++ids}`)]);
    await sendsOne();
    await admin.query("alter role idem set synchronous_commit = off");
    // By a session that was there before.
    await sendsOne();
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like $1", [
      `idem ${schema}%`,
    ]);
    await expect(sendsOne()).rejects.toMatchObject(lost);
    await setBack();
    await sendsOne();
  });
});
