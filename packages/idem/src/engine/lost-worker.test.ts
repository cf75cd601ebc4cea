import { describe, expect, test } from "vitest";
import { errors } from "../model/errors.ts";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held, oneRun } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

test("a process that was frozen past its lease gives up what it held, and nothing stays stuck", async () => {
  const end = held();
  const entered: string[] = [];
  const world = testIdem();
  const { idem, clock } = world;
  idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ event, step }) =>
    step.run("long", async ({ signal }) => {
      entered.push(event.data.n);
      if (entered.length === 1) await end.promise;
      return signal.aborted;
    }),
  );
  await idem.start();
  const first = (await idem.send({ name: "a/b", data: { n: "first" } })).decisions[0]!.runId!;
  await clock.tick(1);
  // Ten minutes pass in one go: no heartbeat in between.
  const frozen = clock.advance("10m");
  await clock.tick(1);
  end.release();
  await frozen;
  const second = (await idem.send({ name: "a/b", data: { n: "second" } })).decisions[0]!.runId!;
  await clock.tick("10s");
  for (const runId of [first, second]) expect(await idem.runs.get(runId)).toMatchObject({ state: "completed" });
});

test("what is leased under a name that was given up meanwhile goes back at once, and is begun once", async () => {
  const store = new MemoryStore(new ManualClock());
  const [lease, heartbeat] = [store.lease.bind(store), store.heartbeat.bind(store)];
  const answer = held();
  let isOnItsWay = false;
  let lost = false;
  store.lease = async (input) => {
    const answered = await lease(input);
    if (answered.jobs.length > 0 && !lost) {
      isOnItsWay = true;
      await answer.promise;
    }
    return answered;
  };
  // Declared lost while the lease was on its way.
  store.heartbeat = async (worker, termMs) => {
    const answered = await heartbeat(worker, termMs);
    if (lost || !isOnItsWay) return answered;
    lost = true;
    return { ...answered, alive: false };
  };
  const world = testIdem({ store });
  let entered = 0;
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => step.run("x", () => ++entered));
  await world.idem.start();
  const { runId } = (await world.client().send({ name: "a/b" })).decisions[0]!;
  await world.clock.tick("6s");
  expect(lost).toBe(true);
  answer.release();
  await world.clock.tick("2s");
  expect(await world.idem.runs.get(runId!)).toMatchObject({ state: "completed", output: 1 });
  expect(entered).toBe(1);
});

describe("a store that fails in the middle of a run", () => {
  /** A store whose advance fails as long as `ill` says so. */
  function illStore(ill: (call: number) => boolean) {
    const store = new MemoryStore(new ManualClock());
    const advance = store.advance.bind(store);
    let calls = 0;
    store.advance = async (input) => {
      if (ill(calls++)) throw new Error("the disk is away");
      return advance(input);
    };
    return store;
  }

  test("does not leave the run stuck: it starts over from its memo once the store is well", async () => {
    const reported: string[] = [];
    const entered: string[] = [];
    const run = await oneRun(
      async ({ step }) => {
        await step.run("a", () => entered.push("a"));
        await step.run("b", () => entered.push("b"));
        return "done";
      },
      {
        store: illStore((call) => call === 1 || call === 2),
        logger: { debug() {}, info() {}, warn() {}, error: (...args) => reported.push(args.join(" ")) },
      },
    );
    await run.clock.tick("10s");
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: "done" });
    // "b" ended without being recorded, twice: an attempt may repeat, a recorded step may not.
    expect(entered).toEqual(["a", "b", "b", "b"]);
    // The same error again is counted, not logged.
    expect(reported).toEqual([expect.stringMatching(/saving its progress failed .*the disk is away/)]);
  });

  test.each([
    ["busy", false],
    ["away after it heard", true],
  ])("a store that is %s is asked again: the step is not entered again", async (_, storedFirst) => {
    const store = new MemoryStore(new ManualClock());
    const advance = store.advance.bind(store);
    let ill = 3;
    store.advance = async (input) => {
      if (ill-- <= 0) return advance(input);
      if (storedFirst) await advance(input);
      throw storedFirst ? errors.STORE_UNAVAILABLE({ why: "the answer is lost" }) : errors.STORE_BUSY({ queued: 9 });
    };
    let entered = 0;
    const run = await oneRun(async ({ step }) => step.run("a", () => ++entered), { store });
    await run.clock.tick("2s");
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "completed", output: 1 });
    expect(entered).toBe(1);
  });
});
