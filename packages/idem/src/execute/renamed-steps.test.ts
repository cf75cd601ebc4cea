// A step whose id changed, and that says so (`was`). The code of a run is changed while it waits, as a deployment would.
import { describe, expect, expectTypeOf, test } from "vitest";
import { hashStepId } from "../model/step-id.ts";
import type { FunctionOptions, HandlerContext } from "../sdk/function-types.ts";
import { servedWorld } from "../serve/served-world.suite.ts";
import { held, type OneRun, oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import type { StepOptions } from "./step-name.ts";

type Step = HandlerContext<any>["step"];
type Code = (step: Step) => Promise<unknown>;

/** Effects that reached the outside: the step as its code calls it, and the key it came with. */
type Did = [step: string, key: string][];

async function running(code: (did: Did) => Code, fn: Partial<FunctionOptions> = {}, store: string = "memory:") {
  const did: Did = [];
  let current = code(did);
  const run = await oneRun(({ step }) => current(step), { store, fn: { backoff: () => 1_000, ...fn } });
  await run.idem.idle();
  return {
    ...run,
    did,
    steps: () => did.map(([step]) => step),
    deploy: (next: (did: Did) => Code) => {
      current = next(did);
    },
  };
}

const timeline = async ({ idem, runId }: Pick<OneRun, "idem" | "runId">) =>
  (await idem.runs.get(runId))!.timeline.map(({ name, state }) => `${name} ${state}`);

const keys = (did: Did) => new Set(did.map(([, key]) => key)).size;

const act = (did: Did, step: Step, id: StepOptions | string, as = typeof id === "string" ? id : id.id) =>
  step.run(id, ({ key }) => {
    did.push([as, key]);
    return as;
  });

const charge =
  (id: StepOptions | string) =>
  (did: Did): Code =>
  async (step) => {
    const charged = await act(did, step, id);
    await step.sleep("nap", "1h");
    return charged;
  };

describe.each(stores)("on %s", (store) => {
  test("a renamed step that says what it was is answered from its record, and nothing is told to have diverged", async () => {
    const run = await running(charge("charge"), { onDiverged: "fail" }, store);
    run.deploy(charge({ id: "charge-card", was: "charge" }));
    expect(await run.end()).toMatchObject({ state: "completed", output: "charge" });
    expect(run.steps()).toEqual(["charge"]);
    expect(await timeline(run)).toEqual(["charge completed", "nap completed"]);
  });

  test("every kind of step keeps its record, its wait and its child under a new id, and each repeat its own", async () => {
    const child: unknown[] = [];
    const code =
      (named: (id: string) => StepOptions | string) =>
      (did: Did): Code =>
      async (step) => {
        for (const n of [0, 1]) await act(did, step, named("twice"), `twice ${n}`);
        await step.sendEvent(named("tell"), { name: "test/told", data: {} });
        await step.sendSignal(named("signal"), { signal: "nobody" });
        const fetched = await (await step.fetch(named("get"), "https://shop.test/")).text();
        await step.sleep(named("nap"), "1h");
        await step.sleepUntil(named("until"), new Date(10_000_000));
        const event = await step.waitForEvent(named("heard"), { event: "test/heard", timeout: "2h" });
        const signal = await step.waitForSignal(named("signalled"), { signal: "go", timeout: "2h" });
        return [fetched, event, signal, await step.invoke(named("child"), { function: "child", data: {} })];
      };
    const before = code((id) => id);
    const after = code((id) => ({ id: `${id}-renamed`, was: id }));
    const did: Did = [];
    let current = before(did);
    let fetches = 0;
    const run = await oneRun(({ step }) => current(step), {
      store,
      fn: { onDiverged: "fail" },
      fetch: async () => ({ status: 200, headers: {}, body: `${++fetches}` }),
      also: (idem) => {
        idem.createFunction({ id: "child" }, [], async ({ step }) => {
          await step.run("work", ({ key }) => child.push(key));
          await step.sleep("nap", "1h");
          return "child";
        });
      },
    });
    // Another version at each wait: the one that is under way was begun by the other.
    for (const version of [after, before, after, before, after]) {
      await run.clock.advance("1h");
      current = version(did);
    }
    expect(await run.end()).toMatchObject({ state: "completed", output: ["1", null, null, "child"] });
    expect(did.map(([step]) => step)).toEqual(["twice 0", "twice 1"]);
    expect([fetches, child.length]).toEqual([1, 1]);
    expect(await run.recorded()).toEqual([
      ...["twice", "twice", "tell", "signal", "get", "nap", "until", "heard", "signalled", "child"],
    ]);
  });
});

test("a step in the middle when its process went away is entered again under its former id's key", async () => {
  const world = testIdem();
  const seen: string[] = [];
  const never = held();
  const define = (id: StepOptions | string, does: (key: string) => unknown) => {
    const idem = world.client();
    idem.createFunction({ id: "bill" }, { event: "a/b" }, async ({ step }) =>
      step.run(id, ({ key }) => {
        seen.push(key);
        return does(key);
      }),
    );
    return idem;
  };
  const old = define("charge", () => never.promise);
  await old.start();
  const { runId } = (await old.send({ name: "a/b" })).decisions[0]!;
  await world.clock.tick(1);
  const stopping = old.stop({ grace: 0 });
  await world.clock.tick(1);
  await stopping;
  expect((await world.idem.runs.get(runId!))!.timeline).toEqual([]);
  const renamed = define({ id: "charge-card", was: "charge" }, () => "done");
  await renamed.start();
  await world.clock.tick("3s");
  expect(await renamed.runs.wait(runId!)).toMatchObject({ state: "completed", output: "done" });
  expect(seen).toHaveLength(2);
  expect(new Set(seen).size).toBe(1);
});

test("a failed attempt, a rerun, a run begun after the rename and a node of the old code all hand on one key", async () => {
  let fails = true;
  const failing =
    (id: StepOptions | string) =>
    (did: Did): Code =>
    async (step) => {
      await step.run(id, ({ key }) => {
        did.push([typeof id === "string" ? id : id.id, key]);
        if (fails) throw new Error("lost on the way");
      });
      await step.sleep("nap", "1h");
    };
  const renamed = failing({ id: "charge-card", was: "charge" });
  const run = await running(failing("charge"), { idempotency: "event.name" });
  run.deploy(renamed);
  await run.clock.advance("1s");
  fails = false;
  expect(await run.end()).toMatchObject({ state: "completed" });
  const { runId } = await run.idem.runs.rerun(run.runId);
  await run.idem.idle();
  // Rolled back while the rerun sleeps: what the new code recorded is the old code's too.
  run.deploy(failing("charge"));
  await run.clock.advanceToEnd();
  expect(await run.idem.runs.wait(runId)).toMatchObject({ state: "completed" });
  expect(run.steps()).toEqual(["charge", "charge-card", "charge-card", "charge-card"]);
  expect(keys(run.did)).toBe(1);
  expect(await timeline({ ...run, runId })).toEqual(["charge completed", "nap completed"]);
});

test("an effect that was renamed is found by its claim, under its former id's key", async () => {
  const effect =
    (id: StepOptions | string) =>
    (did: Did): Code =>
    async (step) => {
      await step.effect(id, { destination: "stripe", entity: "order-7" }, ({ key }) => {
        did.push(["effect", key]);
        if (did.length === 1) throw new Error("no answer");
        return { id: "ch_1" };
      });
    };
  const run = await running(effect("charge"));
  run.deploy(effect({ id: "charge-card", was: "charge" }));
  expect(await run.end()).toMatchObject({ state: "completed" });
  expect([run.did.length, keys(run.did)]).toEqual([2, 1]);
});

describe("of several former ids", () => {
  const was: StepOptions = { id: "c", was: ["a", "b"] };

  test("the one with a record is taken, and a run without any is recorded under the first", async () => {
    const run = await running(charge("b"), { onDiverged: "fail" });
    run.deploy(charge(was));
    expect(await run.end()).toMatchObject({ output: "b" });
    const fresh = await running(charge(was));
    expect(await fresh.recorded()).toEqual(["a"]);
  });

  test("an open wait is gone on with before a new one is begun under the first", async () => {
    const wait = (id: StepOptions | string) => (): Code => async (step) => step.sleep(id, "1h");
    const run = await running(wait("b"));
    run.deploy(wait(was));
    await run.clock.advance("1h");
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "completed" });
    expect(await run.recorded()).toEqual(["b"]);
  });

  test("of two records the older id's counts, and the other one is not told to be missing", async () => {
    const run = await running(charge("a"));
    run.deploy((did) => async (step) => {
      await act(did, step, "b");
      await step.sleep("second", "1h");
    });
    await run.clock.advance("1h");
    run.deploy((did) => async (step) => {
      const value = await act(did, step, was);
      await step.sleep("second", "1h");
      return value;
    });
    expect(await run.end()).toMatchObject({ state: "completed", output: "a" });
    expect(run.steps()).toEqual(["a", "b"]);
  });

  test("the id it has now may stand last: runs of a rename that was deployed without `was` keep their records", async () => {
    const run = await running(charge("charge-card"), { onDiverged: "fail" });
    run.deploy(charge({ id: "charge-card", was: ["charge", "charge-card"] }));
    expect(await run.end()).toMatchObject({ state: "completed", output: "charge-card" });
    expect(run.steps()).toEqual(["charge-card"]);
  });
});

test("two steps that change ids, and a chain of them, each keep what is theirs", async () => {
  const both =
    (one: StepOptions | string, two: StepOptions | string) =>
    (did: Did): Code =>
    async (step) => {
      const values = await Promise.all([act(did, step, one, "one"), act(did, step, two, "two")]);
      await step.sleep("nap", "1h");
      return values;
    };
  const run = await running(both("a", "b"), { onDiverged: "fail" });
  run.deploy(both({ id: "b", was: "a" }, { id: "a", was: "b" }));
  expect(await run.end()).toMatchObject({ state: "completed", output: ["one", "two"] });
  const chain = await running(both("a", "b"), { onDiverged: "fail" });
  chain.deploy(both({ id: "b", was: "a" }, { id: "c", was: "b" }));
  expect(await chain.end()).toMatchObject({ state: "completed", output: ["one", "two"] });
  expect([run.steps(), chain.steps()]).toEqual([
    ["one", "two"],
    ["one", "two"],
  ]);
});

describe("two steps that claim one id park the run before anything of them is done", () => {
  const after =
    (...ids: readonly (StepOptions | string)[]) =>
    (did: Did): Code =>
    async (step) => {
      await step.sleep("nap", "1h");
      for (const id of ids) await act(did, step, id);
      return "done";
    };

  test.each<[string, readonly (StepOptions | string)[], readonly string[]]>([
    [
      "two with one former id",
      [
        { id: "x", was: "a" },
        { id: "y", was: "a" },
      ],
      ["x"],
    ],
    ["a former id that another step has", ["a", { id: "x", was: "a" }], ["a"]],
    ["an id that another step had", [{ id: "x", was: "a" }, "a"], ["x"]],
    ["one id with `was` and without", [{ id: "x", was: "a" }, "x"], ["x"]],
    ["one id without `was` and with", ["x", { id: "x", was: "a" }], ["x"]],
  ])("%s", async (_, ids, done) => {
    const run = await running(after());
    run.deploy(after(...ids));
    await run.clock.advance("1h");
    const { state, parked } = (await run.idem.runs.get(run.runId))!;
    expect([state, parked?.kind, run.steps()]).toEqual(["parked", "renamed", done]);
    expect(parked!.reason).toMatch(/^STEP_WAS_CONFLICT|cannot be told from another one/);
    await run.idem.runs.release(run.runId);
    await run.idem.idle();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "parked" });
    // Put right and released, it goes on from what it has.
    run.deploy(after(ids[0]!));
    await run.idem.runs.release(run.runId);
    expect(await run.end()).toMatchObject({ state: "completed", output: "done" });
    expect(run.steps()).toEqual(done);
  });

  test("a record under the id it has now, and none under the former one, is nobody's before its author says so", async () => {
    const run = await running(charge("charge-card"));
    run.deploy(charge({ id: "charge-card", was: "charge" }));
    await run.clock.advance("1h");
    expect((await run.idem.runs.get(run.runId))!.parked).toMatchObject({ kind: "renamed" });
    expect(run.steps()).toEqual(["charge-card"]);
    run.deploy(charge({ id: "charge-card", was: ["charge", "charge-card"] }));
    await run.idem.runs.release(run.runId);
    expect(await run.end()).toMatchObject({ state: "completed" });
    expect(run.steps()).toEqual(["charge-card"]);
  });
});

test("what `was` cannot be is refused, in types and when it is said", async () => {
  expectTypeOf<[]>().not.toExtend<StepOptions["was"]>();
  for (const was of ["x", ["x", "a"], [], "", ["a", "a"], [7]] as any[]) {
    const run = await running(charge({ id: "x", was }));
    expect(await run.end()).toMatchObject({ state: "failed", error: { code: "STEP_INVALID" } });
  }
});

describe("code behind serve", () => {
  const served = (id: StepOptions | string) => {
    const world = servedWorld();
    world.idem.createFunction({ id: "fn" }, { event: "test/go" }, async ({ step }) => {
      const value = await step.run(id, ({ key }) => key);
      await step.sleep({ id: "rest", was: ["nap", "snooze"] }, "1h");
      return value;
    });
    return world;
  };
  const ctx = { idem: { env: "default", fn: "shop-fn", subject: "7", generation: "01FIRST" } };

  test("a renamed step is reported under its former id, with that id's key, and answered from it", async () => {
    const [before, after] = [served("charge"), served({ id: "charge-card", was: "charge" })];
    for (const { call } of [before, after]) await call("fn", { ctx });
    expect(after.checkpointed()).toMatchObject([{ id: hashStepId("charge", 0), name: "charge" }]);
    expect(after.checkpointed()[0].data).toBe(before.checkpointed()[0].data);
    const answer = await after.call("fn", { ctx, steps: { charge: { data: "k" }, nap: null } });
    expect(answer.body).toMatchObject([{ op: "RunComplete", data: "k" }]);
  });

  test("a wait that the server says is open under a former id is asked for by that id", async () => {
    const { call } = served("charge");
    const steps = { charge: { data: "k" } };
    const open = [hashStepId("snooze", 0)];
    const answer = await call("fn", { steps, ctx: { idem: { ...ctx.idem, open } } });
    expect(answer.body).toMatchObject([{ op: "Sleep", id: hashStepId("snooze", 0) }]);
    expect((await call("fn", { steps, ctx })).body).toMatchObject([{ op: "Sleep", id: hashStepId("nap", 0) }]);
  });
});
