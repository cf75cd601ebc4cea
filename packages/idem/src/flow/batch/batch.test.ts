import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import type { BatchOptions } from "./config.ts";

describe.each(stores)("batchEvents on %s", (store) => {
  async function begin(batchEvents: BatchOptions, fn: Partial<FunctionOptions> = {}) {
    const begun: { n: unknown[]; second: number; first: unknown; key: string }[] = [];
    const world = testIdem({ store });
    const { idem, clock } = world;
    const zero = clock.now();
    idem.createFunction({ id: "fn", batchEvents, ...fn }, { event: "a/b" }, async ({ event, events, step }) => {
      const n = events.map((each) => each.data.n);
      await step.run("begin", ({ key }) => {
        begun.push({ n, second: (clock.now() - zero) / 1_000, first: event.data.n, key });
      });
      if (event.data.fail === true) throw new Error("not today");
      return n;
    });
    await idem.start();
    const send = async (...data: Record<string, unknown>[]) => {
      const sent = await idem.send(data.map((each) => ({ name: "a/b", data: each })));
      await clock.advance(0);
      return [...sent.decisions];
    };
    const decisionOf = async ({ eventId }: { eventId: string }) => (await idem.events.get(eventId))!.decisions[0]!;
    return { ...world, begun, send, decisionOf };
  }
  const numbered = (...numbers: number[]) => numbers.map((n) => ({ n }));

  test("a full batch starts at once, one run with all events in their order", async () => {
    const { idem, begun, send, decisionOf } = await begin({ maxSize: 3, timeout: "1m" });
    const sent = await send(...numbered(1, 2));
    for (const each of sent) {
      expect(each).toMatchObject({ kind: "batched", runId: null });
      expect(each.reason).toMatch(/one of up to 3/);
    }
    expect(begun).toEqual([]);
    sent.push(...(await send(...numbered(3, 4))));
    expect(begun).toMatchObject([{ n: [1, 2, 3], first: 1, second: 0 }]);
    const [run] = await idem.runs.list();
    expect(run).toMatchObject({ state: "completed", output: [1, 2, 3] });
    for (const each of sent.slice(0, 3)) {
      expect(await decisionOf(each)).toMatchObject({ kind: "started", runId: run!.id, reason: "in a batch of 3" });
    }
    expect(await decisionOf(sent[3]!)).toMatchObject({ kind: "batched", runId: null });
  });

  test("one that does not fill up starts when its first event has waited for the timeout", async () => {
    const { clock, begun, send } = await begin({ maxSize: 10, timeout: "30s" });
    await send({ n: 1 });
    await clock.advance("20s");
    await send({ n: 2 });
    await clock.advance(9_999);
    expect(begun).toEqual([]);
    await clock.advance(1);
    expect(begun).toMatchObject([{ n: [1, 2], second: 30 }]);
    await send({ n: 3 });
    await clock.advanceToEnd();
    expect(begun).toMatchObject([{ n: [1, 2] }, { n: [3], second: 60 }]);
  });

  test("each value of the key has its own batch; events without the key share one", async () => {
    const { clock, begun, send } = await begin({ maxSize: 2, timeout: "30s", key: "event.data.of" });
    await send({ n: "a1", of: "a" }, { n: "b1", of: "b" }, { n: "x" }, { n: "a2", of: "a" }, { n: "y", of: null });
    await clock.advanceToEnd();
    expect(begun.map(({ n, second }) => [n, second])).toEqual([
      [["a1", "a2"], 0],
      [["x", "y"], 0],
      [["b1"], 30],
    ]);
  });

  test("an event for which `if` is not true starts a run of its own", async () => {
    const { clock, begun, send } = await begin({ maxSize: 3, timeout: "30s", if: "event.data.bulk == true" });
    const sent = await send({ n: 1, bulk: true }, { n: 2, bulk: false }, { n: 3 }, { n: 4, bulk: true });
    expect(sent.map(({ kind }) => kind)).toEqual(["batched", "started", "started", "batched"]);
    await clock.advanceToEnd();
    expect(begun.map(({ n }) => n).sort()).toEqual([[1, 4], [2], [3]]);
  });

  test("one that is full in the middle of a call goes on with the next", async () => {
    const { clock, begun, send } = await begin({ maxSize: 2, timeout: "30s" });
    await send(...numbered(1, 2, 3, 4, 5));
    expect(begun.map(({ n }) => n)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await clock.advanceToEnd();
    expect(begun.map(({ n }) => n)).toEqual([[1, 2], [3, 4], [5]]);
  });

  test("ten mebibytes fill a batch", async () => {
    const { begun, send } = await begin({ maxSize: 100, timeout: "1h" });
    const text = "x".repeat(500 * 1024);
    for (let n = 1; n <= 21; n++) await send({ n, text });
    expect(begun).toMatchObject([{ n: Array.from({ length: 21 }, (_, i) => i + 1) }]);
  });

  test("destination keys are made of the events: the same on every attempt and in a rerun, whatever their order", async () => {
    const { idem, clock, begun, send } = await begin({ maxSize: 2, timeout: "30s" }, { retries: 1 });
    const [decision] = await send({ n: 1, fail: true }, { n: 2 });
    await clock.advanceToEnd();
    const { runId } = (await idem.events.get(decision!.eventId))!.decisions[0]!;
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "failed" });
    await idem.runs.rerun(runId!);
    await clock.advanceToEnd();
    // The step was recorded, so each run entered it once.
    expect(begun).toMatchObject([{ n: [1, 2] }, { n: [1, 2] }]);
    expect(begun[1]!.key).toBe(begun[0]!.key);
    await send(...numbered(1, 2));
    expect(begun[2]!.key).not.toBe(begun[0]!.key);
  });

  test("the keys of a step that fails and is tried again are equal too", async () => {
    const keys: string[] = [];
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "fn", batchEvents: { maxSize: 2, timeout: "30s" } },
      { event: "a/b" },
      async ({ events, step }) => {
        await step.run("write", ({ key }) => {
          keys.push(key);
          if (keys.length < 3) throw new Error("again");
        });
        return events.length;
      },
    );
    await idem.start();
    await idem.send([{ name: "a/b" }, { name: "a/b" }]);
    await clock.advanceToEnd();
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(await idem.runs.list()).toMatchObject([{ state: "completed", output: 2 }]);
  });

  test("it takes one slot and one start, however many events it carries", async () => {
    const { clock, begun, send } = await begin(
      { maxSize: 2, timeout: "30s" },
      { throttle: { limit: 1, period: "10s" }, rateLimit: { limit: 2, period: "1h" } },
    );
    const sent = await send(...numbered(1, 2, 3, 4, 5, 6));
    await clock.advanceToEnd();
    expect(begun.map(({ n, second }) => [n, second])).toEqual([
      [[1, 2], 0],
      [[3, 4], 10],
    ]);
    expect(sent).toHaveLength(6);
  });

  test("a batch that a limit refuses leaves its reason at all of its events", async () => {
    const { send, decisionOf } = await begin({ maxSize: 2, timeout: "30s" }, { rateLimit: { limit: 1, period: "1h" } });
    const sent = await send(...numbered(1, 2, 3, 4));
    for (const each of sent.slice(2)) {
      expect(await decisionOf(each)).toMatchObject({ kind: "rate-limited", runId: null });
    }
  });

  test("of a function paused meanwhile all are paused; released, each starts a run of its own", async () => {
    const { idem, clock, begun, send, decisionOf } = await begin({ maxSize: 3, timeout: "30s" });
    const sent = await send(...numbered(1, 2));
    await idem.functions.pause("fn");
    await clock.advance("1m");
    for (const each of sent) expect(await decisionOf(each)).toMatchObject({ kind: "paused" });
    await idem.functions.resume("fn", { waiting: "release" });
    await clock.advanceToEnd();
    // Released in one instant: which of them begins first is nobody's promise.
    expect(begun.map(({ n }) => n).sort()).toEqual([[1], [2]]);
  });

  test("it survives its process: another one starts the run, with events both had accepted", async () => {
    const begun: unknown[] = [];
    const { clock, process } = oneStore(store);
    const [first, second] = [process(), process()];
    for (const { idem } of [first, second]) {
      idem.createFunction(
        { id: "fn", batchEvents: { maxSize: 10, timeout: "1m" } },
        { event: "a/b" },
        async ({ events }) => begun.push(events.map(({ data }) => data.n)),
      );
      await idem.start();
    }
    await first.idem.send({ name: "a/b", data: { n: 1 } });
    first.lose();
    await second.idem.send({ name: "a/b", data: { n: 2 } });
    await clock.tick("61s");
    expect(begun).toEqual([[1, 2]]);
  });

  test("onFailure hears once of a batch that failed, with all of its events", async () => {
    const heard: unknown[] = [];
    const { clock, send } = await begin(
      { maxSize: 2, timeout: "30s" },
      { retries: 0, onFailure: ({ event }) => heard.push(event.data.events.map(({ data }: any) => data.n)) },
    );
    await send({ n: 1, fail: true }, { n: 2 });
    await clock.advanceToEnd();
    expect(heard).toEqual([[1, 2]]);
  });
});
