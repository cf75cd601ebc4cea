// A server whose commits wait for a standby, and a standby that stops answering. Whoever waits can be sent away: what it has committed is
// then seen by everybody, and is nowhere else.
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type LocalPostgres, type LocalStandby, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { end, env, fn, newEvent, newStep, startPair, World } from "../contract/world.ts";
import type { HistoryReport } from "../history.ts";
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

describe("a standby that takes over from a primary that was killed", () => {
  /** Two nodes over both addresses, which have sent and run something. */
  async function open(isSynchronous: boolean) {
    const primary = await startLocalPostgres({ settings: { shared_buffers: "32MB" } });
    onTestFinished(() => primary.remove());
    const follower = await primary.addStandby({ isAwaited: isSynchronous, takesOver: true });
    const port = (url: string) => new URL(url).port;
    const store = `postgres://idem:idem@127.0.0.1:${port(primary.url)},127.0.0.1:${port(follower.url)}/postgres`;
    const nodes = [1, 2].map(() => {
      const losses: string[] = [];
      const error = (line: unknown) =>
        void (/lost acknowledged writes/.test(String(line)) && losses.push(String(line)));
      const idem = new Idem({ id: "shop", store, logger: { debug() {}, info() {}, warn() {}, error } });
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, ({ event }) => event.data.n);
      onTestFinished(() => idem.stop({ grace: 0 }));
      return { idem, losses };
    });
    for (const { idem } of nodes) await idem.start();
    const send = async (n: number) => {
      const { idem } = nodes[n % 2]!;
      const { ids, decisions } = await idem.send({ name: "order/paid", id: `order ${n}`, data: { n } });
      await idem.runs.wait(decisions[0]!.runId!);
      return ids[0]!;
    };
    return { primary, follower, nodes, send };
  }

  const query = async <Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  };

  /** Until both nodes were acknowledged for so many more heartbeats. */
  async function untilBeaten(url: string, times: number): Promise<void> {
    const counters = async () => {
      const rows = await query<{ id: string; counter: string }>(url, "select id, counter from idem.heartbeats");
      return new Map(rows.map(({ id, counter }) => [id, Number(counter)]));
    };
    const before = await counters();
    await until(async () => {
      const moved = [...(await counters())].filter(([id, counter]) => counter >= (before.get(id) ?? 0) + times);
      expect(moved.length).toBeGreaterThanOrEqual(2);
    });
  }

  const alertsAt = (url: string) =>
    query<{ id: string; state: string }>(url, "select id, state from idem.alerts where kind = 'store-rollback'");

  test("a standby that was behind takes over: each node reports the loss once, in one alert, with the ids that are missing", async () => {
    const { primary, follower, nodes, send } = await open(false);
    for (const n of [1, 2]) await send(n);
    await untilBeaten(primary.url, 1);
    await until(async () => {
      const kept = await query(follower.url, "select 1 from idem.runs where ended_state is not null");
      expect(kept).toHaveLength(2);
    });
    await follower.stop();
    const lost: string[] = [];
    for (const n of [3, 4, 5, 6]) lost.push(await send(n));
    await untilBeaten(primary.url, 1);
    await primary.crash();
    await follower.start();
    await follower.promote();
    await until(() => expect(nodes.map(({ losses }) => losses.length)).toEqual([1, 1]));
    for (const id of lost) expect(nodes.map(({ losses }) => losses[0]).join()).toContain(`event ${id}`);
    await untilBeaten(follower.url, 3);
    expect(nodes.map(({ losses }) => losses.length)).toEqual([1, 1]);
    const alerts = await alertsAt(follower.url);
    expect(alerts).toMatchObject([{ state: "open" }]);
    const pairs = await query<{ later_id: string }>(follower.url, "select later_id from idem.alert_pairs");
    expect(pairs.map(({ later_id }) => later_id)).toEqual(expect.arrayContaining(lost));
    // Senders repeat what was lost, and it runs.
    for (const n of [3, 4]) await send(n);
  });

  test("a synchronous standby takes over: nothing is reported", async () => {
    const { primary, follower, nodes, send } = await open(true);
    await untilBeaten(primary.url, 1);
    // In the middle of what they do.
    const sending = Promise.all(Array.from({ length: 20 }, (_, n) => send(n)));
    await until(async () => expect(await query(primary.url, "select 1 from idem.events")).not.toEqual([]));
    await primary.crash();
    await follower.promote();
    await sending;
    await untilBeaten(follower.url, 3);
    expect(nodes.map(({ losses }) => losses)).toEqual([[], []]);
    expect(await alertsAt(follower.url)).toEqual([]);
  });
});

test("commits that stop waiting for a standby while nodes run, and wait again, are logged once and noted for the doctor", async () => {
  const primary = await startLocalPostgres({ settings: { shared_buffers: "32MB" } });
  onTestFinished(() => primary.remove());
  await primary.addStandby({ isAwaited: false });
  const sessions = new pg.Pool({ connectionString: primary.url, max: 1 });
  onTestFinished(() => sessions.end());
  const name = async (standbys: string) => {
    await sessions.query(`alter system set synchronous_standby_names = '${standbys}'`);
    await sessions.query("select pg_reload_conf()");
  };
  await name("*");
  const store = await openPostgresStore({ url: primary.url, pg, platform: nodePlatform, owner: "node" });
  onTestFinished(() => store.close());
  const notices: string[] = [];
  store.shared!.history!.subscribe((report: HistoryReport) => {
    if (report.kind === "notice") notices.push(`${report.level} ${/is (empty|set) now/.exec(report.text)?.[1]}`);
  });
  const dropped = async () =>
    (await sessions.query("select value from idem.meta where name = 'standbys-dropped'")).rowCount;
  const untilNoticed = (expected: readonly string[], isDropped: number) =>
    until(async () => {
      await store.heartbeat("w1", 20_000);
      expect(notices).toEqual(expected);
      expect(await dropped()).toBe(isDropped);
    });
  await store.heartbeat("w1", 20_000);
  await name("");
  await untilNoticed(["warn empty"], 1);
  await name("*");
  await untilNoticed(["warn empty", "info set"], 0);
});
