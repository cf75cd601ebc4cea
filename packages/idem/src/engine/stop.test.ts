import { expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held } from "../testing/one-run.suite.ts";
import { type TestWorld, testIdem } from "../testing/test-idem.ts";

/** Two clients of one store with the same function. */
function pair(handler: (context: any) => unknown): { world: TestWorld<any>; second: TestWorld<any>["idem"] } {
  const world = testIdem();
  const define = (idem: TestWorld<any>["idem"]) =>
    idem.createFunction({ id: "fn", retries: 1, backoff: () => 60_000 }, { event: "a/b" }, handler);
  define(world.idem);
  const second = world.client();
  define(second);
  return { world, second };
}

test("stop lets a running step end, records it, and the next process goes on at once without entering it again", async () => {
  const begun = held();
  const end = held();
  const entered: string[] = [];
  const { world, second } = pair(async ({ step }) => {
    await step.run("long", async () => {
      entered.push("long");
      begun.release();
      await end.promise;
    });
    await step.sleep("nap", "1s");
    await step.run("next", () => entered.push("next"));
  });
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  await begun.promise;
  const stopping = world.idem.stop();
  end.release();
  await stopping;
  expect(entered).toEqual(["long"]);
  expect(await second.runs.get(runId!)).toMatchObject({
    state: "queued",
    timeline: [{ name: "long", state: "completed" }],
  });
  await second.start();
  await world.clock.tick("3s");
  expect(await second.runs.wait(runId!)).toMatchObject({ state: "completed" });
  expect(entered).toEqual(["long", "next"]);
});

test("a run whose last step ends during stop is completed here", async () => {
  const begun = held();
  const end = held();
  const { world, second } = pair(async ({ step }) => {
    await step.run("last", () => {
      begun.release();
      return end.promise;
    });
    return "done";
  });
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  await begun.promise;
  const stopping = world.idem.stop();
  end.release();
  await stopping;
  expect(await second.runs.get(runId!)).toMatchObject({ state: "completed", output: "done" });
});

test("an attempt that fails during stop is written down: its retry keeps its time and its number", async () => {
  const begun = held();
  const end = held();
  const attempts: [number, number][] = [];
  const { world, second } = pair(async ({ step }) =>
    step.run("flaky", async ({ attempt }: { attempt: number }) => {
      attempts.push([attempt, world.clock.now()]);
      begun.release();
      if (attempt === 1) await end.promise;
    }),
  );
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  await begun.promise;
  const stopping = world.idem.stop();
  end.fail(new Error("failed while stopping"));
  await stopping;
  await second.start();
  await world.clock.tick("62s");
  expect(await second.runs.wait(runId!)).toMatchObject({ state: "completed" });
  expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2]);
  expect(attempts[1]![1] - attempts[0]![1]).toBeGreaterThanOrEqual(60_000);
});

test("a step that is being finished may still send", async () => {
  const begun = held();
  const end = held();
  const { world, second } = pair(async ({ step }) =>
    step.run("sends", async () => {
      begun.release();
      await end.promise;
      return (await world.idem.send({ name: "a/last-words" })).ids.length;
    }),
  );
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  await begun.promise;
  const stopping = world.idem.stop();
  end.release();
  await stopping;
  expect(await second.runs.get(runId!)).toMatchObject({ timeline: [{ name: "sends", output: 1 }] });
  expect(await second.events.list({ name: "a/last-words" })).toHaveLength(1);
});

test("a step that does not end within the grace period is given up: its signal aborts, and another process runs it", async () => {
  const begun = held<AbortSignal>();
  const never = held();
  let entered = 0;
  const { world, second } = pair(async ({ step }) =>
    step.run("hangs", ({ signal }: { signal: AbortSignal }) => {
      entered++;
      if (entered > 1) return "second";
      begun.release(signal);
      return never.promise;
    }),
  );
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  const signal = await begun.promise;
  const stopping = world.idem.stop({ grace: "5s" });
  await world.clock.tick("6s");
  await stopping;
  expect(signal.aborted).toBe(true);
  await second.start();
  await world.clock.tick("2s");
  expect(await second.runs.wait(runId!)).toMatchObject({ state: "completed", output: "second" });
  never.release();
});

test("what is being leased while a stop drains goes back without taking the draining runs along", async () => {
  const store = new MemoryStore(new ManualClock());
  const lease = store.lease.bind(store);
  const answer = held();
  let isOnItsWay = false;
  store.lease = async (input) => {
    const answered = await lease(input);
    if (answered.jobs.length > 0 && !isOnItsWay) {
      isOnItsWay = true;
      await answer.promise;
    }
    return answered;
  };
  const end = held();
  const entered: number[] = [];
  const world = testIdem({ store });
  const define = (idem: TestWorld<any>["idem"]) =>
    idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ event, step }) =>
      step.run("x", async () => {
        entered.push(event.data.n);
        if (event.data.n === 1) await end.promise;
      }),
    );
  const second = world.client();
  define(world.idem);
  define(second);
  await world.idem.start();
  const first = (await world.idem.send({ name: "a/b", data: { n: 1 } })).decisions[0]!.runId!;
  const other = (await second.send({ name: "a/b", data: { n: 2 } })).decisions[0]!.runId!;
  await world.clock.tick("2s");
  expect([entered, isOnItsWay]).toEqual([[1], true]);
  const stopping = world.idem.stop();
  answer.release();
  await world.clock.tick(1);
  end.release();
  await stopping;
  await second.start();
  await world.clock.tick("2s");
  for (const runId of [first, other]) expect(await second.runs.get(runId)).toMatchObject({ state: "completed" });
  expect(entered).toEqual([1, 2]);
});

test("stop while runs sleep leaves them to whoever comes next", async () => {
  const { world, second } = pair(async ({ step }) => {
    await step.sleep("nap", "1h");
    return "awake";
  });
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  await world.idem.idle();
  await world.idem.stop();
  await world.clock.advance("2h");
  await second.start();
  await world.clock.tick("2s");
  expect(await second.runs.wait(runId!)).toMatchObject({ state: "completed", output: "awake" });
});

test("what is accepted while a stop begins is not lost and not begun twice", async () => {
  const entered: number[] = [];
  const { world, second } = pair(async ({ event, step }) => step.run("x", () => entered.push(event.data.i)));
  await world.idem.start();
  const sending = Array.from({ length: 20 }, (_, i) => world.idem.send({ name: "a/b", data: { i } }));
  const stopping = world.idem.stop();
  const sent = await Promise.all(sending);
  await stopping;
  await second.start();
  await world.clock.tick("3s");
  for (const { decisions } of sent) {
    expect(await second.runs.wait(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  }
  expect(entered.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test("start and stop may be called twice, also at the same time; a stopped client may be started again", async () => {
  const { world } = pair(async () => "ran");
  const { idem } = world;
  await Promise.all([idem.start(), idem.start()]);
  await idem.start();
  await Promise.all([idem.stop(), idem.stop()]);
  await idem.stop();
  await idem.start();
  const { runId } = (await idem.send({ name: "a/b" })).decisions[0]!;
  expect(await idem.runs.wait(runId!)).toMatchObject({ output: "ran" });
  await idem.stop();
});

test("stop during start leaves nothing behind that works on", async () => {
  const { world } = pair(async () => "ran");
  const starting = world.idem.start();
  await world.idem.stop();
  await starting;
  const sent = await world.client().send({ name: "a/b" });
  await world.clock.tick("3s");
  expect(await world.client().runs.get(sent.decisions[0]!.runId!)).toMatchObject({ state: "queued" });
});

test("events sent before start are run after it; events sent after stop wait for the next start", async () => {
  const { world } = pair(async () => "ran");
  const { idem } = world;
  const early = (await idem.send({ name: "a/b" })).decisions[0]!.runId!;
  expect(await idem.runs.get(early)).toMatchObject({ state: "queued" });
  await idem.start();
  expect(await idem.runs.wait(early)).toMatchObject({ output: "ran" });
  await idem.stop();
  const late = (await idem.send({ name: "a/b" })).decisions[0]!.runId!;
  await world.clock.tick("3s");
  expect(await idem.runs.get(late)).toMatchObject({ state: "queued" });
  await idem.start();
  await world.clock.tick("1s");
  expect(await idem.runs.wait(late)).toMatchObject({ output: "ran" });
});
