import { describe, expect, test } from "vitest";
import { held, oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("waitForEvent on %s", (store) => {
  test("gives the event whose field matches that of the run's own", async () => {
    const run = await oneRun(
      async ({ step }) => step.waitForEvent("paid", { event: "order/paid", match: "data.orderId", timeout: "1d" }),
      { store, event: { data: { orderId: 7 } } },
    );
    await run.idem.idle();
    await run.idem.send({ name: "order/paid", data: { orderId: 8 } });
    await run.idem.send({ name: "order/paid", data: { orderId: "7" } });
    await run.idem.send({ name: "order/shipped", data: { orderId: 7 } });
    await run.idem.idle();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting" });
    await run.idem.send({ id: "payment-1", name: "order/paid", data: { orderId: 7, total: 10 } });
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({
      state: "completed",
      output: { id: "payment-1", name: "order/paid", data: { orderId: 7, total: 10 }, ts: run.clock.now() },
    });
  });

  test("decides by its expression over both events", async () => {
    const run = await oneRun(
      async ({ step }) =>
        step.waitForEvent("paid", {
          event: "order/paid",
          if: "event.data.orderId == async.data.orderId && async.data.total >= 100",
          timeout: "1d",
        }),
      { store, event: { data: { orderId: 7 } } },
    );
    await run.idem.idle();
    await run.idem.send([
      { name: "order/paid", data: { orderId: 7, total: 99 } },
      { name: "order/paid", data: { orderId: 8, total: 500 } },
      { name: "order/paid", data: { orderId: 7 } },
    ]);
    await run.idem.idle();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting" });
    await run.idem.send({ name: "order/paid", data: { orderId: 7, total: 100 } });
    expect((await run.idem.runs.wait(run.runId)).output).toMatchObject({ data: { total: 100 } });
  });

  test("gives null at its timeout, not before, and an event after it changes nothing", async () => {
    const run = await oneRun(
      async ({ step }, { clock }) => {
        const event = await step.waitForEvent("paid", { event: "order/paid", timeout: "3d" });
        return [event, clock.now()];
      },
      { store },
    );
    const startedAt = run.clock.now();
    const { output } = await run.end();
    expect(output).toEqual([null, startedAt + 3 * 86_400_000]);
    await run.idem.send({ name: "order/paid" });
    await run.idem.idle();
    expect((await run.idem.runs.wait(run.runId)).output).toEqual(output);
  });

  test("an event before the wait does not count", async () => {
    const run = await oneRun(
      async ({ step }) => {
        await step.sleep("nap", "1h");
        return step.waitForEvent("paid", { event: "order/paid", timeout: "1h" });
      },
      { store },
    );
    await run.clock.advance("1m");
    await run.idem.send({ name: "order/paid" });
    expect((await run.end()).output).toBeNull();
  });

  test("the event that started the run does not satisfy it", async () => {
    const run = await oneRun(async ({ step }) => step.waitForEvent("again", { event: "test/go", timeout: "1h" }), {
      store,
    });
    expect((await run.end()).output).toBeNull();
  });

  test("one event wakes every run that waits for it, and two waits of one run", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "one" }, { event: "test/go" }, async ({ step }) => {
      const waits = [1, 2].map((n) => step.waitForEvent(`wait ${n}`, { event: "test/all", timeout: "1d" }));
      return (await Promise.all(waits)).map((event) => event!.data.n);
    });
    await idem.start();
    const sent = await idem.send(Array.from({ length: 10 }, () => ({ name: "test/go" })));
    await idem.idle();
    await idem.send({ name: "test/all", data: { n: 5 } });
    for (const { runId } of sent.decisions) {
      expect(await idem.runs.wait(runId!)).toMatchObject({ state: "completed", output: [5, 5] });
    }
  });

  test("a field that is missing on either side never matches", async () => {
    const run = await oneRun(
      async ({ step }) => step.waitForEvent("paid", { event: "order/paid", match: "data.orderId", timeout: "1h" }),
      { store, event: { data: { orderId: null } } },
    );
    await run.idem.idle();
    await run.idem.send([
      { name: "order/paid", data: { orderId: null } },
      { name: "order/paid", data: {} },
      { name: "order/paid", data: { orderId: "null" } },
    ]);
    expect((await run.end()).output).toBeNull();
  });

  test("a duplicate event resumes nothing", async () => {
    const run = await oneRun(
      async ({ step }) => {
        const first = await step.waitForEvent("first", { event: "test/answer", timeout: "1h" });
        const second = await step.waitForEvent("second", { event: "test/answer", timeout: "1h" });
        return [first?.data.n, second?.data.n ?? null];
      },
      { store },
    );
    await run.idem.idle();
    await run.idem.send({ id: "answer-1", name: "test/answer", data: { n: 1 } });
    await run.idem.idle();
    await run.idem.send({ id: "answer-1", name: "test/answer", data: { n: 2 } });
    expect((await run.end()).output).toEqual([1, null]);
  });

  test("a sibling's sendEvent in the same Promise.all wakes it, in whichever order they stand", async () => {
    for (const sendFirst of [true, false]) {
      const run = await oneRun(
        async ({ step }) => {
          const send = () => step.sendEvent("send", { name: "test/answer", data: { n: 1 } });
          const first = sendFirst ? [send()] : [];
          const wait = step.waitForEvent("wait", { event: "test/answer", timeout: "1h" });
          if (!sendFirst) first.push(send());
          await Promise.all(first);
          return (await wait)?.data.n;
        },
        { store },
      );
      expect((await run.end()).output).toBe(1);
    }
  });

  test("a step's own send inside a sibling step wakes it too", async () => {
    const run = await oneRun(
      async ({ step }, { idem }) => {
        const [event] = await Promise.all([
          step.waitForEvent("wait", { event: "test/answer", timeout: "1h" }),
          step.run("send", () => idem.send({ name: "test/answer", data: { n: 1 } }).then(() => null)),
        ]);
        return event?.data.n;
      },
      { store },
    );
    expect((await run.end()).output).toBe(1);
  });
});

test("the timeout may be an instant", async () => {
  const at = Date.UTC(2026, 1, 1);
  for (const timeout of [new Date(at), "2026-02-01T00:00:00Z"]) {
    const run = await oneRun(async ({ step }, { clock }) => {
      await step.waitForEvent("never", { event: "test/never", timeout });
      return clock.now();
    });
    expect((await run.end()).output).toBe(at);
  }
});

test("a wait that cannot be begun fails the run at once, and says what is wrong", async () => {
  const cases: [object, string][] = [
    [{ event: "a/b", timeout: "1h", if: "event.data.(" }, "EXPRESSION_INVALID"],
    [{ event: "a/b", timeout: "1h", if: 7 }, "EXPRESSION_INVALID"],
    [{ event: "a/b", timeout: "soon" }, "DURATION_INVALID"],
    [{ event: "a/b" }, "STEP_INVALID"],
    [{ event: "", timeout: "1h" }, "STEP_INVALID"],
    [{ timeout: "1h" }, "STEP_INVALID"],
    [{ event: "a/b", timeout: "1h", match: 7 }, "STEP_INVALID"],
    [{ event: "a/b", timeout: "1h", match: "" }, "STEP_INVALID"],
  ];
  for (const [options, code] of cases) {
    const run = await oneRun(async ({ step }) => step.waitForEvent("wait", options as any));
    expect(await run.end()).toMatchObject({ state: "failed", error: { code } });
  }
});

test("between a match and the timeout one wins, for good", async () => {
  for (const first of ["event", "timeout"]) {
    const run = await oneRun(async ({ step }) => {
      const event = await step.waitForEvent("wait", { event: "test/answer", timeout: "1h" });
      await step.sleep("nap", "1h");
      return event === null ? "timeout" : "event";
    });
    await run.clock.advance(first === "event" ? 3_599_999 : 3_600_000);
    await run.idem.send({ name: "test/answer" });
    expect((await run.end()).output).toBe(first);
  }
});

test("an event whose delivery fails in the store is delivered once the store is well again", async () => {
  const { MemoryStore } = await import("../store/memory/store.ts");
  const { ManualClock } = await import("../platform/manual-clock.ts");
  const store = new MemoryStore(new ManualClock());
  const resume = store.resume.bind(store);
  let ill = true;
  store.resume = async (input) => {
    if (ill) throw new Error("the disk is away");
    return resume(input);
  };
  const run = await oneRun(async ({ step }) => step.waitForEvent("w", { event: "test/answer", timeout: "1d" }), {
    store,
  });
  await run.idem.idle();
  await run.idem.send({ name: "test/answer" });
  await run.clock.tick("3s");
  expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting" });
  ill = false;
  await run.clock.tick("5s");
  expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "completed" });
});

test("a wait begun beside a step that runs long is in the store before that step ends", async () => {
  const long = held();
  const run = await oneRun(async ({ step }) => {
    await Promise.all([step.run("long", () => long.promise), step.waitForEvent("w", { event: "a/b", timeout: "1d" })]);
  });
  await run.clock.tick(1);
  const { timeline } = (await run.idem.runs.get(run.runId))!;
  expect(timeline).toMatchObject([{ name: "w", state: "waiting" }]);
  long.release();
});
