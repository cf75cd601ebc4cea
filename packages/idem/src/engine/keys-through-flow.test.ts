// Event ids and function keys hold whatever else a function's configuration says.
import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../sdk/function-types.ts";
import type { PublicDecision } from "../sdk/public-types.ts";
import { stores, testIdem } from "../testing/flow-stores.suite.ts";

interface Through {
  readonly options: Partial<FunctionOptions>;
  /** Its events wait for a person. */
  readonly isPaused?: true;
}

const features: Record<string, Through> = {
  nothing: { options: {} },
  debounce: { options: { debounce: { period: "10s" } } },
  "debounce with a key": { options: { debounce: { period: "10s", key: "event.data.of" } } },
  batchEvents: { options: { batchEvents: { maxSize: 3, timeout: "10s" } } },
  "batchEvents with a key": { options: { batchEvents: { maxSize: 3, timeout: "10s", key: "event.data.of" } } },
  pause: { options: {}, isPaused: true },
  rateLimit: { options: { rateLimit: { limit: 1, period: "1h" } } },
  "singleton skip": { options: { singleton: { mode: "skip" } } },
  "singleton cancel": { options: { singleton: { mode: "cancel" } } },
  concurrency: { options: { concurrency: 1 } },
  throttle: { options: { throttle: { limit: 1, period: "1m" } } },
  "priority and cancelOn": { options: { priority: { run: "60" }, cancelOn: [{ event: "stop" }] } },
};
const cases = stores.flatMap((store) => Object.keys(features).map((feature) => [feature, store] as const));

async function begin(store: (typeof stores)[number], feature: string, more: Partial<FunctionOptions> = {}) {
  const { options, isPaused } = features[feature]!;
  const entered: string[] = [];
  const keys: string[] = [];
  const world = testIdem({ store });
  const { idem, clock } = world;
  idem.createFunction({ id: "fn", ...options, ...more }, { event: "a/b" }, async ({ event, runId, step }) => {
    await step.sleep("nap", event.data.nap ?? "1m");
    return step.run("work", ({ key }) => {
      entered.push(runId);
      keys.push(key);
      return `by ${runId}`;
    });
  });
  idem.createFunction({ id: "parent" }, { event: "go" }, async ({ event, step }) =>
    step.invoke("ask", { function: "fn", data: event.data }),
  );
  await idem.start();
  if (isPaused) await idem.functions.pause("fn");
  const send = async (data: Record<string, unknown>, id?: string): Promise<PublicDecision> =>
    (await idem.send({ name: "a/b", data, ...(id === undefined ? {} : { id }) })).decisions[0]!;
  /** Lets everything that is pending be decided, and every run end. */
  const settle = async () => {
    await clock.advance("30s");
    if (isPaused) {
      await idem.functions.resume("fn", { waiting: "release" });
      await clock.advance("2m");
      await idem.functions.pause("fn");
    }
    await clock.advance("2m");
  };
  const decisionOf = async ({ eventId }: { eventId: string }) => (await idem.events.get(eventId))!.decisions[0]!;
  const runs = async () => idem.runs.list({ function: "fn" });
  return { ...world, entered, keys, send, settle, decisionOf, runs };
}

describe.each(cases)("through %s on %s", (feature, store) => {
  test("an event id sent again, at once or later, starts nothing and is answered with the first run", async () => {
    const { entered, send, settle, decisionOf, runs } = await begin(store, feature);
    const first = await send({ n: 1, of: "x" }, "e1");
    const second = await send({ n: 2, of: "x" }, "e1");
    expect(second).toMatchObject({ kind: "duplicate-event", firstEventId: first.eventId, runId: first.runId });
    await settle();
    const { kind, runId } = await decisionOf(first);
    expect(kind).toBe("started");
    expect(await send({ n: 3, of: "x" }, "e1")).toMatchObject({ kind: "duplicate-event", runId });
    await settle();
    expect(await runs()).toMatchObject([{ id: runId, state: "completed" }]);
    expect(entered).toEqual([runId]);
  });

  test("a function key has one run in its window; whoever asks again is answered with it", async () => {
    const idempotency = { key: "event.data.key", window: "1h" };
    const { clock, entered, keys, send, settle, decisionOf, runs } = await begin(store, feature, { idempotency });
    const sent = [await send({ key: "k", of: "x" }), await send({ key: "k", of: "x" })];
    await settle();
    const decisions = await Promise.all(sent.map(decisionOf));
    const runId = decisions[0]!.runId!;
    expect(decisions.map((each) => each.runId)).toEqual([runId, runId]);
    expect(decisions.filter(({ kind }) => kind === "started")).toHaveLength(1);
    const third = await send({ key: "k", of: "x" });
    await settle();
    expect(await decisionOf(third)).toMatchObject({ kind: "duplicate-key", key: '"k"', runId });
    expect(await runs()).toMatchObject([{ id: runId, state: "completed" }]);
    await clock.advance("1h");
    const next = await send({ key: "k", of: "x" });
    await settle();
    expect(await decisionOf(next)).toMatchObject({ kind: "started" });
    expect(entered).toHaveLength(2);
    // A window that ended by itself is a new generation.
    expect(new Set(keys).size).toBe(2);
  });

  test("invoking it with a key that is taken gives the first run's result, also while that run is still to come", async () => {
    const idempotency = { key: "event.data.key", window: "1h" };
    const { idem, send, settle, decisionOf, runs } = await begin(store, feature, { idempotency });
    const first = await send({ key: "k", of: "x" });
    const invoke = async () => (await idem.send({ name: "go", data: { key: "k", of: "x" } })).decisions[0]!.runId!;
    const parents = [await invoke()];
    await settle();
    const { runId } = await decisionOf(first);
    parents.push(await invoke());
    await settle();
    for (const parent of parents) {
      expect(await idem.runs.get(parent)).toMatchObject({ state: "completed", output: `by ${runId}` });
    }
    expect(await runs()).toMatchObject([{ id: runId, state: "completed" }]);
  });

  test("with until-finished the key is taken past its window while its run is open, and free afterwards", async () => {
    const idempotency = { key: "event.data.key", window: "until-finished" };
    const { idem, clock, send, settle, decisionOf } = await begin(store, feature, { idempotency });
    const first = await send({ key: "k", of: "x", nap: "30h" });
    await settle();
    const { runId } = await decisionOf(first);
    await clock.advance("25h");
    const second = await send({ key: "k", of: "x" });
    await settle();
    expect(await decisionOf(second)).toMatchObject({ kind: "duplicate-key", runId });
    await clock.advance("5h");
    expect(await idem.runs.get(runId!)).toMatchObject({ state: "completed" });
    const third = await send({ key: "k", of: "x" });
    await settle();
    expect(await decisionOf(third)).toMatchObject({ kind: "started" });
  });

  test("destination keys are the same in a rerun, which goes past the key", async () => {
    const { idem, clock, keys, send, settle, decisionOf } = await begin(store, feature, {
      idempotency: "event.data.key",
    });
    const first = await send({ key: "k", of: "x" });
    await settle();
    const { runId } = await decisionOf(first);
    const rerun = await idem.runs.rerun(runId!);
    await clock.advance("5m");
    expect(await idem.runs.get(rerun.runId)).toMatchObject({ state: "completed" });
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
    const again = await send({ key: "k", of: "x" });
    await settle();
    expect(await decisionOf(again)).toMatchObject({ kind: "duplicate-key", runId: rerun.runId });
  });
});
