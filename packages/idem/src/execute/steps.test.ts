import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { oneRun, stores } from "../testing/one-run.suite.ts";

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

describe.each(stores)("steps on %s", (store) => {
  test("a completed step is not entered again, and gives the same value on every replay", async () => {
    const entered: string[] = [];
    const seen: unknown[] = [];
    const run = await oneRun(
      async ({ step }) => {
        seen.push(await step.run("a", () => entered.push("a")));
        await step.sleep("nap", "1h");
        seen.push(await step.run("b", () => entered.push("b")));
        await step.sleep("nap again", "1h");
        return seen.at(-1);
      },
      { store },
    );
    expect(await run.end()).toEqual({ state: "completed", output: 2, error: null });
    expect(entered).toEqual(["a", "b"]);
    expect(seen).toEqual([1, 1, 2, 1, 2]);
    expect(await run.recorded()).toEqual(["a", "nap", "b", "nap again"]);
  });

  test("one id in a loop is one step per turn, and each turn keeps its own value", async () => {
    let calls = 0;
    const run = await oneRun(
      async ({ step }) => {
        const values: number[] = [];
        for (let i = 0; i < 3; i++) {
          values.push(await step.run("charge", () => ++calls));
          await step.sleep("pause", "1m");
        }
        return values;
      },
      { store },
    );
    expect((await run.end()).output).toEqual([1, 2, 3]);
    expect(calls).toBe(3);
  });

  test("a value takes the JSON round trip on the first pass as on replay", async () => {
    const passes: unknown[] = [];
    const run = await oneRun(
      async ({ step }) => {
        const value = await step.run("value", () => ({
          at: new Date(Date.UTC(2026, 0, 2)),
          gone: undefined,
          list: [undefined, 1],
          minusZero: -0,
        }));
        const nothing = await step.run("nothing", () => {});
        passes.push([value, nothing]);
        await step.sleep("nap", "1m");
      },
      { store },
    );
    await run.end();
    expect(passes).toHaveLength(2);
    expect(passes[0]).toEqual(passes[1]);
    expect(passes[0]).toEqual([{ at: "2026-01-02T00:00:00.000Z", list: [null, 1], minusZero: -0 }, null]);
  });

  test("a value that JSON cannot carry fails the step by name and field, and the step is not run again", async () => {
    let calls = 0;
    const run = await oneRun(
      async ({ step }) => {
        await step.run("lookup", () => {
          calls++;
          return { rows: [{ total: 10n }] };
        });
      },
      { store, fn: { retries: 5 } },
    );
    const { state, error } = await run.end();
    expect(state).toBe("failed");
    expect(error).toMatchObject({ code: "VALUE_UNSERIALIZABLE" });
    expect(error!.message).toContain('Step "lookup"');
    expect(error!.message).toContain("rows[0].total");
    expect(calls).toBe(1);
  });

  test('ids are Inngest\'s: sha1 of the id, then of id:n; a written "a:1" never shares a slot with a repeat of "a"', async () => {
    const run = await oneRun(
      async ({ step }) => [
        await step.run("a:1", () => "written"),
        await step.run("a", () => "first"),
        await step.run("a", () => "second"),
        await step.run("a", () => "third"),
      ],
      { store },
    );
    expect((await run.end()).output).toEqual(["written", "first", "second", "third"]);
    const keys = (await run.idem.runs.get(run.runId))!.timeline.map((entry) => entry.destinationKey);
    expect(new Set(keys).size).toBe(4);
  });
});

test("the memo is kept under sha1(id) and sha1(id:n)", async () => {
  const { MemoryStore } = await import("../store/memory/store.ts");
  const { ManualClock } = await import("../platform/manual-clock.ts");
  const store = new MemoryStore(new ManualClock());
  const run = await oneRun(
    async ({ step }) => {
      await step.run("a", () => 1);
      await step.run("a", () => 2);
    },
    { store },
  );
  await run.end();
  const memo = await store.reads.runMemo("default", run.runId);
  expect(memo!.steps.map((step) => step.stepId)).toEqual([sha1("a"), sha1("a:1")]);
});

test("a step that nobody awaits still runs and is recorded before the run ends, also when it fails", async () => {
  const run = await oneRun(
    async ({ step }) => {
      void step.run("unawaited", () => "done");
      void step.run("unawaited and failing", () => {
        throw new Error("nobody listens");
      });
      await step.run("awaited", () => "done");
      return "returned";
    },
    { fn: { retries: 0 } },
  );
  expect(await run.end()).toMatchObject({ state: "completed", output: "returned" });
  expect((await run.recorded()).sort()).toEqual(["awaited", "unawaited", "unawaited and failing"]);
});

test("arguments are handed to the callback, the context after them", async () => {
  const run = await oneRun(async ({ step }) =>
    step.run(
      "add",
      (a: number, b: number, { attempt, key }) => ({ sum: a + b, attempt, isKey: key.startsWith("idem_") }),
      1,
      2,
    ),
  );
  expect((await run.end()).output).toEqual({ sum: 3, attempt: 1, isKey: true });
});

test("a copy of the context has the key and the signal too", async () => {
  const run = await oneRun(async ({ step }) =>
    step.run("charge", (context) => {
      const copy = { ...context };
      const { key, signal, attempt } = copy;
      return { isKey: key === context.key && key.startsWith("idem_"), aborted: signal.aborted, attempt };
    }),
  );
  expect((await run.end()).output).toEqual({ isKey: true, aborted: false, attempt: 1 });
});

test("a callback may leave out its context: what is handed over are its arguments", async () => {
  const run = await oneRun(
    async ({ step, event }) => {
      const greeting: string = await step.run("greet", (name: string) => `hello ${name}`, event.data.name);
      return step.run("count", (text: string, times: number) => text.length * times, greeting, 2);
    },
    { event: { data: { name: "ann" } } },
  );
  expect((await run.end()).output).toBe(18);
});

test("a step's id may be an object with an id; anything else is refused by name", async () => {
  const run = await oneRun(async ({ step }) => step.run({ id: "named", name: "A name" }, () => "ok"));
  expect((await run.end()).output).toBe("ok");
  expect(await run.recorded()).toEqual(["named"]);
  for (const id of ["", null, 7, {}]) {
    const bad = await oneRun(async ({ step }) => step.run(id as any, () => "never"));
    expect(await bad.end()).toMatchObject({ state: "failed", error: { code: "STEP_INVALID" } });
  }
});

test("a callback that is no function is refused", async () => {
  const run = await oneRun(async ({ step }) => step.run("x", "nope" as any));
  expect(await run.end()).toMatchObject({ state: "failed", error: { code: "STEP_INVALID" } });
});

describe("bounds", () => {
  test("a step's value of more than 4 MiB fails the step once, and can be caught", async () => {
    let calls = 0;
    const run = await oneRun(async ({ step }) => {
      try {
        await step.run("big", () => {
          calls++;
          return "x".repeat(4 * 1024 * 1024);
        });
      } catch (error: any) {
        return { code: error.code, calls };
      }
    });
    expect((await run.end()).output).toEqual({ code: "STEP_TOO_LARGE", calls: 1 });
  });

  test("a run holds at most 32 MiB, also when its steps return at once", async () => {
    const run = await oneRun(async ({ step }) => {
      const settled = await Promise.allSettled(
        Array.from({ length: 9 }, (_, i) => step.run(`part ${i}`, () => "x".repeat(4 * 1024 * 1024 - 2))),
      );
      return settled.map((each) => (each.status === "rejected" ? each.reason.code : "kept"));
    });
    const { output } = await run.end();
    expect((output as string[]).filter((each) => each === "kept")).toHaveLength(8);
    expect((output as string[]).filter((each) => each === "RUN_TOO_LARGE")).toHaveLength(1);
  });

  test("a run has at most 1,000 steps", async () => {
    const run = await oneRun(async ({ step }) => {
      for (let i = 0; i < 1_001; i++) await step.run(`step ${i}`, () => i);
    });
    expect(await run.end()).toMatchObject({ state: "failed", error: { code: "RUN_TOO_MANY_STEPS" } });
    expect(await run.recorded()).toHaveLength(1_000);
  });

  test("a thousand parallel steps are allowed, also when one of them is tried again", async () => {
    let failures = 0;
    const run = await oneRun(async ({ step }) => {
      const all = await Promise.all(
        Array.from({ length: 1_000 }, (_, i) =>
          step.run(`step ${i}`, ({ attempt }) => {
            if (i === 500 && attempt === 1) {
              failures++;
              throw new Error("once");
            }
            return i;
          }),
        ),
      );
      return all.length;
    });
    expect(await run.end()).toMatchObject({ state: "completed", output: 1_000 });
    expect(failures).toBe(1);
  });

  test("what a function returns is bounded and must be JSON, like a step's value", async () => {
    const big = await oneRun(async () => "x".repeat(4 * 1024 * 1024));
    expect(await big.end()).toMatchObject({ state: "failed", error: { code: "STEP_TOO_LARGE" } });
    const odd = await oneRun(async () => ({ total: Number.NaN }));
    const { error } = await odd.end();
    expect(error).toMatchObject({ code: "VALUE_UNSERIALIZABLE" });
    expect(error!.message).toContain("total");
  });
});

test("a step's promise resolves only after its outcome is in the store", async () => {
  const run = await oneRun(async ({ step, runId }, { idem }) => {
    await step.run("a", () => 1);
    const stored = await idem.runs.get(runId);
    return stored!.timeline.map(({ name, state }) => [name, state]);
  });
  expect((await run.end()).output).toEqual([["a", "completed"]]);
});
