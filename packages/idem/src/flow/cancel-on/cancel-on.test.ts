import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";
import type { CancelOnOptions } from "./config.ts";

describe.each(stores)("cancelOn on %s", (store) => {
  async function begin(cancelOn: CancelOnOptions, fn: Partial<FunctionOptions> = {}) {
    const entered: unknown[] = [];
    const world = testIdem({ store });
    const { idem, clock } = world;
    idem.createFunction({ id: "fn", cancelOn: [cancelOn], ...fn }, { event: "a/b" }, async ({ event, step }) => {
      await step.sleep("nap", "1h");
      await step.run("after", () => entered.push(event.data.order));
    });
    await idem.start();
    const start = async (data: Record<string, unknown> = {}) => {
      const decision = (await idem.send({ name: "a/b", data })).decisions[0]!;
      await clock.advance(0);
      return decision.runId!;
    };
    const stop = async (data: Record<string, unknown> = {}, id?: string) => {
      const sent = await idem.send({ name: "stop", data, ...(id === undefined ? {} : { id }) });
      await clock.advance(0);
      return sent.ids[0]!;
    };
    const states = async (...runIds: string[]) =>
      Promise.all(runIds.map(async (runId) => (await idem.runs.get(runId))!.state));
    return { ...world, entered, start, stop, states };
  }

  test("an event of the name cancels every open run, and says by which event", async () => {
    const { idem, clock, entered, start, stop, states } = await begin({ event: "stop" });
    const runIds = [await start(), await start()];
    const eventId = await stop();
    expect(await states(...runIds)).toEqual(["cancelled", "cancelled"]);
    expect((await idem.runs.get(runIds[0]!))!.error).toMatchObject({
      name: "CancelledError",
      message: `cancelled by event ${eventId} (stop)`,
    });
    await clock.advance("2h");
    expect(entered).toEqual([]);
  });

  test("match cancels only the runs whose own event has the same value", async () => {
    const { start, stop, states } = await begin({ event: "stop", match: "data.order" });
    const runIds = [await start({ order: 1 }), await start({ order: 2 }), await start({ order: "1" })];
    await stop({ order: 1 });
    expect(await states(...runIds)).toEqual(["cancelled", "waiting", "waiting"]);
    await stop({});
    expect(await states(...runIds)).toEqual(["cancelled", "waiting", "waiting"]);
  });

  test("if is asked with the run's own event and the one that arrives", async () => {
    const { start, stop, states } = await begin({
      event: "stop",
      if: "async.data.order == event.data.order && async.data.level > event.data.level",
    });
    const runIds = [
      await start({ order: 1, level: 1 }),
      await start({ order: 1, level: 5 }),
      await start({ order: 2, level: 1 }),
    ];
    await stop({ order: 1, level: 3 });
    expect(await states(...runIds)).toEqual(["cancelled", "waiting", "waiting"]);
    // An expression that fails cancels nothing.
    await stop({ order: 2 });
    expect(await states(...runIds)).toEqual(["cancelled", "waiting", "waiting"]);
  });

  test("it counts for as long after the run's creation as its timeout says", async () => {
    const { clock, start, stop, states } = await begin({ event: "stop", timeout: "10m" });
    const early = await start();
    await clock.advance(599_999);
    const late = await start();
    await stop();
    expect(await states(early, late)).toEqual(["cancelled", "cancelled"]);
    const third = await start();
    await clock.advance("10m");
    await stop();
    expect(await states(third)).toEqual(["waiting"]);
  });

  test("an event from before the run does not count, and a duplicate cancels nothing", async () => {
    const { start, stop, states } = await begin({ event: "stop" });
    await stop({}, "s1");
    const runId = await start();
    await stop({}, "s1");
    expect(await states(runId)).toEqual(["waiting"]);
    await stop({}, "s2");
    expect(await states(runId)).toEqual(["cancelled"]);
  });

  test("the event that starts a run does not cancel it; the next one of its name does", async () => {
    const { start, states } = await begin({ event: "a/b", match: "data.order" });
    const first = await start({ order: 1 });
    expect(await states(first)).toEqual(["waiting"]);
    const second = await start({ order: 1 });
    expect(await states(first, second)).toEqual(["cancelled", "waiting"]);
  });

  test("a step in the middle is finished and its outcome dropped; nothing is begun after it or again", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn", cancelOn: [{ event: "stop" }] }, { event: "a/b" }, async ({ step }) => {
      await step.run("long", () => work.do("long"));
      await step.run("next", () => work.do("next"));
    });
    await idem.start();
    const { runId } = (await idem.send({ name: "a/b" })).decisions[0]!;
    await clock.tick(1);
    await idem.send({ name: "stop" });
    expect(await idem.runs.wait(runId!)).toMatchObject({ state: "cancelled" });
    expect(work.inside).toEqual(["long"]);
    work.letGo("long");
    await clock.tick("1m");
    expect(work.entered).toEqual(["long"]);
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "cancelled", timeline: [] });
  });

  test("a queued run is cancelled before its code is entered, and a run at work gives its slot to the next", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "fn", concurrency: 1, cancelOn: [{ event: "stop", match: "data.n" }] },
      { event: "a/b" },
      async ({ event, step }) => step.run("work", () => work.do(event.data.n)),
    );
    await idem.start();
    await idem.send(["1", "2", "3"].map((n) => ({ name: "a/b", data: { n } })));
    await clock.tick(1);
    await idem.send({ name: "stop", data: { n: "2" } });
    await clock.tick(1);
    await idem.send({ name: "stop", data: { n: "1" } });
    await clock.tick(1);
    expect(work.entered).toEqual(["1", "3"]);
  });

  test("a delayed run is cancelled before its time", async () => {
    const { idem, clock, stop, states } = await begin({ event: "stop" });
    const { runId } = (await idem.send({ name: "a/b", ts: clock.now() + 60_000 })).decisions[0]!;
    await stop();
    expect(await states(runId!)).toEqual(["cancelled"]);
  });

  test("a rerun can be cancelled like the run it repeats", async () => {
    const { idem, clock, start, stop, states } = await begin({ event: "stop", match: "data.order" });
    const runId = await start({ order: 7 });
    await stop({ order: 7 });
    const rerun = await idem.runs.rerun(runId);
    await clock.advance(0);
    await stop({ order: 8 });
    expect(await states(rerun.runId)).toEqual(["waiting"]);
    await stop({ order: 7 });
    expect(await states(rerun.runId)).toEqual(["cancelled"]);
  });

  test("the cancelled run gives its key back where the function says so", async () => {
    const { idem, start, stop } = await begin(
      { event: "stop" },
      { idempotency: { key: "event.data.order", afterFailure: "release" } },
    );
    const runId = await start({ order: 1 });
    expect((await idem.send({ name: "a/b", data: { order: 1 } })).decisions).toMatchObject([
      { kind: "duplicate-key", runId },
    ]);
    await stop();
    expect((await idem.send({ name: "a/b", data: { order: 1 } })).decisions).toMatchObject([{ kind: "started" }]);
  });

  test("it is found whichever process accepts the event, and one event may both start and cancel", async () => {
    const { clock, process } = oneStore(store);
    const [worker, sender] = [process().idem, process().idem];
    worker.createFunction({ id: "fn", cancelOn: [{ event: "stop" }] }, { event: "a/b" }, async ({ step }) =>
      step.sleep("nap", "1h"),
    );
    worker.createFunction({ id: "other" }, { event: "stop" }, async () => "stopped");
    await worker.start();
    const { runId } = (await sender.send({ name: "a/b" })).decisions[0]!;
    await clock.tick("2s");
    const other = (await sender.send({ name: "stop" })).decisions[0]!.runId!;
    await clock.tick("2s");
    expect(await sender.runs.get(runId!)).toMatchObject({ state: "cancelled" });
    expect(await sender.runs.get(other)).toMatchObject({ state: "completed", output: "stopped" });
  });
});
