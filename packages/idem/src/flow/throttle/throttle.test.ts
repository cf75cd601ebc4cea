import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";
import type { ThrottleOptions } from "./config.ts";

describe.each(stores)("throttle on %s", (store) => {
  async function begin(throttle: ThrottleOptions, fn: Partial<FunctionOptions> = {}) {
    const begun: [n: string, second: number][] = [];
    const world = testIdem({ store });
    const { idem, clock } = world;
    const zero = clock.now();
    idem.createFunction({ id: "fn", throttle, ...fn }, { event: "a/b" }, async ({ event, step }) => {
      await step.run("begin", () => begun.push([event.data.n, (clock.now() - zero) / 1_000]));
      if (event.data.nap !== undefined) await step.sleep("nap", event.data.nap);
      await step.run("go on", () => {
        if (event.data.nap !== undefined) begun.push([`${event.data.n} again`, (clock.now() - zero) / 1_000]);
      });
    });
    await idem.start();
    const send = (...data: ({ n: string } & Record<string, unknown>)[]) =>
      idem.send(data.map((each) => ({ name: "a/b", data: each })));
    return { ...world, begun, send };
  }
  const named = (...names: string[]) => names.map((n) => ({ n }));

  test("starts are spaced evenly, in the order of the events, and none is lost", async () => {
    const { begun, send, clock, idem } = await begin({ limit: 3, period: "30s" });
    const { decisions } = await send(...named("1", "2", "3", "4"));
    expect(decisions.map(({ kind }) => kind)).toEqual(["started", "started", "started", "started"]);
    expect(await idem.runs.get(decisions[1]!.runId!)).toMatchObject({ state: "queued", startedAt: null });
    await clock.advanceToEnd();
    expect(begun).toEqual([
      ["1", 0],
      ["2", 10],
      ["3", 20],
      ["4", 30],
    ]);
  });

  test("as many as the burst may begin at once; after a silence no more than that", async () => {
    const { begun, send, clock } = await begin({ limit: 1, period: "10s", burst: 3 });
    await send(...named("1", "2", "3", "4", "5"));
    await clock.advance("2m");
    await send(...named("6", "7", "8", "9"));
    await clock.advanceToEnd();
    expect(begun.map(([, second]) => second)).toEqual([0, 0, 0, 10, 20, 120, 120, 120, 130]);
  });

  test("an event that comes later does not step before those in line", async () => {
    const { begun, send, clock } = await begin({ limit: 1, period: "10s" });
    await send(...named("1", "2", "3"));
    await clock.advance("10s");
    await send(...named("late"));
    await clock.advanceToEnd();
    expect(begun).toEqual([
      ["1", 0],
      ["2", 10],
      ["3", 20],
      ["late", 30],
    ]);
  });

  test("a key is spaced for each of its values; events without it share one line", async () => {
    const { begun, send, clock } = await begin({ limit: 1, period: "10s", key: "event.data.of" });
    await send({ n: "a1", of: "a" }, { n: "b1", of: "b" }, { n: "a2", of: "a" }, { n: "none1" }, { n: "none2" });
    await clock.advanceToEnd();
    expect(Object.fromEntries(begun)).toEqual({ a1: 0, b1: 0, none1: 0, a2: 10, none2: 10 });
  });

  test("a run that was begun does not pay again when it wakes or is tried again", async () => {
    const { begun, send, clock } = await begin({ limit: 1, period: "1m" });
    await send({ n: "1", nap: "5s" }, { n: "2", nap: "1s" });
    await clock.advanceToEnd();
    expect(begun).toEqual([
      ["1", 0],
      ["1 again", 5],
      ["2", 60],
      ["2 again", 61],
    ]);
  });

  test("it waits for a free slot and for its time, whichever comes later", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "fn", concurrency: 1, throttle: { limit: 1, period: "10s" } },
      { event: "a/b" },
      async ({ event, step }) => step.run("work", () => work.do(event.data.n)),
    );
    await idem.start();
    await idem.send(named("1", "2", "3").map((data) => ({ name: "a/b", data })));
    await clock.tick("1s");
    work.letGo("1");
    await clock.tick("8s");
    expect(work.entered).toEqual(["1"]);
    await clock.tick("1s");
    expect(work.entered).toEqual(["1", "2"]);
    await clock.tick("20s");
    expect(work.entered).toEqual(["1", "2"]);
    work.letGo("2");
    await clock.tick(1);
    expect(work.entered).toEqual(["1", "2", "3"]);
    expect(work.most).toBe(1);
  });

  test("a delayed event waits for its time first, and is spaced from there", async () => {
    const { begun, send, clock, idem } = await begin({ limit: 1, period: "10s" });
    await idem.send({ name: "a/b", data: { n: "delayed" }, ts: clock.now() + 12_000 });
    await send(...named("1", "2"));
    await clock.advanceToEnd();
    expect(begun).toEqual([
      ["1", 0],
      ["2", 10],
      ["delayed", 20],
    ]);
  });

  test("processes on one store are spaced together", async () => {
    const begun: number[] = [];
    const { clock, process } = oneStore(store);
    const zero = clock.now();
    const nodes = [process().idem, process().idem];
    for (const idem of nodes) {
      idem.createFunction({ id: "fn", throttle: { limit: 1, period: "10s" } }, { event: "a/b" }, async ({ step }) => {
        await step.run("begin", () => begun.push((clock.now() - zero) / 1_000));
      });
      await idem.start();
    }
    for (const idem of nodes) await idem.send([{ name: "a/b" }, { name: "a/b" }]);
    await clock.advance("1m");
    expect(begun).toEqual([0, 10, 20, 30]);
  });
});
