// A replay that no longer asks for what was begun. The code of a run is changed while it waits, as a deployment would.
import { describe, expect, test } from "vitest";
import type { FunctionOptions, HandlerContext } from "../sdk/function-types.ts";
import { held, type OneRun, oneRun, stores } from "../testing/one-run.suite.ts";
import { turns } from "../testing/turns.suite.ts";

/** `work` takes a millisecond, so that steps one after the other are seen to be. */
type Code = (step: HandlerContext<any>["step"], work: (what: string) => string) => Promise<unknown>;

interface Deployed extends OneRun {
  readonly did: string[];
  readonly warned: string[];
  /** From here on the run's code is this. */
  deploy(code: Code): void;
}

async function running(code: Code, fn: Partial<FunctionOptions> = {}, store: string = "memory:"): Promise<Deployed> {
  const did: string[] = [];
  const warned: string[] = [];
  let current = code;
  const logger = {
    debug() {},
    info() {},
    warn: (...words: unknown[]) => words.join(" ").includes("does not do what it did") && warned.push(words.join(" ")),
    error() {},
  };
  const run = await oneRun(
    ({ step }, { clock }) =>
      current(step, (what) => {
        clock.stepWall(1);
        did.push(what);
        return what;
      }),
    { store, fn: { backoff: () => 1_000, ...fn }, logger },
  );
  await run.idem.idle();
  return {
    ...run,
    did,
    warned,
    deploy: (next) => {
      current = next;
    },
  };
}

const diverged = async ({ idem, runId }: OneRun) =>
  (await idem.runs.get(runId))!.timeline
    .filter(({ kind }) => kind === "diverged")
    .map(({ name, output }) => [name, (output as { asked: unknown }).asked]);

const charge =
  (id: string): Code =>
  async (step, work) => {
    await step.run(id, () => work(id));
    await step.sleep("nap", "1h");
    await step.run("mail", () => work("mail"));
    await step.sleep("another", "1h");
    return "done";
  };

describe.each(stores)("on %s", (store) => {
  test("a step renamed while its run sleeps is done again, and that is told once: in a warning and in the timeline", async () => {
    const run = await running(charge("charge"), {}, store);
    run.deploy(charge("charge-card"));
    expect(await run.end()).toMatchObject({ state: "completed" });
    expect(run.did).toEqual(["charge", "charge-card", "mail"]);
    expect(await diverged(run)).toEqual([["charge", "charge-card"]]);
    expect(run.warned).toEqual([
      expect.stringContaining(
        'asks for step "charge", which it had begun, and asks for step "charge-card", which is new',
      ),
    ]);
  });

  test('with onDiverged: "fail" the run fails before the step that was renamed is done again', async () => {
    const run = await running(charge("charge"), { onDiverged: "fail" }, store);
    run.deploy(charge("charge-card"));
    expect(await run.end()).toMatchObject({ state: "failed", error: { code: "RUN_DIVERGED" } });
    expect(run.did).toEqual(["charge"]);
    expect(await diverged(run)).toEqual([["charge", "charge-card"]]);
    expect(run.warned).toHaveLength(1);
  });
});

test('with onDiverged: "park" the run waits for a person before the step that was renamed is done again; released, it goes on', async () => {
  const run = await running(charge("charge"), { onDiverged: "park" });
  run.deploy(charge("charge-card"));
  await run.clock.advance("2h");
  const { state, parked } = (await run.idem.runs.get(run.runId))!;
  expect([state, parked?.kind, run.did]).toEqual(["parked", "diverged", ["charge"]]);
  await run.idem.runs.release(run.runId);
  expect(await run.end()).toMatchObject({ state: "completed" });
  expect(run.did).toEqual(["charge", "charge-card", "mail"]);
  expect(await diverged(run)).toEqual([["charge", "charge-card"]]);
});

test('with onDiverged: "park" the code may be put right meanwhile, and nothing is done twice', async () => {
  const run = await running(charge("charge"), { onDiverged: "park" });
  run.deploy(charge("charge-card"));
  await run.clock.advance("2h");
  run.deploy(charge("charge"));
  await run.idem.runs.release(run.runId);
  expect(await run.end()).toMatchObject({ state: "completed" });
  expect(run.did).toEqual(["charge", "mail"]);
});

const chargeAndNap =
  (id: string): Code =>
  async (step, work) => {
    await step.run(id, () => work(id));
    await step.sleep(`nap after ${id}`, "1h");
    await step.run("mail", () => work("mail"));
    await step.sleep("another", "1h");
  };

test("where a step was renamed together with the sleep behind it, it is told before the run sleeps again", async () => {
  const run = await running(chargeAndNap("charge"));
  run.deploy(chargeAndNap("charge-card"));
  await run.clock.advance("1h");
  const told = [
    ["charge", "charge-card"],
    ["nap after charge", "nap after charge-card"],
  ];
  expect([await diverged(run), run.warned.length]).toEqual([told, 2]);
  await run.end();
  expect([await diverged(run), run.warned.length]).toEqual([told, 2]);
});

test("what stands in a step's place is told, though other steps are new behind it and none took any time", async () => {
  let id = "charge";
  const run = await oneRun(async ({ step }) => {
    await step.run(id, () => "");
    await step.sleep("nap", "1h");
    await step.run("mail", () => "");
  });
  await run.idem.idle();
  id = "charge-card";
  await run.end();
  expect(await diverged(run)).toEqual([["charge", "charge-card"]]);
});

test("an id made by chance is noticed at the first replay, each step once", async () => {
  let n = 0;
  const code: Code = async (step, work) => {
    const id = `step-${n++}`;
    await step.run(id, () => work(id));
    await step.sleep("a", "1h");
    await step.sleep("b", "1h");
  };
  const run = await running(code);
  await run.clock.advance("1h");
  expect(await diverged(run)).toEqual([["step-0", "step-1"]]);
  await run.end();
  expect(run.did).toEqual(["step-0", "step-1", "step-2"]);
  expect(await diverged(run)).toEqual([
    ["step-0", "step-1"],
    ["step-1", "step-2"],
  ]);
});

test("a step that was taken out of the code is told once a later one is asked for", async () => {
  const run = await running(charge("charge"));
  run.deploy(async (step, work) => {
    await step.sleep("nap", "1h");
    await step.run("mail", () => work("mail"));
    await step.sleep("another", "1h");
  });
  await run.clock.advance("1h");
  expect(await diverged(run)).toEqual([["charge", null]]);
  await run.end();
  expect(run.warned).toHaveLength(1);
});

test("a branch by the clock is a divergence, told when the code returns at the latest", async () => {
  let isLate = false;
  const run = await running(async (step, work) => {
    const id = isLate ? "late" : "early";
    await step.run("before", () => work("before"));
    await step.run(id, () => {
      work(id);
      if (id === "early") throw new Error("not yet");
    });
  });
  isLate = true;
  await run.end();
  expect(run.did).toEqual(["before", "early", "late"]);
  expect(await diverged(run)).toEqual([["early", "late"]]);
});

test('renamed steps side by side are held for 10 seconds with onDiverged: "fail", and none of them is done', async () => {
  const both =
    (a: string, b: string): Code =>
    async (step, work) => {
      await Promise.all([step.run(a, () => work(a)), step.run(b, () => work(b))]);
      await step.sleep("nap", "1h");
    };
  const run = await running(both("a", "b"), { onDiverged: "fail" });
  run.deploy(both("a", "c"));
  await run.clock.advance("59m59s");
  await run.clock.tick("15s");
  expect(await run.end()).toMatchObject({ state: "failed", error: { code: "RUN_DIVERGED" } });
  expect(run.did).toEqual(["a", "b"]);
});

describe("nothing is told, and nothing held up,", () => {
  const quiet = async (run: Deployed, state = "completed") => {
    expect(await run.end()).toMatchObject({ state });
    expect([run.warned, await diverged(run)]).toEqual([[], []]);
    return run.did;
  };
  const strict = { onDiverged: "fail" } as const;

  test("where steps run side by side, race, or stand behind the outcome of others", async () => {
    const run = await running(async (step, work) => {
      const first = await Promise.race([
        step.run("quick", () => "quick"),
        step.sleep("limit", "1h").then(() => "limit"),
        (async () => {
          await step.run("branch-1", () => work("branch-1"));
          await step.sleep("branch-nap", "30m");
          return step.run("branch-2", () => work("branch-2"));
        })(),
      ]);
      const each = await Promise.all([1, 2, 3].map((n) => step.run(`item-${n}`, () => n)));
      if (first === "quick" && each.length === 3) await step.sleep("nap", "2h");
      return step.run("last", () => work("last"));
    }, strict);
    expect(await quiet(run)).toContain("last");
  });

  test("where a step or the code between steps fails and is tried again", async () => {
    let [between, inside] = [2, 2];
    const run = await running(async (step, work) => {
      await step.run("a", () => work("x"));
      if (between-- > 0) throw new Error("between");
      await step.run("b", () => {
        if (inside-- > 0) throw new Error("inside");
      });
      await step.sleep("nap", "1h");
      return step.run("c", () => work("x"));
    }, strict);
    await quiet(run);
  });

  test("where code that came less far this time throws", async () => {
    let down = false;
    const run = await running(async (step, work) => {
      await step.run("a", () => work("x"));
      await step.sleep("nap", "1h");
      if (down) {
        down = false;
        throw new Error("the database is away");
      }
      await step.run("b", () => work("x"));
      await step.sleep("nap-2", "1h");
    }, strict);
    await run.clock.advance("90m");
    down = true;
    await quiet(run);
  });

  test("where a branch awaits something of its own before its step, also when that takes longer this time", async () => {
    let slow: Promise<void> = Promise.resolve();
    const later = held();
    const run = await running(async (step, work) => {
      await Promise.all([
        (async () => {
          await slow;
          await step.run("late", () => work("late"));
        })(),
        (async () => {
          await step.run("b", () => work("x"));
          await step.sleep("nap", "1h");
          await step.run("c", () => {
            work("c");
            later.release();
          });
        })(),
      ]);
      await step.run("d", () => work("x"));
    });
    slow = later.promise.then(() => turns(20));
    expect((await quiet(run)).filter((what) => what !== "x")).toEqual(["late", "c"]);
  });

  test("where steps are added behind those that are done, or between them", async () => {
    const run = await running(async (step, work) => {
      await step.run("a", () => work("x"));
      await step.run("b", () => work("x"));
      await step.sleep("nap", "1h");
    });
    run.deploy(async (step, work) => {
      await step.run("a", () => work("x"));
      await step.run("between", () => work("between"));
      await step.run("b", () => work("x"));
      await step.sleep("nap", "1h");
      await step.run("behind", () => work("behind"));
    });
    expect((await quiet(run)).slice(2)).toEqual(["between", "behind"]);
  });

  test("where a sleep is put before steps that are done", async () => {
    const run = await running(async (step, work) => {
      await step.run("a", () => work("x"));
      await step.run("b", () => work("x"));
      await step.sleep("nap", "1h");
    });
    run.deploy(async (step, work) => {
      await step.sleep("before all", "1h");
      await step.run("a", () => work("x"));
      await step.run("b", () => work("x"));
      await step.sleep("nap", "1h");
    });
    expect(await quiet(run)).toEqual(["x", "x"]);
  });

  test("where a run is rerun from a step, with other code, or with an edited input", async () => {
    const first: Code = async (step, work) => {
      await step.run("load", () => work("load"));
      await step.run("charge", (amount: number, _: unknown) => work(`charge ${amount}`), 1);
      await step.sleep("nap", "1h");
    };
    const run = await running(first, strict);
    await run.end();
    run.deploy(async (step, work) => {
      await step.run("load-anew", () => work("load-anew"));
      await step.run("charge", (amount: number, _: unknown) => work(`charge ${amount}`), 1);
      await step.sleep("nap", "1h");
    });
    const { runId } = await run.idem.runs.rerun(run.runId, { fromStep: "charge", input: [2] });
    await run.clock.advanceToEnd();
    expect(await run.idem.runs.wait(runId)).toMatchObject({ state: "completed" });
    expect(await diverged({ ...run, runId })).toEqual([]);
    expect(run.did).toEqual(["load", "charge 1", "load-anew", "charge 2"]);
  });
});
