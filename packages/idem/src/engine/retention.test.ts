import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import { type PruneAnswer, type PruneInput, prunedNothing } from "../store/prune.ts";
import type { Store } from "../store/store.ts";
import { held } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { limits } from "./limits.ts";
import { Retention, type RetentionOptions, readRetention } from "./retention.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A client whose prune calls are written down, and answered here when `answer` is given. */
function watched(options: Partial<IdemOptions>, answer?: (input: PruneInput) => Promise<PruneAnswer>) {
  const { store: memory, clock, client } = testIdem();
  const calls: PruneInput[] = [];
  const prune = (input: PruneInput) => {
    calls.push(input);
    return answer === undefined ? (memory as Store).prune(input) : answer(input);
  };
  const store: Store = Object.create(memory as Store, { prune: { value: prune } });
  return { calls, clock, idem: client({ ...options, store }) };
}

const nothing = prunedNothing;
const pruned = (after: string | null, over: Partial<PruneAnswer> = {}): PruneAnswer => ({
  deleted: nothing,
  kept: 0,
  after,
  clearTo: after ?? "",
  reachedAt: null,
  othersUntil: null,
  ...over,
});

test("history older than the retention is deleted in the background, and younger history stays", async () => {
  const { idem, clock } = testIdem({ retention: "30d" });
  idem.createFunction({ id: "pay" }, { event: "order/paid" }, ({ step }) => step.run("charge", () => 1));
  await idem.start();
  await idem.send({ name: "order/paid" });
  await clock.advance(20 * day);
  const { ids } = await idem.send({ name: "order/paid" });
  expect(await idem.runs.list()).toHaveLength(2);
  await clock.advance(11 * day);
  await clock.tick(limits.retentionPauseMs);
  expect(await idem.events.list()).toMatchObject([{ id: ids[0] }]);
  expect(await idem.runs.list()).toHaveLength(1);
  await idem.stop();
});

test("everything is kept unless a retention is given", async () => {
  const { idem, clock, calls } = watched({});
  await idem.start();
  await idem.send({ name: "order/paid" });
  await clock.advance(360 * day);
  expect(calls).toEqual([]);
  expect(await idem.events.list()).toHaveLength(1);
  await idem.stop();
});

test("open runs, open windows and held events outlive the retention", async () => {
  const { idem, clock } = testIdem({ retention: "1d", eventWindow: "10d" });
  idem.createFunction({ id: "nap" }, { event: "nap/begun" }, ({ step }) => step.sleep("long", "60d"));
  idem.createFunction(
    { id: "pay", idempotency: { key: "event.data.order", window: "20d" } },
    { event: "pay" },
    () => 1,
  );
  idem.createFunction(
    { id: "hold", idempotency: { key: "event.data.order", onMissing: "reject" } },
    { event: "hold" },
    () => 1,
  );
  idem.createFunction({ id: "hear" }, { event: "once/heard" }, () => 1);
  await idem.start();
  await idem.send({ name: "nap/begun" });
  await idem.send({ name: "pay", data: { order: 7 } });
  await idem.send({ name: "hold" });
  await idem.send({ name: "once/heard", id: "once" });
  await idem.send({ name: "once/heard" });
  await clock.advance(2 * day);
  await clock.tick(limits.retentionPauseMs);
  const names = async () => (await idem.events.list()).map(({ name }) => name).sort();
  expect(await names()).toEqual(["hold", "nap/begun", "once/heard", "pay"]);
  const again = await idem.send([
    { name: "pay", data: { order: 7 } },
    { name: "once/heard", id: "once" },
  ]);
  expect(again.decisions).toMatchObject([{ kind: "duplicate-key" }, { kind: "duplicate-event" }]);
  await clock.advance(25 * day);
  await clock.tick(limits.retentionPauseMs);
  expect(await names()).toEqual(["hold", "nap/begun"]);
  await idem.stop();
});

test("what people did is kept for a year at least, and for as long as the runs it was done to", async () => {
  const askedWith = async (retention: string) => {
    const { idem, clock, calls } = watched({ retention }, async () => pruned(null));
    await idem.start();
    await clock.tick(limits.retentionBreathMs);
    await idem.stop();
    return (clock.now() - calls[0]!.auditBefore!) / day;
  };
  expect(await askedWith("1h")).toBe(365);
  expect(await askedWith("800d")).toBe(800);
});

/** A store that deletes so many rows in a millisecond, and how much it is asked to delete when. */
function storeOf(backlog: { rows: number }, rowsPerMs: number, platform: ManualPlatform) {
  const calls: { readonly at: number; readonly input: PruneInput; readonly rows: number }[] = [];
  const prune = async (input: PruneInput): Promise<PruneAnswer> => {
    const rows = Math.min(input.max, backlog.rows);
    backlog.rows -= rows;
    calls.push({ at: platform.monoMs(), input, rows });
    const after = backlog.rows > 0 ? String(calls.length).padStart(9, "0") : null;
    // As far behind as there are rows left.
    const reachedAt = input.before - backlog.rows;
    const tookMs = rows / rowsPerMs;
    platform.clock.advance(tookMs);
    return pruned(after, { deleted: { ...nothing, events: rows }, tookMs, reachedAt });
  };
  return { calls, store: { prune, shared: null } };
}

function retentionOver(store: RetentionOptions["store"], platform: ManualPlatform, name: string | null = null) {
  const time = { reached: () => platform.wallMs() };
  const report = (_: string, error: unknown) => {
    throw error;
  };
  return new Retention({ store, platform, time, env: "default", keepMs: day, name, report });
}

/** Its turns, one after the other, for so long; `each` second something happens. */
async function live(retention: Retention, platform: ManualPlatform, ms: number, each: () => void = () => {}) {
  const until = platform.monoMs() + ms;
  let second = platform.monoMs();
  let nextAt = platform.monoMs();
  while (platform.monoMs() < until) {
    if (platform.monoMs() >= second) {
      each();
      second += 1_000;
    }
    if (platform.monoMs() >= nextAt) {
      const pauseMs = await retention.turn();
      nextAt = platform.monoMs() + pauseMs;
    }
    platform.clock.advance(Math.max(0, Math.min(nextAt, second, until) - platform.monoMs()));
  }
}

test("a backlog of a million rows goes in batches that take no longer than they may, in a twentieth of the time", async () => {
  const platform = new ManualPlatform();
  const backlog = { rows: 1_000_000 };
  // A file on a slow disk: 6 µs a row.
  const { calls, store } = storeOf(backlog, 160, platform);
  await live(retentionOver(store, platform), platform, 200_000);
  expect(backlog.rows).toBe(0);
  const [first, ...others] = calls.map(({ rows }) => rows / 160);
  expect(first).toBeLessThan(7);
  expect(Math.max(...others)).toBeLessThanOrEqual(limits.retentionBatchMs);
  const workMs = calls.reduce((all, { rows }) => all + rows / 160, 0);
  const lastAt = calls.findLast(({ rows }) => rows > 0)!.at;
  expect(workMs / lastAt).toBeGreaterThan(0.045);
  expect(workMs / lastAt).toBeLessThanOrEqual(0.051);
});

test.each([
  ["a twentieth of the time", 1_000, 0.02],
  ["a tenth of the time, once it saw that a twentieth is not enough", 160, 0.12],
])("16,000 rows that get old in a second are deleted as they do: %s", async (_, rowsPerMs, share) => {
  const platform = new ManualPlatform();
  const backlog = { rows: 0 };
  const { calls, store } = storeOf(backlog, rowsPerMs, platform);
  const left: number[] = [];
  await live(retentionOver(store, platform), platform, 600_000, () => {
    left.push(backlog.rows);
    backlog.rows += 16_000;
  });
  expect(Math.max(...left.slice(-100))).toBeLessThanOrEqual(8 * 16_000);
  const late = calls.filter(({ at }) => at >= 500_000);
  expect(late.reduce((all, { rows }) => all + rows / rowsPerMs, 0) / 100_000).toBeLessThan(share);
});

test("while history gets old faster than it can go, half of the time is left to others", async () => {
  const platform = new ManualPlatform();
  const backlog = { rows: 0 };
  const { calls, store } = storeOf(backlog, 10, platform);
  await live(retentionOver(store, platform), platform, 300_000, () => {
    backlog.rows += 16_000;
  });
  const late = calls.filter(({ at }) => at >= 200_000);
  const share = late.reduce((all, { rows }) => all + rows / 10, 0) / 100_000;
  expect(share).toBeLessThanOrEqual(0.5);
});

test("once nothing is left it rests, a second where much went, else minutes; then it begins where nothing was left, once a day from the oldest", async () => {
  const platform = new ManualPlatform();
  const answers = [
    pruned("b", { clearTo: "b", deleted: { ...nothing, events: 2_000 } }),
    pruned("d", { clearTo: "c" }),
    pruned(null, { clearTo: "d" }),
  ];
  const calls: PruneInput[] = [];
  const prune = async (input: PruneInput) => {
    calls.push(input);
    return answers.shift() ?? pruned(null, { clearTo: "c" });
  };
  const retention = retentionOver({ prune, shared: null }, platform);
  const before = platform.wallMs() - day;
  const pauses = [await retention.turn(), await retention.turn(), await retention.turn(), await retention.turn()];
  const { retentionPaceMs: pace, retentionBreathMs: breath, retentionPauseMs: pause } = limits;
  expect(pauses).toEqual([pace, pace, breath, pause]);
  const auditBefore = platform.wallMs() - limits.auditKeptMsMin;
  expect(calls[0]).toEqual({ env: "default", before, after: "", max: limits.retentionRowsFirst, auditBefore });
  expect(calls.map(({ after }) => after)).toEqual(["", "b", "d", "c"]);
  platform.clock.advance(day);
  for (let pass = 0; pass < 2; pass++) await retention.turn();
  expect(calls.map(({ after }) => after)).toEqual(["", "b", "d", "c", "", "c"]);
});

test("of two nodes over one store one deletes; when it is gone the other goes on, and nothing open is touched", async () => {
  const { store, idem, clock } = testIdem();
  const memory = store as Store;
  const turns: string[] = [];
  const watchedStore: Store = Object.create(memory, {
    shared: { value: {} },
    prune: {
      value: async (input: PruneInput) => {
        const answer = await memory.prune({ ...input, max: 8 });
        if (answer.othersUntil === null) turns.push(input.turn!.by);
        return answer;
      },
    },
  });
  idem.createFunction({ id: "pay" }, { event: "order/paid" }, ({ step }) => step.run("charge", () => 1));
  idem.createFunction({ id: "nap" }, { event: "nap/begun" }, ({ step }) => step.sleep("long", "60d"));
  await idem.start();
  for (let n = 0; n < 20; n++) await idem.send([{ name: "order/paid" }, { name: "nap/begun" }]);
  await clock.advance(2 * day);
  const platform = new ManualPlatform();
  platform.clock.stepWall(clock.now() - platform.wallMs());
  const [a, b] = ["a", "b"].map((name) => retentionOver(watchedStore, platform, name)) as [Retention, Retention];
  await a.turn();
  expect(await b.turn()).toBe(limits.retentionPauseMs);
  await a.turn();
  expect(turns).toEqual(["a", "a"]);
  // Half-way it dies.
  expect((await memory.reads.runs("default", { limit: 100 })).length).toBeGreaterThan(30);
  turns.length = 0;
  for (let passed = 0; passed < limits.retentionTurnMs; passed += limits.retentionPauseMs) {
    expect(await b.turn()).toBe(limits.retentionPauseMs);
    expect(turns).toEqual([]);
    await clock.advance(limits.retentionPauseMs);
    platform.clock.advance(limits.retentionPauseMs);
  }
  await b.deleteAll(() => false);
  expect(new Set(turns)).toEqual(new Set(["b"]));
  const runs = await memory.reads.runs("default", { limit: 100 });
  expect(runs.map(({ state }) => state)).toEqual(Array.from({ length: 20 }, () => "waiting"));
  await idem.stop();
});

test("a call that takes long is followed by no other until it is over", async () => {
  const end = held();
  const { idem, clock, calls } = watched({ retention: "7d" }, async () => {
    await end.promise;
    return pruned("a");
  });
  await idem.start();
  await clock.tick(10 * limits.retentionBreathMs);
  expect(calls).toHaveLength(1);
  end.release();
  // As long as it took is a twentieth of the time until the next.
  await clock.tick(20 * 10 * limits.retentionBreathMs);
  expect(calls.length).toBeGreaterThan(1);
  await idem.stop();
});

test("it goes on while every place is taken, or the disk would fill in the busiest of times", async () => {
  const end = held();
  const { idem, clock, calls } = watched({ retention: "7d", runsInFlight: 1 }, async () => pruned("a"));
  idem.createFunction({ id: "long" }, { event: "a/b" }, () => end.promise);
  await idem.start();
  await idem.send({ name: "a/b" });
  await clock.tick(limits.retentionBreathMs + limits.retentionPaceMs);
  expect(calls.length).toBeGreaterThan(1);
  end.release();
  await idem.stop();
});

test("a store that fails is reported and asked again later, and runs go on meanwhile", async () => {
  let fails = true;
  const logged: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => void logged.push(text) };
  const { idem, clock, calls } = watched({ retention: "7d", logger: logger as never }, async () => {
    if (fails) throw new Error("disk full");
    return pruned(null);
  });
  idem.createFunction({ id: "pay" }, { event: "a/b" }, () => 1);
  await idem.start();
  await clock.tick(limits.retentionBreathMs);
  expect(logged).toEqual(["idem: deleting history past its retention failed"]);
  const { runId } = (await idem.send({ name: "a/b" })).decisions[0]!;
  expect(await idem.runs.wait(runId!)).toMatchObject({ state: "completed" });
  fails = false;
  await clock.tick(limits.retentionPauseMs);
  expect(calls).toHaveLength(2);
  await idem.stop();
});

test("nothing is deleted once the client has stopped", async () => {
  const { idem, clock, calls } = watched({ retention: "7d" });
  await idem.start();
  await idem.stop();
  await clock.tick(limits.retentionPauseMs);
  expect(calls).toEqual([]);
});

test("a wall clock that is suddenly a year ahead makes no history old", async () => {
  const { idem, clock, calls } = watched({ retention: "30d" });
  await idem.start();
  await idem.send({ name: "order/paid" });
  await clock.tick(limits.retentionBreathMs);
  clock.stepWall(365 * day);
  await clock.tick(2 * limits.retentionPauseMs);
  expect(calls.length).toBeGreaterThan(1);
  expect(await idem.events.list()).toHaveLength(1);
  await idem.stop();
});

test("a retention is a duration of an hour or more, of years too", () => {
  expect(readRetention("1h")).toBe(hour);
  expect(readRetention(90 * day)).toBe(90 * day);
  expect(readRetention("7y")).toBe(7 * 365.25 * day);
  expect(() => readRetention("59m")).toThrow("1h or longer");
  expect(() => readRetention("0d", "--retention")).toThrow('"--retention"');
  expect(() => readRetention("soon")).toThrow("soon");
  expect(() => testIdem({ retention: "5m" })).toThrow(/"retention".*1h or longer/);
});
