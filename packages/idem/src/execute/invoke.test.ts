import { describe, expect, test } from "vitest";
import { redecideEvent } from "../engine/redecide-events.ts";
import { NonRetriableError } from "../model/user-errors.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { engineOf } from "../testing/one-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("invoke on %s", (store) => {
  test("runs another function by object, by id and by full name, and gives what it returns", async () => {
    const { idem } = testIdem({ store });
    const child = idem.createFunction({ id: "child", triggers: [] }, async ({ event, step }) => {
      await step.run("work", () => null);
      return { doubled: (event.data as any).n * 2 };
    });
    idem.createFunction({ id: "parent" }, { event: "test/go" }, async ({ step }) => [
      await step.invoke("by object", { function: child, data: { n: 1 } }),
      await step.invoke("by id", { function: "child", data: { n: 2 } }),
      await step.invoke("by name", { function: "test-child", data: { n: 3 } }),
    ]);
    await idem.start();
    const { runId } = (await idem.send({ name: "test/go" })).decisions[0]!;
    expect((await idem.runs.wait(runId!)).output).toEqual([{ doubled: 2 }, { doubled: 4 }, { doubled: 6 }]);
    expect(await idem.runs.list({ function: "child" })).toHaveLength(3);
  });

  test("a failed child throws what it failed with, and can be caught", async () => {
    const run = await oneRun(
      async ({ step }) => {
        try {
          await step.invoke("ask", { function: "child" });
        } catch (error: any) {
          return [error.name, error.message];
        }
      },
      {
        store,
        also: (idem) => {
          idem.createFunction({ id: "child", triggers: [] }, async () => {
            throw new NonRetriableError("child says no");
          });
        },
      },
    );
    expect((await run.end()).output).toEqual(["NonRetriableError", "child says no"]);
  });

  test("at its timeout it throws, and the child goes on", async () => {
    const run = await oneRun(async ({ step }) => step.invoke("ask", { function: "child", timeout: "1h" }), {
      store,
      also: (idem) => {
        idem.createFunction({ id: "child", triggers: [] }, async ({ step }) => {
          await step.sleep("nap", "2h");
          return "late";
        });
      },
    });
    expect(await run.end()).toMatchObject({ state: "failed", error: { code: "INVOKE_TIMED_OUT" } });
    await run.clock.advanceToEnd();
    expect(await run.idem.runs.list({ function: "child" })).toMatchObject([{ state: "completed", output: "late" }]);
  });

  test("a child whose key is taken answers with the run that has it, open or ended", async () => {
    const run = await oneRun(
      async ({ step }) => {
        const both = await Promise.all([
          step.invoke("first", { function: "child", data: { key: "k" } }),
          step.invoke("second, while the first is open", { function: "child", data: { key: "k" } }),
        ]);
        const third = await step.invoke("third, after it ended", { function: "child", data: { key: "k" } });
        return [...both, third];
      },
      {
        store,
        also: (idem) => {
          let calls = 0;
          idem.createFunction({ id: "child", triggers: [], idempotency: "event.data.key" }, async ({ step }) => {
            await step.sleep("nap", "1h");
            return step.run("work", () => ++calls);
          });
        },
      },
    );
    expect((await run.end()).output).toEqual([1, 1, 1]);
    expect(await run.idem.runs.list({ function: "child" })).toHaveLength(1);
  });

  test("a child that was failed under its key answers with that failure", async () => {
    const run = await oneRun(
      async ({ step }) => {
        const ask = (id: string) => step.invoke(id, { function: "child", data: { key: "k" } });
        return (await Promise.allSettled([await ask("first").catch(() => null), ask("second")])).map((each) =>
          each.status === "rejected" ? each.reason.message : each.value,
        );
      },
      {
        store,
        also: (idem) => {
          idem.createFunction({ id: "child", triggers: [], retries: 0, idempotency: "event.data.key" }, async () => {
            throw new Error("once and for all");
          });
        },
      },
    );
    expect((await run.end()).output).toEqual([null, "once and for all"]);
  });

  test("a cancelled child throws in the parent", async () => {
    const run = await oneRun(async ({ step }) => step.invoke("ask", { function: "child" }), {
      store,
      also: (idem) => {
        idem.createFunction({ id: "child", triggers: [] }, async ({ step }) => step.sleep("nap", "1d"));
      },
    });
    await run.idem.idle();
    const [child] = await run.idem.runs.list({ function: "child" });
    await run.idem.runs.cancel(child!.id, { reason: "not needed" });
    expect(await run.end()).toMatchObject({
      state: "failed",
      error: { name: "CancelledError", message: "not needed" },
    });
  });

  test("a rerun of the parent invokes again, and the child writes under the same destination keys", async () => {
    const keys: string[] = [];
    const run = await oneRun(async ({ step }) => step.invoke("ask", { function: "child" }), {
      store,
      also: (idem) => {
        idem.createFunction({ id: "child", triggers: [] }, async ({ step }) =>
          step.run("write", ({ key }) => keys.push(key)),
        );
      },
    });
    expect((await run.end()).output).toBe(1);
    const { runId } = await run.idem.runs.rerun(run.runId);
    expect((await run.idem.runs.wait(runId)).output).toBe(2);
    expect(keys[0]).toBe(keys[1]);
  });
});

test("an unknown function throws FUNCTION_UNKNOWN, which can be caught", async () => {
  const run = await oneRun(async ({ step }) => {
    const error = await step.invoke("ask", { function: "nobody" }).catch((caught) => caught);
    return (error as { code: string }).code;
  });
  expect((await run.end()).output).toBe("FUNCTION_UNKNOWN");
});

test("a function registered by another process meanwhile is not unknown", async () => {
  const run = await oneRun(
    async ({ step }) => {
      await step.sleep("nap", "1h");
      return step.invoke("ask", { function: "late-child" });
    },
    { store: undefined as any },
  );
  await run.idem.idle();
  const other = run.client({ id: "late" });
  other.createFunction({ id: "child", triggers: [] }, async () => "here");
  await other.start();
  await run.clock.advance("1h");
  // The two processes hear of each other's work by looking.
  await run.clock.tick("5s");
  expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: "here" });
});

describe.each(stores)("a child that is held for its missing key, on %s", (store) => {
  async function parentOfHeld() {
    const run = await oneRun(async ({ step }) => step.invoke("ask", { function: "child", data: { n: 1 } }), {
      store,
      also: (idem) => {
        idem.createFunction(
          { id: "child", triggers: [], idempotency: { key: "event.data.key", onMissing: "reject" } },
          async ({ event }) => event.data.n,
        );
      },
    });
    await run.idem.idle();
    const [held] = (await run.idem.events.list()).filter(({ name }) => name === "inngest/function.invoked");
    const engine = await engineOf(run.idem);
    const decide = (verdict: "release" | "drop") =>
      redecideEvent(engine, held!.internalId, "test-child", { verdict, reason: "looked into it" });
    return { run, decide };
  }

  test("is waited for, and answers once a person has released it", async () => {
    const { run, decide } = await parentOfHeld();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting" });
    expect(await decide("release")).toMatchObject({ kind: "started" });
    await run.idem.idle();
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: 1 });
  });

  test("that a person drops is thrown, with the reason", async () => {
    const { run, decide } = await parentOfHeld();
    expect(await decide("drop")).toMatchObject({ kind: "dropped" });
    await run.idem.idle();
    const { state, error } = await run.idem.runs.wait(run.runId);
    expect(state).toBe("failed");
    expect(error!.message).toContain("looked into it");
  });
});

test("filters of a child's triggers do not stop an invoke", async () => {
  const run = await oneRun(async ({ step }) => step.invoke("ask", { function: "child" }), {
    also: (idem) => {
      idem.createFunction({ id: "child" }, { event: "child/go", if: "event.data.never == true" }, async () => "ran");
    },
  });
  expect((await run.end()).output).toBe("ran");
});

test("data that cannot be carried fails the step by name and is not tried again", async () => {
  let entries = 0;
  for (const data of [{ big: 1n }, "text", [1], { self: Number.NaN }, { huge: "x".repeat(600_000) }]) {
    const run = await oneRun(
      async ({ step }) => {
        entries++;
        await step.invoke("ask", { function: "child", data });
      },
      {
        also: (idem) => {
          idem.createFunction({ id: "child", triggers: [] }, async () => null);
        },
      },
    );
    const { state, error } = await run.end();
    expect(state).toBe("failed");
    expect(["VALUE_UNSERIALIZABLE", "EVENT_INVALID", "EVENT_TOO_LARGE"]).toContain(error!.code);
    expect(error!.message).toContain("child");
    expect(await run.idem.runs.list({ function: "child" })).toEqual([]);
  }
  expect(entries).toBe(5);
});

test("invoke without a function is refused", async () => {
  for (const options of [undefined, {}, { function: "" }, { function: {} }]) {
    const run = await oneRun(async ({ step }) => step.invoke("ask", options as any));
    expect(await run.end()).toMatchObject({ state: "failed", error: { code: "STEP_INVALID" } });
  }
});
