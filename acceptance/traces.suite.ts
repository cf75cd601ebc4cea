// The traces (docs/reference/wire.md#traces), through every adapter with every kind of checkpointing.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Adapter, HostedApp } from "./app/messages.ts";
import { expectTrace } from "./trace.ts";
import { World, type WorldOptions } from "./world.ts";

export type Checkpointing = "default" | "off" | "buffered" | "short";

export const checkpointing: Readonly<Record<Checkpointing, Pick<HostedApp, "checkpointing">>> = {
  default: {},
  off: { checkpointing: false },
  buffered: { checkpointing: { bufferedSteps: 3 } },
  short: { checkpointing: { maxRuntime: "200ms" } },
};

const kinds = Object.keys(checkpointing) as Checkpointing[];
const adapters: readonly Adapter[] = ["node", "express", "hono"];

const appOf = (adapter: Adapter, kind: Checkpointing): HostedApp => ({
  id: `${adapter}-${kind}`,
  adapter,
  functions: ["traces"],
  ...checkpointing[kind],
});

/** One for each kind of checkpointing; a run may pass 200 ms anywhere, so there only facts are compared, never the way. */
type Expected = Readonly<Record<Exclude<Checkpointing, "short">, readonly (string | readonly string[])[]>>;

export function traceSuite(options: Pick<WorldOptions, "mode" | "registeredBy">): void {
  let world: World;
  beforeAll(async () => {
    const apps = adapters.flatMap((adapter) => kinds.map((kind) => appOf(adapter, kind)));
    world = await World.open({ ...options, apps });
  });
  afterAll(() => world?.close());

  describe.concurrent.each(adapters)("through the adapter for %s", (adapter) => {
    describe.concurrent.each(kinds)("with checkpointing %s", (kind) => {
      const { id: app } = appOf(adapter, kind);
      const expectTraceOf = (runId: string, expected: Expected) => {
        if (kind !== "short") expectTrace(world.traces.of(runId), expected[kind]);
      };
      const timelineOf = async (runId: string) =>
        (await world.rest.timeline(runId)).map(({ name, kind, state }) => `${kind} ${name} ${state}`);

      test("sequential: steps in a row run once each, in one call where they are reported on the way", async () => {
        const runId = await world.rest.start(`${app}/sequential`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { sum: 3 } });
        expect(world.entered(runId)).toEqual(["a", "b"]);
        expect(await timelineOf(runId)).toEqual(["run a completed", "run b completed"]);
        expectTraceOf(runId, {
          default: ["checkpoint a", "checkpoint b", "call step 0: 206 RunComplete"],
          buffered: ["call step 0: 206 StepRun a, StepRun b, RunComplete"],
          off: ["call step 0: 206 StepRun a", "call step 0: 206 StepRun b", "call step 0: 200"],
        });
      });

      test("parallel: planned steps are asked for one by one, and the code once when all are over", async () => {
        const runId = await world.rest.start(`${app}/parallel`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: ["p1", "p2", "p3"] });
        expect(world.entered(runId).toSorted()).toEqual(["p1", "p2", "p3", "post", "post2", "pre"]);
        const planned = "206 StepPlanned p1, StepPlanned p2, StepPlanned p3";
        const alone = ["call p1 0: 206 StepRun p1", "call p2 0: 206 StepRun p2", "call p3 0: 206 StepRun p3"];
        expectTraceOf(runId, {
          default: [
            "checkpoint pre",
            `call step 0: ${planned}`,
            alone,
            "checkpoint post",
            "checkpoint post2",
            "call step 0: 206 RunComplete",
          ],
          buffered: [
            "checkpoint pre",
            `call step 0: ${planned}`,
            alone,
            "call step 0: 206 StepRun post, StepRun post2, RunComplete",
          ],
          off: [
            "call step 0: 206 StepRun pre",
            `call step 0: ${planned}`,
            alone,
            "call step 0: 206 StepRun post",
            "call step 0: 206 StepRun post2",
            "call step 0: 200",
          ],
        });
      });

      test("sleep: nobody is asked while a run sleeps", async () => {
        const runId = await world.rest.start(`${app}/sleep`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: "b" });
        expect(world.entered(runId)).toEqual(["a", "b"]);
        expect(await timelineOf(runId)).toEqual(["run a completed", "sleep nap completed", "run b completed"]);
        expectTraceOf(runId, {
          default: ["checkpoint a", "call step 0: 206 Sleep nap", "checkpoint b", "call step 0: 206 RunComplete"],
          buffered: ["checkpoint a", "call step 0: 206 Sleep nap", "call step 0: 206 StepRun b, RunComplete"],
          off: [
            "call step 0: 206 StepRun a",
            "call step 0: 206 Sleep nap",
            "call step 0: 206 StepRun b",
            "call step 0: 200",
          ],
        });
      });

      test("mixed: a step, a sleep and a wait side by side, and the code once when all are over", async () => {
        const runId = await world.rest.start(`${app}/mixed`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: ["m1", null, "m1b"] });
        expect(world.entered(runId)).toEqual(["m1", "m1b"]);
        const found = "call step 0: 206 StepPlanned m1, Sleep ms, WaitForEvent mw";
        expectTraceOf(runId, {
          default: [found, "call m1 0: 206 StepRun m1", "checkpoint m1b", "call step 0: 206 RunComplete"],
          buffered: [found, "call m1 0: 206 StepRun m1", "call step 0: 206 StepRun m1b, RunComplete"],
          off: [found, "call m1 0: 206 StepRun m1", "call step 0: 206 StepRun m1b", "call step 0: 200"],
        });
      });

      test("invoke: another function's value and another function's failure come back", async () => {
        const runId = await world.rest.start(`${app}/invoke`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: [42, "childbad"] });
        expect(await timelineOf(runId)).toEqual(["invoke i completed", "invoke j failed"]);
        const invoked = ["call step 0: 206 InvokeFunction i", "call step 0: 206 InvokeFunction j"];
        expectTraceOf(runId, {
          default: [...invoked, "call step 0: 206 RunComplete"],
          buffered: [...invoked, "call step 0: 206 RunComplete"],
          off: [...invoked, "call step 0: 200"],
        });
      });

      test("retries: a step has its own attempts, and so has the code between steps", async () => {
        const runId = await world.rest.start(`${app}/retries`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: "done" });
        expect(world.entered(runId)).toEqual(["flaky", "flaky", "flaky"]);
        const [flaky, code] = await world.rest.timeline(runId);
        expect(flaky!.attempts.map(({ error }) => error?.message ?? null)).toEqual(["not yet, 0", "not yet, 1", null]);
        expect(code!.attempts.map(({ error }) => error?.message)).toEqual(["between steps"]);
        const tries = [
          "call step 0: 206 StepError flaky",
          "call step 1: 206 StepError flaky",
          "call step 2: 206 StepRun flaky",
          "call step 0: 500",
        ];
        expectTraceOf(runId, {
          default: [...tries, "call step 1: 206 RunComplete"],
          buffered: [...tries, "call step 1: 206 RunComplete"],
          off: [...tries, "call step 1: 200"],
        });
      });

      test("fail: a step that failed for good fails the run, and onFailure hears of it once", async () => {
        const runId = await world.rest.start(`${app}/fail`, { n: 7 });
        const end = await world.rest.end(runId);
        expect(end).toMatchObject({ status: "Failed", output: { message: "kaput" } });
        expect(world.entered(runId)).toEqual(["boom", "boom"]);
        const told = (line: { readonly kind: string; readonly text?: string }) =>
          line.kind === "note" && line.text === `${runId} kaput 7`;
        await world.host.until(told);
        const trace = [
          "call step 0: 206 StepError boom",
          "call step 1: 206 StepFailed boom",
          "call step 0: 400 no retry",
        ];
        expectTraceOf(runId, { default: trace, buffered: trace, off: trace });
        expect(world.ledger.filter(told)).toHaveLength(1);
      });

      test("race: the first one wins, while the other still runs", async () => {
        const runId = await world.rest.start(`${app}/race`);
        await world.traces.has(runId, "call step 0 (plan only): 206 StepPlanned slow");
        world.host.release(runId);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: "fast" });
        expect(world.entered(runId).toSorted()).toEqual(["fast", "slow"]);
        const raced = [
          "call step 0: 206 StepPlanned fast, StepPlanned slow",
          "call fast 0: 206 StepRun fast",
          "call step 0 (plan only): 206 StepPlanned slow",
          "call slow 0: 206 StepRun slow",
        ];
        expectTraceOf(runId, {
          default: [...raced, "call step 0: 206 RunComplete"],
          buffered: [...raced, "call step 0: 206 RunComplete"],
          off: [...raced, "call step 0: 200"],
        });
      });

      test("lengthy: a call that takes longer than the app allows is handed back, and goes on as another", async () => {
        const runId = await world.rest.start(`${app}/lengthy`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: ["l1", "l2", "l3", "l4"] });
        expect(world.entered(runId)).toEqual(["l1", "l2", "l3", "l4"]);
        const handedBack = world.traces.of(runId).filter((line) => /^call step 0: 206 StepPlanned l[234]$/.test(line));
        expect(handedBack.length > 0).toBe(kind === "short");
      });
    });
  });
}
