import { describe, expect, test } from "vitest";
import { RetryAfterError } from "../model/user-errors.ts";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held, oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("cancel on %s", (store) => {
  test("a queued run is cancelled before its code is entered", async () => {
    const first = held();
    let entered = 0;
    const { idem } = testIdem({ store, runsInFlight: 1 });
    idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => {
      entered++;
      await step.run("long", () => first.promise);
    });
    await idem.start();
    await idem.send({ name: "a/b" });
    const queued = (await idem.send({ name: "a/b" })).decisions[0]!.runId!;
    expect(await idem.runs.get(queued)).toMatchObject({ state: "queued" });
    expect(await idem.runs.cancel(queued, { reason: "changed my mind" })).toEqual({ cancelled: true });
    first.release();
    await idem.idle();
    expect(entered).toBe(1);
    expect(await idem.runs.wait(queued)).toMatchObject({ state: "cancelled", error: { message: "changed my mind" } });
  });

  test("a sleeping run is cancelled and never wakes", async () => {
    let woke = false;
    const run = await oneRun(
      async ({ step }) => {
        await step.sleep("nap", "1h");
        woke = true;
      },
      { store },
    );
    await run.idem.idle();
    expect(await run.idem.runs.cancel(run.runId)).toEqual({ cancelled: true });
    await run.clock.advance("2h");
    expect(woke).toBe(false);
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "cancelled" });
  });

  test("in the middle of a step: its signal aborts, its outcome is dropped, and no attempt starts after the answer", async () => {
    const begun = held<AbortSignal>();
    const end = held();
    const entered: string[] = [];
    const run = await oneRun(
      async ({ step }) => {
        await step.run("long", async ({ signal }) => {
          entered.push("long");
          begun.release(signal);
          await end.promise;
        });
        await step.run("next", () => entered.push("next"));
      },
      { store },
    );
    const signal = await begun.promise;
    expect(signal.aborted).toBe(false);
    expect(await run.idem.runs.cancel(run.runId)).toEqual({ cancelled: true });
    expect(signal.aborted).toBe(true);
    end.release();
    await run.clock.advanceToEnd();
    expect(entered).toEqual(["long"]);
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "cancelled", timeline: [] });
  });

  test("a run that has ended stays as it ended; an unknown one is an error", async () => {
    const run = await oneRun(async () => "done", { store });
    await run.end();
    expect(await run.idem.runs.cancel(run.runId)).toEqual({ cancelled: false });
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: "done" });
    await expect(run.idem.runs.cancel("01NOBODY")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  });

  test("onFailure is not called for a cancelled run", async () => {
    let called = false;
    const run = await oneRun(async ({ step }) => step.sleep("nap", "1h"), {
      store,
      fn: {
        onFailure: () => {
          called = true;
        },
      },
    });
    await run.idem.idle();
    await run.idem.runs.cancel(run.runId);
    await run.clock.advanceToEnd();
    expect(called).toBe(false);
  });
});

test("two cancels at once: one did it, the other is told that it was done", async () => {
  const end = held();
  const run = await oneRun(async ({ step }) => step.run("long", () => end.promise));
  const answers = await Promise.all([run.idem.runs.cancel(run.runId), run.idem.runs.cancel(run.runId)]);
  expect(answers.map(({ cancelled }) => cancelled).sort()).toEqual([false, true]);
  end.release();
});

test("once a cancel is committed no attempt begins, also while its answer is on the way", async () => {
  const store = new MemoryStore(new ManualClock());
  const cancel = store.cancel.bind(store);
  const [committed, answer, between] = [held(), held(), held()];
  store.cancel = async (input) => {
    const answered = await cancel(input);
    committed.release();
    await answer.promise;
    return answered;
  };
  let entered = false;
  const run = await oneRun(
    async ({ step }) => {
      await between.promise;
      await step.run("late", () => {
        entered = true;
      });
    },
    { store },
  );
  const cancelling = run.idem.runs.cancel(run.runId);
  await committed.promise;
  between.release();
  await run.clock.tick(1);
  answer.release();
  expect(await cancelling).toEqual({ cancelled: true });
  await run.clock.tick(1);
  expect(entered).toBe(false);
});

describe("on another node, whose hint got lost", () => {
  /** A step that fails and is tried again beside another; the run is cancelled without a word to this process. */
  const cancelledElsewhere = async (concurrency?: number) => {
    const { idem, clock, store } = testIdem();
    const [first, beside] = [held(), held()];
    const entered: string[] = [];
    idem.createFunction(
      { id: "fn", ...(concurrency === undefined ? {} : { concurrency }) },
      { event: "a/b" },
      async ({ step }) => {
        await Promise.all([
          step.run("flaky", async ({ attempt }) => {
            entered.push(`flaky ${attempt}`);
            await first.promise;
            throw new RetryAfterError("not yet", 12_345);
          }),
          step.run("beside", () => {
            entered.push("beside");
            return beside.promise;
          }),
        ]);
      },
    );
    await idem.start();
    const runId = (await idem.send({ name: "a/b" })).decisions[0]!.runId!;
    await clock.tick(1);
    const cancel = () =>
      (store as MemoryStore).cancel({ env: "default", runId, result: "null", releaseKey: false, ingest: null });
    return { clock, entered, cancel, first, beside };
  };

  test("a step that is tried again beside another asks first whether its run was cancelled", async () => {
    const { clock, entered, cancel, first, beside } = await cancelledElsewhere();
    first.release();
    await clock.tick(12_344);
    await cancel();
    await clock.tick("5m");
    expect(entered).toEqual(["flaky 1", "beside"]);
    beside.release();
  });

  test("a step that stood in line behind one that failed does not begin once its run was cancelled", async () => {
    const { clock, entered, cancel, first, beside } = await cancelledElsewhere(1);
    await cancel();
    first.release();
    await clock.tick("5m");
    expect(entered).toEqual(["flaky 1"]);
    beside.release();
  });
});

test("a lease that is on its way during a cancel begins nothing", async () => {
  const store = new MemoryStore(new ManualClock());
  const lease = store.lease.bind(store);
  const answer = held();
  let isOnItsWay = false;
  store.lease = async (input) => {
    const answered = await lease(input);
    if (answered.jobs.length > 0) {
      isOnItsWay = true;
      await answer.promise;
    }
    return answered;
  };
  const world = testIdem({ store });
  let entered = false;
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => {
    await step.run("x", () => {
      entered = true;
    });
  });
  await world.idem.start();
  const { runId } = (await world.client().send({ name: "a/b" })).decisions[0]!;
  await world.clock.tick("2s");
  expect(isOnItsWay).toBe(true);
  expect(await world.idem.runs.cancel(runId!)).toEqual({ cancelled: true });
  answer.release();
  await world.clock.tick("2s");
  expect(entered).toBe(false);
  expect(await world.idem.runs.get(runId!)).toMatchObject({ state: "cancelled" });
});

describe("timeouts", () => {
  test("finish cancels a sleeping run at its time", async () => {
    const run = await oneRun(async ({ step }) => step.sleep("nap", "2h"), { fn: { timeouts: { finish: "1h" } } });
    await run.clock.advance(3_599_999);
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting" });
    await run.clock.advance(1);
    expect(await run.idem.runs.get(run.runId)).toMatchObject({
      state: "cancelled",
      error: { code: "RUN_TIMED_OUT" },
    });
  });

  test("finish cancels a run whose step hangs: the signal aborts and the outcome is dropped", async () => {
    const begun = held<AbortSignal>();
    const end = held();
    const run = await oneRun(
      async ({ step }) =>
        step.run("hangs", ({ signal }) => {
          begun.release(signal);
          return end.promise;
        }),
      { fn: { timeouts: { finish: "30s" } } },
    );
    const signal = await begun.promise;
    await run.clock.tick("31s");
    expect(signal.aborted).toBe(true);
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({
      state: "cancelled",
      error: { code: "RUN_TIMED_OUT" },
    });
    end.release();
    await run.idem.idle();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ timeline: [] });
  });

  test("finish cancels a run that goes from step to step without a pause", async () => {
    const run = await oneRun(
      async ({ step }, { clock }) => {
        for (let i = 0; i < 100; i++) await step.run(`step ${i}`, () => clock.tick("1s"));
      },
      { fn: { timeouts: { finish: "10s" } } },
    );
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "cancelled" });
    expect((await run.recorded()).length).toBeLessThan(15);
  });

  test("start cancels a run that waited too long for its first turn, and not one delayed on purpose", async () => {
    const first = held();
    const { idem, clock } = testIdem({ store: "memory:", runsInFlight: 1 });
    idem.createFunction({ id: "fn", timeouts: { start: "10s" } }, { event: "a/b" }, async ({ event, step }) =>
      step.run("long", () => (event.data.long ? first.promise : null)),
    );
    await idem.start();
    await idem.send({ name: "a/b", data: { long: true } });
    const late = (await idem.send({ name: "a/b" })).decisions[0]!.runId!;
    await clock.tick("11s");
    first.release();
    expect(await idem.runs.wait(late)).toMatchObject({ state: "cancelled", error: { code: "RUN_START_TIMED_OUT" } });
    const delayed = (await idem.send({ name: "a/b", ts: clock.now() + 3_600_000 })).decisions[0]!.runId!;
    await clock.advance("1h");
    expect(await idem.runs.wait(delayed)).toMatchObject({ state: "completed" });
  });
});
