import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";

describe.each(stores)("priority on %s", (store) => {
  /** A busy function: one run is at work, the others are queued. */
  async function busy(fn: Partial<FunctionOptions> = { concurrency: 1 }, options: { runsInFlight?: number } = {}) {
    const work = new HeldWork();
    const world = testIdem({ store, ...options });
    const { idem, clock } = world;
    idem.createFunction({ id: "fn", priority: { run: "event.data.p" }, ...fn }, { event: "a/b" }, async (context) => {
      const { event, step } = context;
      if (event.data.nap !== undefined) await step.sleep("nap", event.data.nap);
      await step.run("work", () => work.do(event.data.n));
    });
    await idem.start();
    const send = async (n: string, p: unknown, more: Record<string, unknown> = {}) => {
      await idem.send({ name: "a/b", data: { n, p }, ...more });
      await clock.tick(1);
    };
    await send("first", 0);
    const order = async () => {
      while (work.inside.length > 0) {
        work.letGo(work.inside[0]!);
        await clock.tick(1);
      }
      return work.entered.slice(1);
    };
    return { ...world, work, send, order };
  }

  test("among queued runs of a busy function the higher one is first", async () => {
    const { send, order } = await busy();
    await send("low", -60);
    await send("plain", 0);
    await send("high", 60);
    await send("higher", 120);
    expect(await order()).toEqual(["higher", "high", "plain", "low"]);
  });

  test("also where only the process is full", async () => {
    const { send, order } = await busy({}, { runsInFlight: 1 });
    await send("plain", 0);
    await send("high", 60);
    expect(await order()).toEqual(["high", "plain"]);
  });

  test("it is worth so many seconds of waiting, and no more: nobody waits for ever", async () => {
    const { clock, send, order } = await busy();
    await send("patient", 0);
    await clock.tick("70s");
    await send("60 s", 60);
    await send("80 s", 80);
    expect(await order()).toEqual(["80 s", "patient", "60 s"]);
  });

  test("no more than ten minutes count, and what is no number counts nothing", async () => {
    const { send, order } = await busy();
    await send("a word", "soon");
    await send("nothing", undefined);
    await send("11 minutes", 660);
    await send("an hour", 3_600);
    await send("599 s", 599);
    expect(await order()).toEqual(["11 minutes", "an hour", "599 s", "a word", "nothing"]);
  });

  test("it wakes no sleeper early and starts no delayed run early", async () => {
    const { idem, clock, work, send } = await busy({});
    await idem.send({ name: "a/b", data: { n: "sleeper", p: 600, nap: "1m" } });
    await send("delayed", 600, { ts: clock.now() + 60_000 });
    await clock.tick("59s");
    expect(work.entered).toEqual(["first"]);
    await clock.tick("1s");
    expect(work.entered.slice(1).sort()).toEqual(["delayed", "sleeper"]);
  });
});
