import { describe, expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import type { IdempotencyOptions } from "../sdk/function-types.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

/** A function with a key, and what was decided for the events sent to it. */
async function keyed(
  store: string,
  idempotency: string | IdempotencyOptions,
  handler: (context: any) => unknown = async () => null,
  filter?: string,
) {
  const world = testIdem({ store });
  const { idem } = world;
  idem.createFunction(
    { id: "fn", retries: 0, idempotency },
    filter === undefined ? { event: "a/b" } : { event: "a/b", if: filter },
    handler,
  );
  await idem.start();
  const send = async (data: Record<string, unknown>, id?: string) => {
    const sent = await idem.send({ name: "a/b", data, ...(id === undefined ? {} : { id }) });
    return sent.decisions[0]!;
  };
  return { ...world, send };
}

describe.each(stores)("function keys on %s", (store) => {
  test("the second event of a key receives the first one's run, until the window ends", async () => {
    const { send, clock, idem } = await keyed(store, "event.data.order", async ({ event }) => event.data.total);
    const first = await send({ order: 7, total: 1 });
    expect(first).toMatchObject({ kind: "started", key: "7", windowEndsAt: clock.now() + 86_400_000 });
    const second = await send({ order: 7, total: 2 });
    expect(second).toMatchObject({ kind: "duplicate-key", runId: first.runId, key: "7", differs: ["data.total"] });
    expect((await idem.runs.wait(second.runId!)).output).toBe(1);
    await clock.advance(86_399_999);
    expect(await send({ order: 7 })).toMatchObject({ kind: "duplicate-key" });
    await clock.advance(1);
    const fourth = await send({ order: 7 });
    expect(fourth.kind).toBe("started");
    expect(fourth.runId).not.toBe(first.runId);
  });

  test("a window of its own, and duplicates do not extend it", async () => {
    const { send, clock } = await keyed(store, { key: "event.data.order", window: "1h" });
    await send({ order: 7 });
    await clock.advance("59m");
    expect((await send({ order: 7 })).kind).toBe("duplicate-key");
    await clock.advance("1m");
    expect((await send({ order: 7 })).kind).toBe("started");
  });

  test("a window ends while the run still sleeps, unless it is until-finished", async () => {
    for (const [window, kind] of [
      ["24h", "started"],
      ["until-finished", "duplicate-key"],
    ] as const) {
      const { send, clock, idem } = await keyed(store, { key: "event.data.order", window }, async ({ step }) =>
        step.sleep("nap", "3d"),
      );
      const first = await send({ order: 7 });
      await clock.advance("2d");
      expect((await send({ order: 7 })).kind).toBe(kind);
      await idem.runs.cancel(first.runId!);
      await clock.advance("1m");
      expect((await send({ order: 8 })).kind).toBe("started");
    }
  });

  test("until-finished frees the key when the run ends, if a day has passed", async () => {
    const { send, clock, idem } = await keyed(
      store,
      { key: "event.data.order", window: "until-finished" },
      async ({ step }) => step.sleep("nap", "3d"),
    );
    const first = await send({ order: 7 });
    await clock.advance("3d");
    expect(await idem.runs.get(first.runId!)).toMatchObject({ state: "completed" });
    expect((await send({ order: 7 })).kind).toBe("started");
  });

  test("failed and cancelled runs keep their key, or release it if so told", async () => {
    for (const afterFailure of ["keep", "release"] as const) {
      const expected = afterFailure === "keep" ? "duplicate-key" : "started";
      const failing = await keyed(store, { key: "event.data.order", afterFailure }, async () => {
        throw new Error("no");
      });
      await failing.send({ order: 7 });
      await failing.idem.idle();
      expect((await failing.send({ order: 7 })).kind).toBe(expected);

      const sleeping = await keyed(store, { key: "event.data.order", afterFailure }, async ({ step }) =>
        step.sleep("nap", "1h"),
      );
      const { runId } = await sleeping.send({ order: 7 });
      await sleeping.idem.idle();
      await sleeping.idem.runs.cancel(runId!);
      expect((await sleeping.send({ order: 7 })).kind).toBe(expected);
    }
  });

  test("a completed run keeps its key also with afterFailure release", async () => {
    const { send, idem } = await keyed(store, { key: "event.data.order", afterFailure: "release" });
    await send({ order: 7 });
    await idem.idle();
    expect((await send({ order: 7 })).kind).toBe("duplicate-key");
  });

  test('the number 1 and the string "1" are different keys; 1 and 1.0 are one', async () => {
    const { send } = await keyed(store, "event.data.order");
    expect(await send({ order: 1 })).toMatchObject({ kind: "started", key: "1" });
    expect(await send({ order: "1" })).toMatchObject({ kind: "started", key: '"1"' });
    expect(await send({ order: 1.0 })).toMatchObject({ kind: "duplicate-key" });
  });

  test("numbers are joined into a string key as people expect", async () => {
    const { send } = await keyed(store, "event.data.userId + '-' + event.data.plan");
    expect(await send({ userId: 7, plan: "pro" })).toMatchObject({ kind: "started", key: '"7-pro"' });
    expect(await send({ userId: "7", plan: "pro" })).toMatchObject({ kind: "duplicate-key" });
  });

  test("a missing, null or failing key starts without one and says why; no two of them share a slot", async () => {
    const { send } = await keyed(store, "event.data.order.id");
    for (const data of [{}, { order: null }, { order: { id: null } }, { order: 7 }]) {
      for (let i = 0; i < 2; i++) {
        const decision = await send(data);
        expect(decision).toMatchObject({ kind: "started", key: null });
        expect(decision.reason).toContain("event.data.order.id");
        expect(decision.reason).toContain("started without a key");
      }
    }
  });

  test("a run that starts without its key is told to the log, by function and reason", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: unknown) => warnings.push(String(text)) };
    const { idem } = testIdem({ store, logger });
    idem.createFunction({ id: "fn", idempotency: "event.data.order" }, { event: "a/b" }, async () => null);
    await idem.start();
    await idem.send({ name: "a/b", data: { order: 1 } });
    expect(warnings).toEqual([]);
    await idem.send({ name: "a/b", data: {} });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('of "fn"');
    expect(warnings[0]).toContain("started without a key");
  });

  test("onMissing reject holds the event: no run, no claim, the reason kept", async () => {
    const { send, idem } = await keyed(store, { key: "event.data.order", onMissing: "reject" });
    const decision = await send({});
    expect(decision).toMatchObject({ kind: "held", runId: null, key: null });
    expect(decision.reason).toContain("event.data.order");
    expect(await idem.runs.list()).toEqual([]);
    const [event] = await idem.events.list();
    expect((await idem.events.get(event!.internalId))!.decisions).toMatchObject([{ kind: "held" }]);
    expect((await send({ order: 1 })).kind).toBe("started");
  });

  test("a filtered event takes no key", async () => {
    const { send } = await keyed(store, "event.data.order", undefined, "event.data.paid == true");
    expect((await send({ order: 7, paid: false })).kind).toBe("filtered");
    expect((await send({ order: 7, paid: true })).kind).toBe("started");
    expect((await send({ order: 7, paid: false })).kind).toBe("filtered");
    expect((await send({ order: 7, paid: true })).kind).toBe("duplicate-key");
  });

  test("100 concurrent sends of one id start one run; the other 99 receive it", async () => {
    let entered = 0;
    const { send, idem } = await keyed(store, "event.data.order", async ({ step }) =>
      step.run("effect", () => ++entered),
    );
    const decisions = await Promise.all(Array.from({ length: 100 }, () => send({ order: 7 }, "order-7")));
    const started = decisions.filter(({ kind }) => kind === "started");
    expect(started).toHaveLength(1);
    expect(decisions.filter(({ kind }) => kind === "duplicate-event")).toHaveLength(99);
    expect(new Set(decisions.map(({ runId }) => runId))).toEqual(new Set([started[0]!.runId]));
    await idem.idle();
    expect(entered).toBe(1);
    expect((await idem.explain({ function: "fn", key: 7 })).askedCount).toBe(1);
  });

  test("100 concurrent sends of 100 ids with one key start one run; the other 99 receive it", async () => {
    let entered = 0;
    const { send, idem } = await keyed(store, "event.data.order", async ({ step }) =>
      step.run("effect", () => ++entered),
    );
    const decisions = await Promise.all(Array.from({ length: 100 }, (_, i) => send({ order: 7 }, `event-${i}`)));
    const started = decisions.filter(({ kind }) => kind === "started");
    expect(started).toHaveLength(1);
    expect(decisions.filter(({ kind }) => kind === "duplicate-key")).toHaveLength(99);
    expect(new Set(decisions.map(({ runId }) => runId))).toEqual(new Set([started[0]!.runId]));
    await idem.idle();
    expect(entered).toBe(1);
    expect((await idem.explain({ function: "fn", key: 7 })).askedCount).toBe(100);
  });

  test("100 events with one key in one call start one run", async () => {
    const { idem } = await keyed(store, "event.data.order");
    const { decisions } = await idem.send(Array.from({ length: 100 }, () => ({ name: "a/b", data: { order: 7 } })));
    expect(decisions.filter(({ kind }) => kind === "started")).toHaveLength(1);
    expect(new Set(decisions.map(({ runId }) => runId)).size).toBe(1);
  });
});

test("a duplicate's decision names the paths in which its payload differs from the first", async () => {
  const { idem } = await keyed("memory:", "event.data.order");
  const send = (total: number) => idem.send({ id: "e1", name: "a/b", data: { order: 7, total } });
  await send(1);
  const { decisions } = await send(2);
  expect(decisions).toMatchObject([{ kind: "duplicate-event", differs: ["data.total"] }]);
  expect((await send(1)).decisions).toMatchObject([{ kind: "duplicate-event", differs: [] }]);
});

describe("while a duplicate is on its way to its answer", () => {
  /** Answers to events of this name are held back after the store has decided. */
  function slowAnswers(name: string) {
    const store = new MemoryStore(new ManualClock());
    const ingest = store.ingest.bind(store);
    const begun = held();
    const answer = held();
    let isSlow = false;
    store.ingest = async (input) => {
      const ingested = await ingest(input);
      if (isSlow && input.events[0]!.name === name) {
        begun.release();
        await answer.promise;
      }
      return ingested;
    };
    return {
      store,
      begun: begun.promise,
      answer: answer.release,
      slow: () => {
        isSlow = true;
      },
    };
  }

  async function world(runsInFlight: number) {
    const slow = slowAnswers("a/keyed");
    const { idem } = testIdem({ store: slow.store, runsInFlight });
    idem.createFunction({ id: "keyed", idempotency: "event.data.k" }, { event: "a/keyed" }, async () => null);
    idem.createFunction({ id: "other" }, { event: "a/other" }, async () => "ran");
    await idem.start();
    await idem.send({ name: "a/keyed", data: { k: 1 } });
    await idem.idle();
    slow.slow();
    const sending = idem.send({ name: "a/keyed", data: { k: 1 } });
    await slow.begun;
    return { idem, sending, answer: slow.answer };
  }

  test("the slot it keeps does not hold up work that is due", async () => {
    const { idem, sending, answer } = await world(1);
    const { runId } = (await idem.send({ name: "a/other" })).decisions[0]!;
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "queued" });
    answer();
    await sending;
    await idem.idle();
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "completed", output: "ran" });
  });

  test("the client is not idle, and is once it is answered", async () => {
    const { idem, sending, answer } = await world(2);
    let isIdle = false;
    const idle = idem.idle().then(() => {
      isIdle = true;
    });
    await idem.runs.list();
    expect(isIdle).toBe(false);
    answer();
    await sending;
    await idle;
  });
});
