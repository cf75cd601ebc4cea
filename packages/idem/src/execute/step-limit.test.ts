import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { servedWorld } from "../serve/served-world.suite.ts";
import { held, type OneRun, oneRun, stores } from "../testing/one-run.suite.ts";

const never = () => new Promise<never>(() => {});
/** Ends as soon as its signal says so, as `fetch` does. */
const untilAborted = ({ signal }: { readonly signal: AbortSignal }) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const codes = async ({ idem, runId }: OneRun) =>
  (await idem.runs.get(runId))!.timeline.flatMap(({ attempts }) => attempts.map(({ error }) => error?.code ?? null));

describe.each(stores)("a step's time limit on %s", (store) => {
  test("at the limit the signal aborts and the attempt fails with STEP_TIMED_OUT, and the step is tried again", async () => {
    const entered: number[] = [];
    const run = await oneRun(
      ({ step }, { clock }) =>
        step.run({ id: "slow", timeout: "10s" }, (context) => {
          entered.push(clock.now());
          return context.attempt === 1 ? untilAborted(context) : "done";
        }),
      { store, fn: { backoff: () => 5_000 } },
    );
    await run.clock.tick("1m");
    expect(await run.end()).toMatchObject({ state: "completed", output: "done" });
    expect(entered[1]! - entered[0]!).toBe(15_000);
    expect(await codes(run)).toEqual(["STEP_TIMED_OUT", null]);
  });

  test("what a body comes back with after its limit is dropped and never recorded", async () => {
    const late = held<string>();
    const run = await oneRun(
      ({ step }) =>
        step.run({ id: "slow", timeout: "10s" }, ({ attempt }) => (attempt === 1 ? late.promise : "second")),
      { store, fn: { backoff: () => 0 } },
    );
    await run.clock.tick("12s");
    late.release("late");
    expect(await run.end()).toMatchObject({ state: "completed", output: "second" });
    expect(await codes(run)).toEqual(["STEP_TIMED_OUT", null]);
  });

  test("the next attempt begins only once the body of the last one has ended, or has ignored its signal for 30 seconds", async () => {
    const entered: number[] = [];
    const slow = held();
    const run = await oneRun(
      ({ step }, { clock }) =>
        step.run({ id: "deaf", timeout: "10s" }, ({ attempt }) => {
          entered.push(clock.now());
          return attempt === 1 ? slow.promise : attempt === 2 ? never() : "done";
        }),
      { store, fn: { backoff: () => 0 } },
    );
    await run.clock.tick("25s");
    expect(entered).toHaveLength(1);
    slow.release();
    await run.clock.tick("2m");
    expect(await run.end()).toMatchObject({ output: "done" });
    expect(entered.slice(1).map((at) => at - entered[0]!)).toEqual([25_000, 65_000]);
  });

  test("a step whose attempts are spent throws STEP_TIMED_OUT into the code, which may go on without it", async () => {
    const run = await oneRun(
      async ({ step }) => {
        try {
          await step.run({ id: "slow", timeout: 10_000 }, untilAborted);
        } catch (error) {
          return (error as { code?: string }).code;
        }
      },
      { store, fn: { retries: 0 } },
    );
    await run.clock.tick("10s");
    expect(await run.end()).toMatchObject({ state: "completed", output: "STEP_TIMED_OUT" });
  });
});

const took = async (id: string | { id: string; timeout: string }, fn: Partial<FunctionOptions>) => {
  const run = await oneRun(({ step }) => step.run(id, untilAborted), { fn: { retries: 0, ...fn } });
  await run.clock.tick("15m");
  const [entry] = (await run.idem.runs.get(run.runId))!.timeline;
  return entry === undefined ? null : entry.endedAt! - entry.startedAt!;
};

test("timeouts.step limits every step that says nothing of it; a step's own limit counts first, and without either there is none", async () => {
  expect(await took("free", {})).toBeNull();
  expect(await took("default", { timeouts: { step: "1m" } })).toBe(60_000);
  expect(await took({ id: "longer", timeout: "10m" }, { timeouts: { step: "1m" } })).toBe(600_000);
});

test("a run that is cancelled aborts the signal of a step with a limit as well", async () => {
  const reasons: string[] = [];
  const run = await oneRun(({ step }) =>
    step.run({ id: "slow", timeout: "1h" }, (context) =>
      untilAborted(context).catch((error) => reasons.push(String(error.message))),
    ),
  );
  await run.clock.tick("1s");
  await run.idem.runs.cancel(run.runId);
  await run.clock.tick("1s");
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).not.toContain("limit");
});

test("step.fetch gives up its request at the limit", async () => {
  const asked: boolean[] = [];
  const run = await oneRun(
    async ({ step }) => (await step.fetch({ id: "call", timeout: "10s" }, "https://api.test/")).status,
    {
      fn: { backoff: () => 0 },
      fetch: async ({ signal }) => {
        asked.push(signal!.aborted);
        return asked.length === 1 ? untilAborted({ signal: signal! }) : { status: 204, headers: {}, body: "" };
      },
    },
  );
  await run.clock.tick("10s");
  expect(await run.end()).toMatchObject({ output: 204 });
  expect(await codes(run)).toEqual(["STEP_TIMED_OUT", null]);
});

test("what an effect answers after its limit is kept with the effect: the next attempt receives it and sends nothing", async () => {
  const late = held<{ id: string }>();
  let sent = 0;
  const run = await oneRun(
    ({ step }) =>
      step.effect({ id: "charge", timeout: "10s" }, { destination: "stripe", entity: "order-7" }, () => {
        sent++;
        return late.promise;
      }),
    { fn: { backoff: () => 0 } },
  );
  await run.clock.tick("12s");
  late.release({ id: "ch_1" });
  expect(await run.end()).toMatchObject({ state: "completed", output: { id: "ch_1" } });
  expect(sent).toBe(1);
  expect(await codes(run)).toEqual(["STEP_TIMED_OUT", null]);
});

test("a step that only waits has no time limit, and is refused one; so is a limit that is no length of time", async () => {
  const why = async (use: (step: any) => unknown) => {
    const run = await oneRun(({ step }) => use(step), { fn: { retries: 0 } });
    return (await run.end()).error!;
  };
  const id = { id: "x", timeout: "1m" };
  expect(await why((step) => step.sleep(id, "1d"))).toMatchObject({ code: "STEP_INVALID" });
  expect(await why((step) => step.waitForEvent(id, { event: "a/b", timeout: "1d" }))).toMatchObject({
    message: expect.stringContaining("its options say how long it waits"),
  });
  expect(await why((step) => step.run({ id: "x", timeout: 0 }, never))).toMatchObject({ code: "OPTION_INVALID" });
  expect(await why((step) => step.run({ id: "x", timeout: "soon" }, never))).toMatchObject({
    code: "DURATION_INVALID",
  });
});

test("a step of an app that a server calls has its limit there, and the server is told of a failed attempt", async () => {
  const { idem, call, platform, checkpointed } = servedWorld();
  idem.createFunction({ id: "fn", timeouts: { step: "10s" } }, { event: "test/go" }, ({ step }) =>
    step.run("slow", untilAborted),
  );
  const answering = call("fn");
  const turns = async () => {
    for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  await turns();
  await platform.advance(10_000, turns);
  const { body } = await answering;
  expect(body).toMatchObject([{ op: "StepError", name: "slow", error: { code: "STEP_TIMED_OUT" } }]);
  expect(checkpointed()).toEqual([]);
});
