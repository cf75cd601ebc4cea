import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../../model/user-errors.ts";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";
import { held } from "../../testing/one-run.suite.ts";
import type { TestWorld } from "../../testing/test-idem.ts";

const decider =
  (idem: TestWorld<any>["idem"]) =>
  async (data: Record<string, unknown> = {}, id?: string) =>
    (await idem.send({ name: "a/b", data, ...(id === undefined ? {} : { id }) })).decisions[0]!;

describe.each(stores)("singleton on %s, mode skip", (store) => {
  test.each([
    ["sleeps", (step: any) => step.sleep("nap", "1h"), "completed"],
    ["waits for an event", (step: any) => step.waitForEvent("wait", { event: "c/d", timeout: "1h" }), "completed"],
    ["is tried again", (step: any) => step.run("fails", () => Promise.reject(new Error("no"))), "failed"],
  ])(
    "an event is skipped while a run %s, and the decision names that run; after its end the next one starts",
    async (_, what, state) => {
      const { idem, clock } = testIdem({ store });
      const decide = decider(idem);
      idem.createFunction(
        { id: "fn", singleton: { mode: "skip" }, retries: 1, backoff: () => 3_600_000 },
        { event: "a/b" },
        async ({ step }) => what(step),
      );
      await idem.start();
      const { runId } = await decide();
      expect(await decide()).toMatchObject({ kind: "singleton-skipped", runId });
      await clock.advance("59m");
      const skipped = await decide();
      expect(skipped).toMatchObject({ kind: "singleton-skipped", runId });
      expect((await idem.events.get(skipped.eventId))!.decisions).toMatchObject([{ kind: "singleton-skipped", runId }]);
      await clock.advance("1m");
      expect(await idem.runs.get(runId!)).toMatchObject({ state });
      expect(await decide()).toMatchObject({ kind: "started" });
    },
  );

  test("the next one starts after a run that failed, and after one that was cancelled", async () => {
    const { idem, clock } = testIdem({ store });
    const decide = decider(idem);
    idem.createFunction({ id: "fn", singleton: { mode: "skip" } }, { event: "a/b" }, async ({ event, step }) => {
      if (event.data.fail === true) throw new NonRetriableError("never");
      await step.sleep("nap", "1h");
    });
    await idem.start();
    await decide({ fail: true });
    await clock.advance(0);
    const { kind, runId } = await decide();
    expect(kind).toBe("started");
    await idem.runs.cancel(runId!);
    expect(await decide()).toMatchObject({ kind: "started" });
  });

  test("each value of the key has its own; without it, or with false, it does not apply", async () => {
    const { idem } = testIdem({ store });
    const decide = decider(idem);
    idem.createFunction(
      { id: "fn", singleton: { mode: "skip", key: "event.data.of" } },
      { event: "a/b" },
      async ({ step }) => step.sleep("nap", "1h"),
    );
    await idem.start();
    expect(await decide({ of: "a" })).toMatchObject({ kind: "started" });
    expect(await decide({ of: "b" })).toMatchObject({ kind: "started" });
    expect(await decide({ of: "a" })).toMatchObject({ kind: "singleton-skipped" });
    for (let i = 0; i < 2; i++) {
      const { kind, reason } = await decide();
      expect(kind).toBe("started");
      expect(reason).toMatch(/singleton\.key.*did not apply/);
      expect(await decide({ of: false })).toMatchObject({ kind: "started", reason: null });
    }
  });

  test("a skipped event takes nothing: its function key stays free", async () => {
    const { idem, clock } = testIdem({ store });
    const decide = decider(idem);
    idem.createFunction(
      { id: "fn", singleton: { mode: "skip" }, idempotency: "event.data.key" },
      { event: "a/b" },
      async ({ step }) => step.sleep("nap", "1h"),
    );
    await idem.start();
    const first = await decide({ key: 1 });
    expect(await decide({ key: 2 })).toMatchObject({ kind: "singleton-skipped", runId: first.runId });
    expect(await decide({ key: 1 })).toMatchObject({ kind: "duplicate-key", runId: first.runId });
    await clock.advance("1h");
    expect(await decide({ key: 2 })).toMatchObject({ kind: "started" });
  });

  test("however many processes accept at once, one run starts", async () => {
    const { clock, process } = oneStore(store);
    const nodes = [process().idem, process().idem, process().idem];
    for (const idem of nodes) {
      idem.createFunction({ id: "fn", singleton: { mode: "skip" } }, { event: "a/b" }, async ({ step }) =>
        step.sleep("nap", "1m"),
      );
      await idem.start();
    }
    const kinds = (await Promise.all(nodes.map((idem) => idem.send([{ name: "a/b" }, { name: "a/b" }]))))
      .flatMap(({ decisions }) => decisions.map(({ kind }) => kind))
      .sort();
    expect(kinds).toEqual([...Array(5).fill("singleton-skipped"), "started"]);
    await clock.advance("1m");
  });

  test("an invoking step is told why nothing was started", async () => {
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn", singleton: { mode: "skip" } }, { event: "a/b" }, async ({ step }) =>
      step.sleep("nap", "1h"),
    );
    idem.createFunction({ id: "parent" }, { event: "go" }, async ({ step }) =>
      step.invoke("ask", { function: "fn" }).catch((error: Error) => error.message),
    );
    await idem.start();
    await decider(idem)();
    const { runId } = (await idem.send({ name: "go" })).decisions[0]!;
    await clock.advance(0);
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "completed" });
    expect((await idem.runs.get(runId!))!.output).toMatch(
      /was not started: run \w+ of the same singleton key is still open/,
    );
  });
});

describe.each(stores)("singleton on %s, mode cancel", (store) => {
  async function begin(fn: Partial<FunctionOptions> = {}) {
    const work = new HeldWork();
    const world = testIdem({ store });
    const { idem, clock } = world;
    idem.createFunction(
      { id: "fn", singleton: { mode: "cancel", key: "event.data.of" }, ...fn },
      { event: "a/b" },
      async ({ event, step }) => {
        await step.run("work", () => work.do(event.data.n));
        await step.run("after", () => work.do(`${event.data.n} after`));
      },
    );
    await idem.start();
    const send = async (n: string, data: Record<string, unknown> = {}) => {
      const decision = await decider(idem)({ n, of: "x", ...data });
      await clock.tick(1);
      return decision;
    };
    return { ...world, work, send };
  }

  test("the open run is cancelled for the new one; its step in the middle ends, and nothing comes after it", async () => {
    const { idem, clock, work, send } = await begin();
    const first = await send("1");
    const ended = idem.runs.wait(first.runId!);
    const second = await send("2");
    expect(second).toMatchObject({ kind: "started" });
    expect(await ended).toMatchObject({ state: "cancelled", error: { name: "CancelledError" } });
    expect((await ended).error!.message).toContain("singleton");
    work.letGo("1", "2");
    await clock.tick(1);
    expect(work.entered).toEqual(["1", "2", "2 after"]);
    work.letGo("2 after");
    await clock.tick(1);
    expect(await idem.runs.get(first.runId!)).toMatchObject({ state: "cancelled", timeline: [] });
    expect(await idem.runs.get(second.runId!)).toMatchObject({ state: "completed" });
  });

  test("each value of the key has its own", async () => {
    const { idem, send } = await begin();
    const [a, b] = [await send("1", { of: "a" }), await send("2", { of: "b" })];
    for (const { runId } of [a, b]) expect(await idem.runs.get(runId!)).toMatchObject({ state: "running" });
  });

  test("of many in one call the last one is left", async () => {
    const { idem, clock, work } = await begin();
    const sent = await idem.send(["1", "2", "3"].map((n) => ({ name: "a/b", data: { n, of: "x" } })));
    await clock.tick(1);
    const states = await Promise.all(sent.decisions.map(async ({ runId }) => (await idem.runs.get(runId!))!.state));
    expect(states).toEqual(["cancelled", "cancelled", "running"]);
    expect(work.entered).toEqual(["3"]);
  });

  test("others hear of the cancelled run: functions by function.cancelled, an invoking step by its error", async () => {
    const heard: unknown[] = [];
    const { idem, clock, send } = await begin();
    idem.createFunction({ id: "listener" }, { event: "inngest/function.cancelled" }, async ({ event }) => {
      heard.push(event.data.run_id);
    });
    idem.createFunction({ id: "parent" }, { event: "go" }, async ({ step }) =>
      step.invoke("ask", { function: "fn", data: { n: "child", of: "x" } }).catch((error: Error) => error.name),
    );
    const parent = (await idem.send({ name: "go" })).decisions[0]!.runId!;
    await clock.tick(1);
    const [child] = await idem.runs.list({ function: "fn" });
    await send("newer");
    await clock.tick("1s");
    expect(await idem.runs.get(parent)).toMatchObject({ state: "completed", output: "CancelledError" });
    expect(heard).toEqual([child!.id]);
    await clock.tick("10s");
    expect(heard).toHaveLength(1);
  });

  test("an invoking run that is at work meanwhile hears of it at once", async () => {
    const { idem, clock, send } = await begin();
    const long = held();
    let told = "";
    idem.createFunction({ id: "parent" }, { event: "go" }, async ({ step }) => {
      const asking = step.invoke("ask", { function: "fn", data: { n: "child", of: "x" } });
      const first = await Promise.race([
        asking.catch((error: Error) => error.name),
        step.run("long", () => long.promise),
      ]);
      await step.run("then", () => {
        told = String(first);
      });
    });
    await idem.send({ name: "go" });
    await clock.tick(1);
    await send("newer");
    await clock.tick("1s");
    expect(told).toBe("CancelledError");
    long.release();
    await clock.tick(1);
  });

  test("it makes room for the new one where the function has a limit", async () => {
    const { work, send } = await begin({ concurrency: 1 });
    await send("1");
    await send("2");
    expect(work.entered).toEqual(["1", "2"]);
  });

  test("also where the new one comes out of a debounce: the step in the middle is told by its signal", async () => {
    const [signals, long] = [[] as AbortSignal[], held()];
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "fn", debounce: { period: "1s" }, singleton: { mode: "cancel" } },
      { event: "a/b" },
      async ({ step }) =>
        step.run("long", ({ signal }) => {
          signals.push(signal);
          return long.promise;
        }),
    );
    await idem.start();
    for (let i = 0; i < 2; i++) {
      await idem.send({ name: "a/b" });
      await clock.tick("1s");
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    long.release();
    await clock.tick(1);
  });

  test("a duplicate cancels nothing", async () => {
    const { idem, send } = await begin({ idempotency: "event.data.key" });
    const first = await send("1", { key: "k" });
    expect(await send("1", { key: "k" })).toMatchObject({ kind: "duplicate-key", runId: first.runId });
    expect(await idem.runs.get(first.runId!)).toMatchObject({ state: "running" });
  });

  test("the cancelled run gives its key back where the function says so, as for any other cancel", async () => {
    const { idem, send } = await begin({ idempotency: { key: "event.data.key", afterFailure: "release" } });
    const first = await send("1", { key: "k" });
    await send("2", { key: "other" });
    expect(await idem.runs.get(first.runId!)).toMatchObject({ state: "cancelled" });
    expect(await send("3", { key: "k" })).toMatchObject({ kind: "started" });
  });

  test("and keeps it where the function says nothing", async () => {
    const { send } = await begin({ idempotency: "event.data.key" });
    const first = await send("1", { key: "k" });
    await send("2", { key: "other" });
    expect(await send("3", { key: "k" })).toMatchObject({ kind: "duplicate-key", runId: first.runId });
  });
});
