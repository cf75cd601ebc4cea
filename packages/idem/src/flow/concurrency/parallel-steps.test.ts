// `parallelSteps`: steps side by side, each in a slot of its own (docs/states.md#steps-side-by-side-in-a-limit-that-counts-steps).
import { describe, expect, test } from "vitest";
import type { Idem } from "../../sdk/client.ts";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";
import { engineOf } from "../../testing/one-store.suite.ts";

type Concurrency = NonNullable<FunctionOptions["concurrency"]>;

/** A function whose runs do as many steps side by side as the event says, named `n` and the step's number. */
function wide(idem: Idem, work: HeldWork, concurrency: Concurrency, options: Partial<FunctionOptions> = {}) {
  idem.createFunction({ id: "fn", concurrency, ...options }, { event: "a/b" }, async ({ event, step }) => {
    const { n, steps } = event.data as { n: string; steps: number };
    const names = Array.from({ length: steps }, (_, i) => `${n}${i + 1}`);
    return Promise.all(names.map((name) => step.run(name, () => work.do(name))));
  });
}

const event = (n: string, steps: number, more: object = {}) => ({ name: "a/b", data: { n, steps, ...more } });

async function begin(store: (typeof stores)[number], concurrency: Concurrency, options: Partial<FunctionOptions> = {}) {
  const work = new HeldWork();
  const world = testIdem({ store });
  const { idem, clock } = world;
  wide(idem, work, concurrency, options);
  await idem.start();
  return {
    ...world,
    work,
    send: async (...events: ReturnType<typeof event>[]): Promise<string[]> => {
      const sent = await idem.send(events);
      await clock.tick(1);
      return sent.decisions.map(({ runId }) => runId!);
    },
    letGo: async (...names: string[]) => {
      work.letGo(...names);
      await clock.tick(1);
    },
    used: async () => usedIn(idem),
    /** Everything that is at work, until nothing is. */
    finish: async () => {
      while (work.inside.length > 0) {
        work.letGo(work.inside[0]!);
        await clock.tick(1);
      }
    },
  };
}

async function usedIn(idem: Idem): Promise<number> {
  const { store, env } = await engineOf(idem);
  const [first] = await store.reads.limitUses(env, 10);
  return first?.used ?? 0;
}

const two = { limit: 2, parallelSteps: true } as const;
const three = { limit: 3, parallelSteps: true } as const;

describe.each(stores)("a limit that counts steps on %s", (store) => {
  test("of five steps of one run side by side no more run at once than the limit, and all of them run", async () => {
    const { work, send, letGo, idem, used } = await begin(store, two);
    const [runId] = await send(event("a", 5));
    expect([work.inside, await used()]).toEqual([["a1", "a2"], 2]);
    await letGo("a2");
    expect([work.inside, await used()]).toEqual([["a1", "a3"], 2]);
    await letGo("a1", "a3");
    expect(work.inside).toEqual(["a4", "a5"]);
    await letGo("a4");
    // The last one needs no more than the slot the run has.
    expect(await used()).toBe(1);
    await letGo("a5");
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "completed" });
    expect([work.most, work.entered.length, await used()]).toEqual([2, 5, 0]);
  });

  test("two runs of five steps never have more at once than the limit, and both finish", async () => {
    const { work, send, idem, finish } = await begin(store, three);
    const runIds = await send(event("a", 5), event("b", 5));
    expect(work.inside).toHaveLength(3);
    await finish();
    for (const runId of runIds) expect(await idem.runs.get(runId)).toMatchObject({ state: "completed" });
    expect([work.most, work.entered.length]).toEqual([3, 10]);
  });

  test("a run in line goes before a step beside others of its run, which then go one after another", async () => {
    const { work, send, letGo } = await begin(store, two);
    await send(event("a", 4));
    await send(event("b", 2));
    expect(work.inside).toEqual(["a1", "a2"]);
    await letGo("a1");
    expect(work.inside).toEqual(["a2", "b1"]);
    await letGo("a2");
    expect(work.inside).toEqual(["b1", "a3"]);
    await letGo("b1");
    await letGo("b2");
    // The slot of the run that ended is for the one that waits.
    expect(work.inside).toEqual(["a3", "a4"]);
    expect(work.most).toBe(2);
  });

  test("steps that wait in another run are told when one gives its slot back", async () => {
    const { work, send, letGo } = await begin(store, three);
    await send(event("a", 1), event("b", 3));
    expect(work.inside).toEqual(["a1", "b1", "b2"]);
    await letGo("a1");
    expect(work.inside).toEqual(["b1", "b2", "b3"]);
  });

  test("a limit that is not marked counts the run once, however many of its steps are at work", async () => {
    const { work, send, idem } = await begin(store, [{ limit: 2 }, { ...three, key: "event.data.of" }]);
    await send(event("a", 5, { of: 1 }), event("b", 5, { of: 2 }), event("c", 5, { of: 3 }));
    expect(work.inside.sort()).toEqual(["a1", "a2", "a3", "b1", "b2", "b3"]);
    const { store: kept, env } = await engineOf(idem);
    const uses = (await kept.reads.limitUses(env, 10)).map(({ used }) => used);
    expect(uses.sort()).toEqual([0, 2, 3, 3]);
  });

  test("without a mark steps of a run run one after another, as they did", async () => {
    const { work, send } = await begin(store, { limit: 5, parallelSteps: false });
    await send(event("a", 3));
    expect(work.inside).toEqual(["a1"]);
  });

  test("a step that fails gives its slot back with the attempt, and its retry waits for one like the first", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "fn", concurrency: two, retries: 1, backoff: () => 1_000 },
      { event: "a/b" },
      async ({ step }) =>
        Promise.all(
          ["a1", "a2", "a3"].map((name) =>
            step.run(name, async ({ attempt }) => {
              if (name === "a2" && attempt === 1) throw new Error("once more");
              return work.do(name);
            }),
          ),
        ),
    );
    await idem.start();
    const { runId } = (await idem.send(event("a", 3))).decisions[0]!;
    await clock.tick(1);
    expect([work.inside, await usedIn(idem)]).toEqual([["a1", "a3"], 2]);
    await clock.tick("3s");
    expect(work.inside).toEqual(["a1", "a3"]);
    work.letGo("a3");
    await clock.tick(1);
    expect(work.inside).toEqual(["a1", "a2"]);
    work.letGo("a1", "a2");
    await clock.tick(1);
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "completed" });
    expect(work.most).toBe(2);
  });

  test("a cancelled run frees all it held", async () => {
    const { work, send, idem, clock, used } = await begin(store, three);
    const [runId] = await send(event("a", 5));
    await send(event("b", 3));
    expect([work.inside, await used()]).toEqual([["a1", "a2", "a3"], 3]);
    await idem.runs.cancel(runId!);
    await clock.tick(1);
    expect([work.inside.slice(3), await used()]).toEqual([["b1", "b2", "b3"], 3]);
    work.letGo("a1", "a2", "a3");
    await clock.tick(1);
    expect(work.entered).not.toContain("a4");
  });

  test("a run that sleeps holds none, and takes what it needs when it wakes", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn", concurrency: three }, { event: "a/b" }, async ({ step }) => {
      const both = (at: string) => Promise.all([1, 2].map((n) => step.run(`${at}${n}`, () => work.do(`${at}${n}`))));
      await both("before");
      await step.sleep("nap", "1m");
      await both("after");
    });
    await idem.start();
    await idem.send(event("a", 1));
    await clock.tick(1);
    expect(await usedIn(idem)).toBe(2);
    work.letGo("before1", "before2");
    await clock.tick(1);
    expect(await usedIn(idem)).toBe(0);
    await clock.tick("1m");
    expect([work.inside, await usedIn(idem)]).toEqual([["after1", "after2"], 2]);
  });

  test("a limit that was raised for a while lets in the steps that wait; lowered, it stops none", async () => {
    const { work, send, letGo, idem, clock } = await begin(store, two);
    await send(event("a", 9));
    await idem.functions.limit("fn", { concurrency: 4, for: "5m" });
    await clock.tick("3s");
    expect(work.inside).toHaveLength(4);
    await idem.functions.limit("fn", { concurrency: 1, for: "5m" });
    await clock.tick("3s");
    expect(work.inside).toHaveLength(4);
    await letGo(work.inside[0]!);
    await letGo(work.inside[0]!);
    expect(work.inside).toHaveLength(2);
    await letGo(work.inside[0]!);
    await letGo(work.inside[0]!);
    expect(work.inside).toHaveLength(1);
  });

  test("of a process that is lost every slot is free with its leases, and the run goes on within the limit", async () => {
    const [lost, work] = [new HeldWork(), new HeldWork()];
    const { clock, process } = oneStore(store);
    const [first, second] = [process(), process()];
    wide(first.idem, lost, three);
    await first.idem.start();
    const runId = (await first.idem.send(event("a", 5))).decisions[0]!.runId!;
    await clock.tick(1);
    expect(lost.inside).toEqual(["a1", "a2", "a3"]);
    lost.letGo("a2");
    await clock.tick(1);
    first.lose();
    wide(second.idem, work, three);
    await second.idem.start();
    const other = (await second.idem.send(event("b", 1))).decisions[0]!.runId!;
    await clock.tick("10s");
    expect(work.inside).toEqual([]);
    await clock.tick("20s");
    expect(work.inside.sort()).toEqual(["a1", "a3", "b1"]);
    while (work.inside.length > 0) {
      work.letGo(work.inside[0]!);
      await clock.tick(1);
    }
    for (const id of [runId, other]) expect(await second.idem.runs.get(id)).toMatchObject({ state: "completed" });
    expect([work.most, work.entered.includes("a2"), await usedIn(second.idem)]).toEqual([3, false, 0]);
  });

  test("holds for all processes together", async () => {
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const nodes = [process().idem, process().idem];
    for (const idem of nodes) {
      wide(idem, work, { limit: 3, scope: "env", key: '"db"', parallelSteps: true });
      await idem.start();
    }
    const sent = await Promise.all(nodes.map((idem, i) => idem.send(event(`${i}-`, 4))));
    for (let left = 8; left > 0; left--) {
      await clock.tick("6s");
      expect(work.inside).toHaveLength(Math.min(3, left));
      work.letGo(work.inside[0]!);
    }
    await clock.tick("1s");
    for (const { decisions } of sent)
      expect(await nodes[0]!.runs.get(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
    expect([work.most, new Set(work.entered).size]).toEqual([3, 8]);
  });

  test("a process that stops hands back what its run held", async () => {
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const [first, second] = [process().idem, process().idem];
    wide(first, work, three);
    await first.start();
    await second.start();
    await first.send(event("a", 5));
    await clock.tick(1);
    const stopped = first.stop();
    work.letGo("a1", "a2", "a3");
    await clock.tick(1);
    await stopped;
    expect([work.entered, await usedIn(second)]).toEqual([["a1", "a2", "a3"], 0]);
  });
});
