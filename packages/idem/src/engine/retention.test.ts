import { expect, test } from "vitest";
import type { IdemOptions } from "../sdk/client.ts";
import { type PruneAnswer, type PruneInput, prunedNothing } from "../store/prune.ts";
import type { Store } from "../store/store.ts";
import { held } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { limits } from "./limits.ts";
import { readRetention } from "./retention.ts";

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
const pruned = (after: string | null): PruneAnswer => ({ deleted: nothing, kept: 0, after });

test("history older than the retention is deleted in the background, and younger history stays", async () => {
  const { idem, clock } = testIdem({ retention: "30d" });
  idem.createFunction({ id: "pay" }, { event: "order/paid" }, ({ step }) => step.run("charge", () => 1));
  await idem.start();
  await idem.send({ name: "order/paid" });
  await clock.advance(20 * day);
  const { ids } = await idem.send({ name: "order/paid" });
  expect(await idem.runs.list()).toHaveLength(2);
  await clock.advance(11 * day);
  await clock.tick(2 * limits.retentionPaceMs);
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
  await clock.tick(2 * limits.retentionPaceMs);
  const names = async () => (await idem.events.list()).map(({ name }) => name).sort();
  expect(await names()).toEqual(["hold", "nap/begun", "once/heard", "pay"]);
  const again = await idem.send([
    { name: "pay", data: { order: 7 } },
    { name: "once/heard", id: "once" },
  ]);
  expect(again.decisions).toMatchObject([{ kind: "duplicate-key" }, { kind: "duplicate-event" }]);
  await clock.advance(25 * day);
  await clock.tick(2 * limits.retentionPaceMs);
  expect(await names()).toEqual(["hold", "nap/begun"]);
  await idem.stop();
});

test("what people did is kept for a year at least, and for as long as the runs it was done to", async () => {
  const askedWith = async (retention: string) => {
    const { idem, clock, calls } = watched({ retention }, async () => pruned(null));
    await idem.start();
    await clock.tick(limits.retentionPaceMs);
    await idem.stop();
    return (clock.now() - calls[0]!.auditBefore!) / day;
  };
  expect(await askedWith("1h")).toBe(365);
  expect(await askedWith("800d")).toBe(800);
});

test("at most 500 rows go in one call and at most one call in a second; once nothing is left it rests for minutes", async () => {
  const positions = ["a", "b", null];
  const { idem, clock, calls } = watched({ retention: "7d", env: "staging" }, async () =>
    pruned(positions.shift() ?? null),
  );
  await idem.start();
  const before = clock.now() - 7 * day;
  await clock.tick(limits.retentionPaceMs);
  const auditBefore = clock.now() - limits.auditKeptMsMin;
  expect(calls).toEqual([
    { env: "staging", before: before + limits.retentionPaceMs, after: "", max: 500, auditBefore },
  ]);
  await clock.tick(2 * limits.retentionPaceMs);
  expect(calls.map(({ after }) => after)).toEqual(["", "a", "b"]);
  await clock.tick(limits.retentionPauseMs - limits.retentionPaceMs);
  expect(calls).toHaveLength(3);
  await clock.tick(limits.retentionPaceMs);
  expect(calls.map(({ after }) => after)).toEqual(["", "a", "b", ""]);
  await idem.stop();
});

test("a call that takes long is followed by no other until it is over", async () => {
  const end = held();
  const { idem, clock, calls } = watched({ retention: "7d" }, async () => {
    await end.promise;
    return pruned("a");
  });
  await idem.start();
  await clock.tick(10 * limits.retentionPaceMs);
  expect(calls).toHaveLength(1);
  end.release();
  await clock.tick(2 * limits.retentionPaceMs);
  expect(calls.length).toBeGreaterThan(1);
  await idem.stop();
});

test("while every place is taken it waits, but not for ever", async () => {
  const end = held();
  const { idem, clock, calls } = watched({ retention: "7d", runsInFlight: 1 }, async () => pruned("a"));
  idem.createFunction({ id: "long" }, { event: "a/b" }, () => end.promise);
  await idem.start();
  await idem.send({ name: "a/b" });
  await clock.tick(limits.retentionPutOffMax * limits.retentionPaceMs);
  expect(calls).toHaveLength(0);
  await clock.tick(limits.retentionPaceMs);
  expect(calls).toHaveLength(1);
  await clock.tick(10 * limits.retentionPaceMs);
  expect(calls).toHaveLength(1);
  end.release();
  await clock.tick(2 * limits.retentionPaceMs);
  expect(calls.length).toBeGreaterThan(1);
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
  await clock.tick(limits.retentionPaceMs);
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
  await clock.tick(limits.retentionPaceMs);
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
