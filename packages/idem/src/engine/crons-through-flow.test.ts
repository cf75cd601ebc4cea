// A tick passes what any start has to pass, except buffers: they gather events.
import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { stores, testIdem } from "../testing/flow-stores.suite.ts";
import { HeldWork } from "../testing/held-work.suite.ts";

describe.each(stores)("a tick on %s", (store) => {
  async function begin(options: Partial<FunctionOptions>) {
    const work = new HeldWork();
    const counts: number[] = [];
    const world = testIdem({ store });
    const { idem } = world;
    idem.createFunction(
      { id: "fn", ...options },
      [{ cron: "* * * * *" }, { event: "a/b" }],
      async ({ event, events, step }) => {
        counts.push(events.length);
        await step.run("work", () => work.do(nameOf(event)));
      },
    );
    await idem.start();
    const decisions = async () => {
      const events = await idem.events.list({ name: "inngest/scheduled.timer" });
      const told = await Promise.all(events.map(({ internalId }) => idem.events.get(internalId)));
      return told.reverse().map((event) => event!.decisions[0]!);
    };
    const kinds = async () => (await decisions()).map(({ kind }) => kind);
    return { ...world, work, counts, decisions, kinds };
  }
  const nameOf = ({ data }: { data: any }): string => (data.scheduledAt ?? data.n).replace(/.*T(..:..).*/, "$1");

  test("of a paused function is paused, and can be released with the instant it was for", async () => {
    const { idem, clock, work, kinds } = await begin({});
    await idem.functions.pause("fn");
    await clock.tick("125s");
    expect(await kinds()).toEqual(["paused", "paused"]);
    expect(work.entered).toEqual([]);
    await idem.functions.resume("fn", { waiting: "release" });
    await clock.tick(1);
    // Released at one instant they begin in either order.
    expect(work.entered.toSorted()).toEqual(["00:01", "00:02"]);
    expect(await kinds()).toEqual(["started", "started"]);
    await clock.tick("55s");
    expect(work.entered.toSorted()).toEqual(["00:01", "00:02", "00:03"]);
  });

  test("of a paused function can be dropped", async () => {
    const { idem, clock, work, kinds } = await begin({});
    await idem.functions.pause("fn");
    await clock.tick("65s");
    await idem.functions.resume("fn", { waiting: "drop", reason: "too late" });
    await clock.tick("30s");
    expect(await kinds()).toEqual(["dropped"]);
    expect(work.entered).toEqual([]);
  });

  test("stands in line where the function has a limit", async () => {
    const { clock, work } = await begin({ concurrency: 1 });
    await clock.tick("185s");
    expect(work.entered).toEqual(["00:01"]);
    for (const each of ["00:01", "00:02", "00:03"]) {
      work.letGo(each);
      await clock.tick(1);
    }
    expect(work.entered).toEqual(["00:01", "00:02", "00:03"]);
    expect(work.most).toBe(1);
  });

  test("is skipped while a run of the singleton is open, with a decision that names it", async () => {
    const { idem, clock, work, decisions } = await begin({ singleton: { mode: "skip" } });
    const { runId } = (await idem.send({ name: "a/b", data: { n: "first" } })).decisions[0]!;
    await clock.tick("125s");
    expect(await decisions()).toMatchObject([
      { kind: "singleton-skipped", runId },
      { kind: "singleton-skipped", runId },
    ]);
    work.letGo("first");
    await clock.tick("60s");
    expect(work.entered).toEqual(["first", "00:03"]);
  });

  test("takes the place of the open run of a singleton that cancels", async () => {
    const { idem, clock, work } = await begin({ singleton: { mode: "cancel" } });
    const { runId } = (await idem.send({ name: "a/b", data: { n: "first" } })).decisions[0]!;
    await clock.tick("60s");
    expect(await idem.runs.wait(runId!)).toMatchObject({ state: "cancelled" });
    expect(work.entered).toEqual(["first", "00:01"]);
  });

  test("beyond the rate limit is refused, with a decision", async () => {
    const { clock, kinds } = await begin({ rateLimit: { limit: 1, period: "90s" } });
    await clock.tick("185s");
    expect(await kinds()).toEqual(["started", "rate-limited", "started"]);
  });

  test("is spaced by the throttle together with the events", async () => {
    const { idem, clock, work } = await begin({ throttle: { limit: 1, period: "72s" } });
    await idem.send({ name: "a/b", data: { n: "event" } });
    await clock.tick("65s");
    expect(work.entered).toEqual(["event"]);
    await clock.tick("7s");
    expect(work.entered).toEqual(["event", "00:01"]);
  });

  test("goes past debounce and batch: it starts at its instant, alone, and leaves their events where they are", async () => {
    for (const options of [{ debounce: { period: "90s" } }, { batchEvents: { maxSize: 5, timeout: "90s" } }]) {
      const { idem, clock, work, counts, kinds } = await begin(options);
      await idem.send({ name: "a/b", data: { n: "event" } });
      await clock.tick("60s");
      expect(work.entered).toEqual(["00:01"]);
      expect(counts).toEqual([1]);
      expect(await kinds()).toEqual(["started"]);
      await clock.tick("30s");
      expect(work.entered).toEqual(["00:01", "event"]);
    }
  });

  test("has a function key like any event: where it has none it starts, and says so", async () => {
    const { clock, decisions } = await begin({ idempotency: "event.data.order" });
    await clock.tick("60s");
    const [decision] = await decisions();
    expect(decision).toMatchObject({ kind: "started", key: null });
    expect(decision!.reason).toContain("started without a key");
  });

  test("whose function key is taken starts nothing, and is answered with the run that has it", async () => {
    const { clock, decisions, work } = await begin({ idempotency: { key: "event.data.cron", window: "90s" } });
    await clock.tick("185s");
    const [first, second, third] = await decisions();
    expect(first).toMatchObject({ kind: "started" });
    expect(second).toMatchObject({ kind: "duplicate-key", runId: first!.runId });
    expect(third).toMatchObject({ kind: "started" });
    expect(work.entered).toEqual(["00:01", "00:03"]);
  });

  test("can be cancelled by an event and by its time to start", async () => {
    const { idem, clock, work } = await begin({
      concurrency: 1,
      cancelOn: [{ event: "stop" }],
      timeouts: { start: "30s" },
    });
    await clock.tick("155s");
    expect((await idem.runs.list()).map(({ state }) => state)).toEqual(["cancelled", "running"]);
    await idem.send({ name: "stop" });
    await clock.tick(1);
    expect((await idem.runs.list()).map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
    await clock.tick("30s");
    expect(work.entered).toEqual(["00:01", "00:03"]);
  });

  test("is held where a missing key must wait for a person", async () => {
    const { clock, kinds, work } = await begin({ idempotency: { key: "event.data.order", onMissing: "reject" } });
    await clock.tick("60s");
    expect(await kinds()).toEqual(["held"]);
    expect(work.entered).toEqual([]);
  });
});
