import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../../model/user-errors.ts";
import type { Idem } from "../../sdk/client.ts";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";
import { engineOf } from "../../testing/one-store.suite.ts";

type Concurrency = NonNullable<FunctionOptions["concurrency"]>;

/** A function whose runs hold a step until they are let go, named by `n`. */
function worked(idem: Idem, work: HeldWork, concurrency: Concurrency, fn: Partial<FunctionOptions> = {}) {
  idem.createFunction({ id: "fn", concurrency, ...fn }, { event: "a/b" }, async ({ event, step }) =>
    step.run("work", () => work.do(event.data.n)),
  );
}

async function begin(store: (typeof stores)[number], concurrency: Concurrency, fn: Partial<FunctionOptions> = {}) {
  const work = new HeldWork();
  const world = testIdem({ store });
  worked(world.idem, work, concurrency, fn);
  await world.idem.start();
  const send = async (...data: ({ n: string } & Record<string, unknown>)[]): Promise<string[]> => {
    const sent = await world.idem.send(data.map((each) => ({ name: "a/b", data: each })));
    await world.clock.tick(1);
    return sent.decisions.map(({ runId }) => runId!);
  };
  const letGo = async (...names: string[]) => {
    work.letGo(...names);
    await world.clock.tick(1);
  };
  return { ...world, work, send, letGo };
}

const named = (...names: string[]) => names.map((n) => ({ n }));

describe.each(stores)("concurrency on %s", (store) => {
  test("no more runs are at work than the limit, and the others get their turn in the order of their events", async () => {
    const { work, send, letGo, idem } = await begin(store, 2);
    const runIds = await send(...named("1", "2", "3", "4", "5"));
    expect(work.inside).toEqual(["1", "2"]);
    expect(await idem.runs.get(runIds[2]!)).toMatchObject({ state: "queued", startedAt: null });
    await letGo("2");
    expect(work.inside).toEqual(["1", "3"]);
    await letGo("1", "3");
    expect(work.inside).toEqual(["4", "5"]);
    await letGo("4", "5");
    for (const runId of runIds) expect(await idem.runs.get(runId)).toMatchObject({ state: "completed" });
    expect(work.most).toBe(2);
  });

  test("a run that has room begins with its event, without a lease of its own", async () => {
    const { send, idem } = await begin(store, 2);
    const runIds = await send(...named("1", "2", "3"));
    expect((await engineOf(idem)).worker.counts.leased).toBe(0);
    const states = await Promise.all(runIds.map(async (id) => (await idem.runs.get(id))!.state));
    expect(states).toEqual(["running", "running", "queued"]);
  });

  test("a key has a limit for each of its values", async () => {
    const { work, send, letGo } = await begin(store, { limit: 1, key: "event.data.of" });
    await send(
      { n: "a1", of: "a" },
      { n: "a2", of: "a" },
      { n: "b1", of: "b" },
      { n: "7", of: 7 },
      { n: '"7"', of: "7" },
    );
    expect(work.inside).toEqual(["a1", "b1", "7", '"7"']);
    await letGo("b1");
    expect(work.inside).toEqual(["a1", "7", '"7"']);
    await letGo("a1");
    expect(work.inside).toEqual(["7", '"7"', "a2"]);
  });

  test("events without the key share one line, so that the limit still holds", async () => {
    const { work, send, letGo } = await begin(store, { limit: 1, key: "event.data.of" });
    await send({ n: "1" }, { n: "2", of: null }, { n: "a", of: "a" });
    expect(work.inside).toEqual(["1", "a"]);
    await letGo("1");
    expect(work.inside).toEqual(["a", "2"]);
  });

  test("of two limits both must have room", async () => {
    const { work, send, letGo } = await begin(store, [{ limit: 3 }, { limit: 1, key: "event.data.of" }]);
    await send(
      { n: "a1", of: "a" },
      { n: "a2", of: "a" },
      { n: "b1", of: "b" },
      { n: "c1", of: "c" },
      { n: "d1", of: "d" },
    );
    expect(work.inside).toEqual(["a1", "b1", "c1"]);
    await letGo("c1");
    expect(work.inside).toEqual(["a1", "b1", "d1"]);
    await letGo("b1");
    expect(work.inside).toEqual(["a1", "d1"]);
    await letGo("a1");
    expect(work.inside).toEqual(["d1", "a2"]);
  });

  test("one hot key does not starve the rest: another's run is next or the one after", async () => {
    const { work, send, letGo } = await begin(store, [{ limit: 2 }, { limit: 2, key: "event.data.of" }]);
    await send(...Array.from({ length: 20 }, (_, i) => ({ n: `hot${i}`, of: "hot" })));
    await send({ n: "cold1", of: "cold" }, { n: "cold2", of: "cold" }, { n: "mild", of: "mild" });
    await letGo("hot0");
    await letGo("hot1");
    await letGo(work.inside[0]!);
    await letGo(work.inside[0]!);
    await letGo(work.inside[0]!);
    expect(work.entered.slice(2, 7)).toEqual(expect.arrayContaining(["cold1", "mild"]));
    await letGo(work.inside[0]!);
    await letGo(work.inside[0]!);
    expect(work.entered.slice(2)).toContain("cold2");
    expect(work.most).toBe(2);
  });

  test("steps side by side in one run take one slot: they run one after another", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn", concurrency: 1 }, { event: "a/b" }, async ({ event, step }) =>
      Promise.all(["x", "y", "z"].map((each) => step.run(each, () => work.do(event.data.n + each)))),
    );
    await idem.start();
    const sent = await idem.send(named("1", "2").map((data) => ({ name: "a/b", data })));
    for (const each of ["1x", "1y", "1z", "2x", "2y", "2z"]) {
      await clock.tick(1);
      expect(work.inside).toEqual([each]);
      work.letGo(each);
    }
    await clock.tick(1);
    expect(work.most).toBe(1);
    expect(await idem.runs.get(sent.decisions[1]!.runId!)).toMatchObject({
      state: "completed",
      output: ["2x", "2y", "2z"],
    });
  });

  test("a run that invokes its own function under a limit of one does not stand in its own way", async () => {
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn", concurrency: 1 }, { event: "a/b" }, async ({ event, step }): Promise<number> => {
      const { n } = event.data;
      if (n === 0) return 0;
      return 1 + ((await step.invoke("next", { function: "fn", data: { n: n - 1 } })) as number);
    });
    await idem.start();
    const { runId } = (await idem.send({ name: "a/b", data: { n: 3 } })).decisions[0]!;
    await clock.advanceToEnd();
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "completed", output: 3 });
  });

  test("a rerun stands in line like any other", async () => {
    const { work, send, letGo, idem, clock } = await begin(store, 1);
    const [first] = await send(...named("1"));
    await letGo("1");
    await send(...named("2", "3"));
    const { runId } = await idem.runs.rerun(first!);
    await clock.tick(1);
    expect(work.inside).toEqual(["2"]);
    expect(await idem.runs.get(runId)).toMatchObject({ state: "queued" });
    await letGo("2");
    await letGo("3");
    expect(work.inside).toEqual(["1"]);
    expect(work.most).toBe(1);
  });

  test("a queued run that is cancelled is passed over", async () => {
    const { work, send, letGo, idem } = await begin(store, 1);
    const runIds = await send(...named("1", "2", "3"));
    await idem.runs.cancel(runIds[1]!);
    await letGo("1");
    expect(work.entered).toEqual(["1", "3"]);
  });
});

describe.each(stores)("a slot on %s is free again when its run", (store) => {
  /** The first run does `what` after its step; the second one must come in without waiting for the first one's end. */
  async function after(what: (step: any) => unknown, fn: Partial<FunctionOptions> = {}) {
    const work = new HeldWork();
    const world = testIdem({ store });
    world.idem.createFunction({ id: "fn", concurrency: 1, ...fn }, { event: "a/b" }, async ({ event, step }) => {
      await step.run("work", () => work.do(event.data.n));
      if (event.data.n === "1") await what(step);
      await step.run("again", () => work.do(`${event.data.n} again`));
    });
    await world.idem.start();
    const sent = await world.idem.send(named("1", "2").map((data) => ({ name: "a/b", data })));
    await world.clock.tick(1);
    expect(work.inside).toEqual(["1"]);
    const letGo = async (name: string) => {
      work.letGo(name);
      await world.clock.tick(1);
    };
    return { ...world, work, letGo, runId: sent.decisions[0]!.runId! };
  }

  test("sleeps; once awake it stands in line again", async () => {
    const { work, letGo, clock } = await after((step) => step.sleep("nap", "1m"));
    await letGo("1");
    expect(work.inside).toEqual(["2"]);
    await clock.tick("2m");
    expect(work.inside).toEqual(["2"]);
    await letGo("2");
    expect(work.inside).toEqual(["2 again"]);
    await letGo("2 again");
    expect(work.inside).toEqual(["1 again"]);
    expect(work.most).toBe(1);
  });

  test("waits for an event; the event that arrives lets nobody exceed the limit", async () => {
    const { work, letGo, clock, idem } = await after((step) =>
      step.waitForEvent("wait", { event: "c/d", timeout: "1h" }),
    );
    await letGo("1");
    expect(work.inside).toEqual(["2"]);
    await idem.send({ name: "c/d" });
    await clock.tick(1);
    expect(work.inside).toEqual(["2"]);
    await letGo("2");
    await letGo("2 again");
    expect(work.inside).toEqual(["1 again"]);
    expect(work.most).toBe(1);
  });

  test("waits for its next attempt", async () => {
    const fail = () => {
      throw new Error("not today");
    };
    const { work, letGo, clock } = await after((step) => step.run("fails", fail), {
      retries: 1,
      backoff: () => 60_000,
    });
    await letGo("1");
    expect(work.inside).toEqual(["2"]);
    await clock.tick("2m");
    expect(work.inside).toEqual(["2"]);
    expect(work.most).toBe(1);
  });

  test("fails for good", async () => {
    const { work, letGo, idem, runId } = await after(() => {
      throw new NonRetriableError("never");
    });
    await letGo("1");
    expect(await idem.runs.get(runId)).toMatchObject({ state: "failed" });
    expect(work.inside).toEqual(["2"]);
  });

  test("is cancelled in the middle of a step", async () => {
    const { work, idem, clock, runId } = await after(() => null);
    await idem.runs.cancel(runId);
    await clock.tick(1);
    // The step of the cancelled run hears of it by its signal; it holds nothing any more.
    expect(work.inside).toEqual(["1", "2"]);
    work.letGo("1");
    await clock.tick(1);
    expect(work.entered).toEqual(["1", "2"]);
  });

  test("runs out of time in the middle of a step", async () => {
    const { work, clock } = await after(() => null, { timeouts: { finish: "30s" } });
    await clock.tick("31s");
    expect(work.inside).toEqual(["1", "2"]);
  });
});
