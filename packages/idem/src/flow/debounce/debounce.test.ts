import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import type { DebounceOptions } from "./config.ts";

describe.each(stores)("debounce on %s", (store) => {
  async function begin(debounce: DebounceOptions, fn: Partial<FunctionOptions> = {}) {
    const begun: [n: unknown, second: number][] = [];
    const world = testIdem({ store });
    const { idem, clock } = world;
    const zero = clock.now();
    idem.createFunction({ id: "fn", debounce, ...fn }, { event: "a/b" }, async ({ event, step }) => {
      await step.run("begin", () => begun.push([event.data.n, (clock.now() - zero) / 1_000]));
      return event.data.n;
    });
    await idem.start();
    const send = async (data: Record<string, unknown>, more: { ts?: number; id?: string } = {}) =>
      (await idem.send({ name: "a/b", data, ...more })).decisions[0]!;
    const decisionOf = async (eventId: string) => (await idem.events.get(eventId))!.decisions[0]!;
    return { ...world, begun, send, decisionOf };
  }

  test("one run starts after the silence, with the last event; every event has a decision that names it", async () => {
    const { idem, clock, begun, send, decisionOf } = await begin({ period: "5s" });
    const first = await send({ n: 1 });
    expect(first).toMatchObject({ kind: "debounced", runId: null });
    expect(first.reason).toContain(new Date(clock.now() + 5_000).toISOString());
    await clock.advance("4s");
    const second = await send({ n: 2 });
    expect(await decisionOf(first.eventId)).toMatchObject({ kind: "debounced", runId: null });
    expect((await decisionOf(first.eventId)).reason).toBe(`superseded by event ${second.eventId}`);
    await clock.advance(4_999);
    expect(await idem.runs.list()).toEqual([]);
    await clock.advance(1);
    expect(begun).toEqual([[2, 9]]);
    const [run] = await idem.runs.list();
    expect(run).toMatchObject({ eventId: second.eventId, state: "completed", output: 2 });
    expect(await decisionOf(second.eventId)).toMatchObject({ kind: "started", runId: run!.id });
    expect(await decisionOf(first.eventId)).toMatchObject({
      kind: "debounced",
      runId: run!.id,
      reason: `superseded by event ${second.eventId}`,
    });
  });

  test("an event whose ts is older than the newest neither replaces it nor extends the silence", async () => {
    const { clock, begun, send, decisionOf } = await begin({ period: "5s" });
    const now = clock.now();
    const newest = await send({ n: "newest" }, { ts: now });
    await clock.advance("4s");
    const older = await send({ n: "older" }, { ts: now - 1 });
    expect(older).toMatchObject({ kind: "debounced", reason: `superseded by event ${newest.eventId}` });
    await clock.advanceToEnd();
    expect(begun).toEqual([["newest", 5]]);
    const { runId } = await decisionOf(newest.eventId);
    expect(await decisionOf(older.eventId)).toMatchObject({ kind: "debounced", runId });
  });

  test("of two with the same ts the one that came later counts", async () => {
    const { clock, begun, send } = await begin({ period: "5s" });
    const ts = clock.now();
    await send({ n: 1 }, { ts });
    await send({ n: 2 }, { ts });
    await clock.advanceToEnd();
    expect(begun).toEqual([[2, 5]]);
  });

  test("the timeout bounds how long events that keep coming can put it off", async () => {
    const { clock, begun, send } = await begin({ period: "5s", timeout: "12s" });
    for (let n = 0; n <= 6; n++) {
      await send({ n });
      await clock.advance("3s");
    }
    await clock.advanceToEnd();
    // The first twelve seconds end after the event of second 9; the one of second 12 opens the next.
    expect(begun).toEqual([
      [3, 12],
      [6, 23],
    ]);
  });

  test("an event after the run started opens another silence of its own", async () => {
    const { clock, begun, send } = await begin({ period: "5s" });
    await send({ n: 1 });
    await clock.advance("5s");
    await send({ n: 2 });
    await clock.advanceToEnd();
    expect(begun).toEqual([
      [1, 5],
      [2, 10],
    ]);
  });

  test("each value of the key is waited for by itself", async () => {
    const { clock, begun, send } = await begin({ period: "5s", key: "event.data.of" });
    await send({ n: "a1", of: "a" });
    await send({ n: "b1", of: "b" });
    await clock.advance("3s");
    await send({ n: "a2", of: "a" });
    await clock.advanceToEnd();
    expect(begun).toEqual([
      ["b1", 5],
      ["a2", 8],
    ]);
  });

  test("hundreds of silences that end at once all start at their time", async () => {
    const { idem, clock, begun } = await begin({ period: "5s", key: "event.data.n" });
    await idem.send(Array.from({ length: 250 }, (_, n) => ({ name: "a/b", data: { n } })));
    await clock.advance("5s");
    expect(begun).toHaveLength(250);
    expect(new Set(begun.map(([, second]) => second))).toEqual(new Set([5]));
  });

  test("without its key an event starts at once, and the decision says so; false says nothing", async () => {
    const { clock, begun, send } = await begin({ period: "5s", key: "event.data.now ? false : event.data.of" });
    const missing = await send({ n: 1, now: false });
    expect(missing.kind).toBe("started");
    expect(missing.reason).toMatch(/debounce\.key.*did not apply/);
    expect(await send({ n: 2, now: true })).toMatchObject({ kind: "started", reason: null });
    await clock.advance(0);
    expect(begun).toEqual([
      [1, 0],
      [2, 0],
    ]);
  });

  test("a filtered event is not waited for", async () => {
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "fn", debounce: { period: "5s" } },
      { event: "a/b", if: "event.data.n > 1" },
      async ({ event }) => event.data.n,
    );
    await idem.start();
    await idem.send({ name: "a/b", data: { n: 2 } });
    await clock.advance("4s");
    expect((await idem.send({ name: "a/b", data: { n: 1 } })).decisions).toMatchObject([{ kind: "filtered" }]);
    await clock.advance("1s");
    expect(await idem.runs.list()).toMatchObject([{ output: 2 }]);
  });

  test("of a function paused meanwhile all are paused; released, each starts what it would have started", async () => {
    const { idem, clock, begun, send, decisionOf } = await begin({ period: "5s" });
    const sent = [await send({ n: 1 }), await send({ n: 2 })];
    await idem.functions.pause("fn");
    await clock.advance("1m");
    for (const { eventId } of sent) expect(await decisionOf(eventId)).toMatchObject({ kind: "paused", runId: null });
    expect(begun).toEqual([]);
    await idem.functions.resume("fn", { waiting: "release" });
    await clock.advanceToEnd();
    expect(begun.map(([n]) => n).toSorted()).toEqual([1, 2]);
    for (const { eventId } of sent) expect(await decisionOf(eventId)).toMatchObject({ kind: "started" });
  });

  test("a run that a limit refuses leaves its reason at all of its events", async () => {
    const { clock, begun, send, decisionOf } = await begin({ period: "5s" }, { rateLimit: { limit: 1, period: "1h" } });
    await send({ n: 0 });
    await clock.advance("5s");
    const [first, second] = [await send({ n: 1 }), await send({ n: 2 })];
    await clock.advance("5s");
    expect(begun).toEqual([[0, 5]]);
    expect(await decisionOf(second.eventId)).toMatchObject({ kind: "rate-limited", runId: null });
    const superseded = await decisionOf(first.eventId);
    expect(superseded.runId).toBeNull();
    expect(superseded.reason).toContain(`superseded by event ${second.eventId}, which started no run`);
  });

  test("a run that is put off by a debounce stands in line like any other", async () => {
    const { clock, begun, send } = await begin(
      { period: "5s", key: "event.data.of" },
      { throttle: { limit: 1, period: "10s" } },
    );
    for (const of of ["a", "b", "c"]) await send({ n: of, of });
    await clock.advanceToEnd();
    expect(begun.map(([, second]) => second)).toEqual([5, 15, 25]);
  });

  test("it survives its process: another one starts the run at the time", async () => {
    const begun: number[] = [];
    const { clock, process } = oneStore(store);
    const [first, second] = [process(), process()];
    for (const { idem } of [first, second]) {
      idem.createFunction({ id: "fn", debounce: { period: "1m" } }, { event: "a/b" }, async () =>
        begun.push(clock.now()),
      );
      await idem.start();
    }
    const at = clock.now() + 60_000;
    const { eventId } = (await first.idem.send({ name: "a/b" })).decisions[0]!;
    first.lose();
    await clock.tick("59s");
    expect(begun).toEqual([]);
    await clock.tick("2s");
    expect(begun).toHaveLength(1);
    expect(begun[0]! - at).toBeLessThanOrEqual(1_000);
    expect((await second.idem.events.get(eventId))!.decisions).toMatchObject([{ kind: "started" }]);
  });
});
