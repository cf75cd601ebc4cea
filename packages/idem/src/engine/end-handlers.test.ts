import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { engineOf } from "../testing/one-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

/** A run that naps for a day unless something ends it, and what its handlers heard. */
async function napper(store: string, fn: Partial<FunctionOptions>, handlers: readonly ("onFailure" | "onCancel")[]) {
  const heard: string[] = [];
  const gate = held();
  const { idem, clock } = testIdem({ store, runsInFlight: 1 });
  const hear =
    (name: string) =>
    async ({ error, event, step }: any) => {
      const { run_id: runId, event: own } = event.data;
      await step.run("tell", () => heard.push(`${name} ${runId} of ${own.name}: ${error.code ?? error.message}`));
    };
  const told = Object.fromEntries(handlers.map((name) => [name, hear(name)]));
  idem.createFunction({ id: "nap", retries: 0, ...fn, ...told }, { event: "go" }, async ({ event, step }) => {
    if (event.data.fails) throw new Error("not today");
    if (event.data.blocks) await step.run("block", () => gate.promise);
    else await step.sleep("nap", "1d");
  });
  await idem.start();
  const send = async (data: Record<string, unknown> = {}) =>
    (await idem.send({ name: "go", data })).decisions[0]!.runId!;
  const settle = async () => {
    await clock.advance("2d");
    await idem.stop();
    return heard;
  };
  return { idem, clock, send, settle, gate };
}

describe.each(stores)("which end is told to which handler, on %s", (store) => {
  const both = ["onFailure", "onCancel"] as const;

  test("a failed run is told to onFailure alone, once", async () => {
    const { send, settle } = await napper(store, {}, both);
    const runId = await send({ fails: true });
    expect(await settle()).toEqual([`onFailure ${runId} of go: not today`]);
  });

  test("an end is decided by the handlers of its own function alone; what nobody hears is not kept", async () => {
    const { idem } = testIdem({ store });
    const heard: string[] = [];
    const onFailure = ({ event }: any) => void heard.push(event.data.function_id);
    const fails = async () => {
      throw new Error("not today");
    };
    for (const id of ["a", "b", "c"]) idem.createFunction({ id, retries: 0, onFailure }, { event: `go/${id}` }, fails);
    idem.createFunction({ id: "bare", retries: 0 }, { event: "go/bare" }, fails);
    await idem.start();
    await idem.send([{ name: "go/a" }, { name: "go/bare" }]);
    await idem.idle();
    const { store: kept, env } = await engineOf(idem);
    const told = (await kept.reads.events(env, { limit: 10 })).filter(({ name }) => name.startsWith("inngest/"));
    expect([heard.length, told.map(({ name }) => name)]).toEqual([1, ["inngest/function.failed"]]);
    const decisions = await kept.reads.decisionsOfEvent(env, told[0]!.id);
    expect(decisions.map(({ fn, kind }) => [fn, kind])).toEqual([[expect.stringMatching(/a-failure$/), "started"]]);
    await idem.stop();
  });

  test("a completed run is told to neither", async () => {
    const { send, settle } = await napper(store, {}, both);
    await send();
    expect(await settle()).toEqual([]);
  });

  test("timeouts.finish is told to onFailure, with its code, and to onCancel only where there is no onFailure", async () => {
    for (const handlers of [both, ["onFailure"], ["onCancel"]] as const) {
      const { idem, send, settle } = await napper(store, { timeouts: { finish: "1h" } }, handlers);
      const runId = await send();
      await idem.idle();
      expect(await settle()).toEqual([`${handlers[0]} ${runId} of go: RUN_TIMED_OUT`]);
    }
  });

  test("a run cancelled by a person is told to onCancel, with the reason", async () => {
    const { idem, send, settle } = await napper(store, { timeouts: { finish: "1h" } }, both);
    const runId = await send();
    await idem.idle();
    await idem.runs.cancel(runId, { reason: "the order was a test" });
    await idem.runs.cancel(runId, { reason: "again" });
    expect(await settle()).toEqual([`onCancel ${runId} of go: the order was a test`]);
  });

  test("a run cancelled by an event is told to onCancel", async () => {
    const { idem, send, settle } = await napper(store, { cancelOn: [{ event: "stop" }] }, both);
    const runId = await send();
    await idem.idle();
    await idem.send({ name: "stop", data: {} });
    expect(await settle()).toEqual([
      expect.stringMatching(`^onCancel ${runId} of go: cancelled by event \\w+ \\(stop\\)$`),
    ]);
  });

  test("a run replaced by a newer one of its singleton key is told to onCancel", async () => {
    const { idem, send, settle } = await napper(store, { singleton: { mode: "cancel" } }, both);
    const first = await send();
    await idem.idle();
    const second = await send();
    expect(await settle()).toEqual([expect.stringContaining(`onCancel ${first} of go: cancelled by run ${second}`)]);
  });

  test("a run that did not begin within timeouts.start is told to onCancel, by a code of its own", async () => {
    const { send, settle, clock, gate } = await napper(store, { timeouts: { start: "10s" } }, both);
    await send({ blocks: true });
    const late = await send();
    await clock.tick("30s");
    gate.release();
    expect(await settle()).toEqual([`onCancel ${late} of go: RUN_START_TIMED_OUT`]);
  });
});

test("onCancel must be a function", () => {
  const { idem } = testIdem();
  expect(() => idem.createFunction({ id: "a", onCancel: "no" as any }, { event: "go" }, () => {})).toThrow(/onCancel/);
});
