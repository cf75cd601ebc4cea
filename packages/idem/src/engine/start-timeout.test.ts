import { describe, expect, test } from "vitest";
import { stores, testIdem } from "../testing/flow-stores.suite.ts";
import { HeldWork } from "../testing/held-work.suite.ts";

describe.each(stores)("timeouts.start on %s", (store) => {
  async function full(fn: { throttle?: any; finish?: string } = {}) {
    const work = new HeldWork();
    const world = testIdem({ store });
    const { idem, clock } = world;
    const { throttle, finish } = fn;
    const defined = idem.createFunction(
      {
        id: "fn",
        concurrency: 1,
        ...(throttle === undefined ? {} : { throttle }),
        timeouts: { start: "30s", ...(finish === undefined ? {} : { finish }) },
        priority: { run: "event.data.p" },
      },
      { event: "a/b" },
      async ({ event, step }) => {
        await step.run("work", () => work.do(event.data.n));
        if (event.data.nap !== undefined) await step.sleep("nap", event.data.nap);
        await step.run("again", () => work.do(`${event.data.n} again`));
      },
    );
    await idem.start();
    const send = async (n: string, data: Record<string, unknown> = {}, more: { ts?: number } = {}) => {
      const { runId } = (await idem.send({ name: "a/b", data: { n, ...data }, ...more })).decisions[0]!;
      await clock.tick(1);
      return runId!;
    };
    return { ...world, work, send, defined };
  }

  test("a run that waited too long by what was configured then is cancelled, and never runs past the limit, whatever is configured now", async () => {
    const { idem, clock, work, send, defined } = await full();
    await send("1");
    const second = await send("2");
    // A deploy without the timeout, while the run stands in line.
    (defined.code.config as { startTimeoutMs: number | null }).startTimeoutMs = null;
    await clock.tick("31s");
    expect(await idem.runs.get(second)).toMatchObject({ state: "cancelled", error: { code: "RUN_START_TIMED_OUT" } });
    expect(work.most).toBe(1);
  });

  test("a run that does not get its turn is cancelled on time, without its code being entered", async () => {
    const { idem, clock, work, send } = await full();
    const first = await send("1");
    const second = await send("2");
    await clock.tick("20s");
    const third = await send("3");
    await clock.tick("9s");
    expect(await idem.runs.get(second)).toMatchObject({ state: "queued" });
    await clock.tick("2s");
    expect(await idem.runs.get(second)).toMatchObject({ state: "cancelled", error: { code: "RUN_START_TIMED_OUT" } });
    expect(await idem.runs.get(third)).toMatchObject({ state: "queued" });
    expect(await idem.runs.get(first)).toMatchObject({ state: "running" });
    work.letGo("1");
    await clock.tick(1);
    work.letGo("1 again");
    await clock.tick(1);
    expect(work.entered).toEqual(["1", "1 again", "3"]);
    expect(work.most).toBe(1);
  });

  test("ending many at once neither exceeds the limit nor takes the turn of those in time", async () => {
    const { idem, clock, work, send } = await full();
    await send("1");
    const late = [];
    for (let i = 0; i < 10; i++) late.push(await send(`late ${i}`, { p: 100 }));
    await clock.tick("25s");
    const inTime = await send("in time");
    await clock.tick("6s");
    for (const runId of late) expect(await idem.runs.get(runId)).toMatchObject({ state: "cancelled" });
    expect(work.inside).toEqual(["1"]);
    work.letGo("1");
    await clock.tick(1);
    work.letGo("1 again");
    await clock.tick(1);
    expect(work.inside).toEqual(["in time"]);
    expect(await idem.runs.get(inTime)).toMatchObject({ state: "running" });
    expect(work.most).toBe(1);
  });

  test("a run that has begun may wait for its turn as long as it takes", async () => {
    const { idem, clock, work, send } = await full();
    const first = await send("1", { nap: "1s" });
    work.letGo("1");
    await clock.tick(1);
    await send("2");
    await clock.tick("1m");
    expect(await idem.runs.get(first)).toMatchObject({ state: "queued" });
    work.letGo("2");
    await clock.tick(1);
    work.letGo("2 again");
    await clock.tick(1);
    expect(work.inside).toEqual(["1 again"]);
  });

  test("a run delayed on purpose has its time from there", async () => {
    const { idem, clock, work, send } = await full();
    const delayed = await send("delayed", {}, { ts: clock.now() + 3_600_000 });
    await clock.advance(3_599_000);
    await clock.tick("1s");
    expect(work.inside).toEqual(["delayed"]);
    expect(await idem.runs.get(delayed)).toMatchObject({ state: "running" });
  });

  test("a throttle's line is left in time too", async () => {
    const { idem, clock, work, send } = await full({ throttle: { limit: 1, period: "1h" } });
    await send("1");
    const second = await send("2");
    await clock.tick("31s");
    expect(await idem.runs.get(second)).toMatchObject({ state: "cancelled", error: { code: "RUN_START_TIMED_OUT" } });
    expect(work.entered).toEqual(["1"]);
  });
});
