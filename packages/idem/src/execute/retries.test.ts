import { describe, expect, test } from "vitest";
import { NonRetriableError, RetryAfterError, StepError } from "../model/user-errors.ts";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";

describe.each(stores)("retries on %s", (store) => {
  test("each step has its own attempts, at the published times plus at most 30 seconds", async () => {
    const times: number[] = [];
    const run = await oneRun(
      async ({ step }, { clock }) => {
        await step.run("flaky", ({ attempt }) => {
          times.push(clock.now());
          if (attempt < 5) throw new Error(`attempt ${attempt}`);
        });
        return step.run("second", ({ attempt }) => attempt);
      },
      { store },
    );
    expect(await run.end()).toMatchObject({ state: "completed", output: 1 });
    const delays = times.slice(1).map((at, i) => at - times[i]!);
    [15_000, 30_000, 60_000, 120_000].forEach((least, i) => {
      expect(delays[i]).toBeGreaterThanOrEqual(least);
      expect(delays[i]).toBeLessThan(least + 30_000);
    });
    const [flaky] = (await run.idem.runs.get(run.runId))!.timeline;
    expect(flaky!.attempts.map(({ attempt, error }) => [attempt, error?.message ?? null])).toEqual([
      [1, "attempt 1"],
      [2, "attempt 2"],
      [3, "attempt 3"],
      [4, "attempt 4"],
      [5, null],
    ]);
  });

  test("a step that is spent throws a StepError with name, message, stack and cause, which code may catch", async () => {
    class CardError extends Error {
      override name = "CardError";
    }
    const run = await oneRun(
      async ({ step }) => {
        try {
          await step.run("charge", () => {
            throw new CardError("declined", { cause: new Error("limit") });
          });
        } catch (error) {
          if (!(error instanceof StepError)) throw error;
          await step.sleep("nap", "1m");
          const { name, message, stepId } = error;
          return { name, message, stepId, stack: typeof error.stack, cause: (error.cause as Error).message };
        }
      },
      { store, fn: { retries: 1 } },
    );
    expect((await run.end()).output).toEqual({
      name: "CardError",
      message: "declined",
      stepId: "charge",
      stack: "string",
      cause: "limit",
    });
  });

  test("code between steps has attempts of its own, and they begin again after a step was recorded", async () => {
    const attempts: number[] = [];
    const budget = { before: 2, between: 2 };
    const run = await oneRun(
      async ({ step, attempt }) => {
        attempts.push(attempt);
        if (budget.before-- > 0) throw new Error("before");
        await step.run("a", () => 1);
        if (budget.between-- > 0) throw new Error("between");
        return "through";
      },
      { store, fn: { retries: 2 } },
    );
    expect(await run.end()).toMatchObject({ state: "completed", output: "through" });
    // The third entry records the step and fails after it: that is the first failure of the next stretch.
    expect(attempts).toEqual([1, 2, 3, 2, 3]);
  });

  test("onFailure receives the error and the original event, and runs once", async () => {
    const heard: unknown[] = [];
    const run = await oneRun(
      async ({ step }) => {
        await step.run("doomed", () => {
          throw new TypeError("no use");
        });
      },
      {
        store,
        event: { id: "order-7", data: { orderId: 7 } },
        fn: {
          retries: 0,
          onFailure: async ({ error, event, step }) => {
            await step.run("tell", () => heard.push([error.name, error.message, event.data.event]));
          },
        },
      },
    );
    expect(await run.end()).toMatchObject({ state: "failed", error: { name: "TypeError", message: "no use" } });
    await run.clock.advanceToEnd();
    expect(heard).toEqual([
      ["TypeError", "no use", expect.objectContaining({ id: "order-7", name: "test/go", data: { orderId: 7 } })],
    ]);
    const handlers = await run.idem.runs.list({ function: "one-failure" });
    expect(handlers.map(({ state }) => state)).toEqual(["completed"]);
  });
});

test("retries: 0 means one attempt", async () => {
  let calls = 0;
  const run = await oneRun(
    async ({ step }) => {
      await step.run("once", () => {
        calls++;
        throw new Error("no");
      });
    },
    { fn: { retries: 0 } },
  );
  expect(await run.end()).toMatchObject({ state: "failed", error: { message: "no" } });
  expect(calls).toBe(1);
});

test("NonRetriableError ends a step, and code between steps, at the first attempt", async () => {
  let calls = 0;
  const inStep = await oneRun(async ({ step }) => {
    await step.run("once", () => {
      calls++;
      throw new NonRetriableError("never");
    });
  });
  expect(await inStep.end()).toMatchObject({ state: "failed", error: { name: "NonRetriableError" } });
  const between = await oneRun(async () => {
    calls++;
    throw new NonRetriableError("never");
  });
  expect(await between.end()).toMatchObject({ state: "failed", error: { message: "never" } });
  expect(calls).toBe(2);
});

test("an uncaught StepError fails the run without another attempt of the code", async () => {
  let entries = 0;
  const run = await oneRun(
    async ({ step }) => {
      entries++;
      await step.run("once", () => {
        throw new NonRetriableError("never");
      });
    },
    { fn: { retries: 10 } },
  );
  expect(await run.end()).toMatchObject({ state: "failed" });
  expect(entries).toBe(1);
});

test("RetryAfterError waits as long as it says, in a step and between steps", async () => {
  const times: number[] = [];
  const run = await oneRun(async ({ step, attempt }, { clock }) => {
    await step.run("busy", ({ attempt: own }) => {
      times.push(clock.now());
      if (own === 1) throw new RetryAfterError("busy", "3h");
    });
    times.push(clock.now());
    if (attempt === 1) throw new RetryAfterError("busy too", 5_000);
  });
  const startedAt = run.clock.now();
  expect(await run.end()).toMatchObject({ state: "completed" });
  expect(times.map((at) => at - startedAt)).toEqual([0, 10_800_000, 10_800_000, 10_805_000]);
});

test("an event that arrives during the pause does not shorten it", async () => {
  const entered: number[] = [];
  const run = await oneRun(async ({ step }, { clock }) => {
    entered.push(clock.now());
    const wait = step.waitForEvent("answer", { event: "test/answer", timeout: "1d" });
    if (entered.length === 1) {
      // The wait is in the store before the code fails.
      await step.run("settle the wait", () => null);
      throw new RetryAfterError("later", "1h");
    }
    return (await wait)?.data.text;
  });
  await run.clock.advance("1m");
  await run.idem.send({ name: "test/answer", data: { text: "hello" } });
  await run.clock.advance("10m");
  expect(entered).toHaveLength(1);
  expect(await run.end()).toMatchObject({ state: "completed", output: "hello" });
  expect(entered[1]! - entered[0]!).toBe(3_600_000);
});

test("a backoff that throws does not stop the run", async () => {
  const run = await oneRun(
    async ({ step }) =>
      step.run("flaky", ({ attempt }) => {
        if (attempt === 1) throw new Error("once");
        return attempt;
      }),
    {
      fn: {
        backoff: () => {
          throw new Error("broken backoff");
        },
      },
    },
  );
  expect(await run.end()).toMatchObject({ state: "completed", output: 2 });
});

describe("whatever is thrown, the run ends with an error a person can read", () => {
  const proxy = (() => {
    const revocable = Proxy.revocable({}, {});
    revocable.revoke();
    return revocable.proxy;
  })();
  const hostile = {
    get message(): string {
      throw new Error("getter");
    },
  };
  test.each([
    ["a string", "plain words", "plain words"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a number", 7, "7"],
    ["an object", { reason: "odd" }, '{"reason":"odd"}'],
    ["an object with throwing getters", hostile, "a value was thrown that cannot be described"],
    ["a revoked proxy", proxy, "a value was thrown that cannot be described"],
  ])("%s", async (_, thrown, message) => {
    const inStep = await oneRun(
      async ({ step }) => {
        await step.run("throws", () => {
          throw thrown;
        });
      },
      { fn: { retries: 1 } },
    );
    expect(await inStep.end()).toMatchObject({ state: "failed", error: { message } });
    const between = await oneRun(
      async () => {
        throw thrown;
      },
      { fn: { retries: 1 } },
    );
    expect(await between.end()).toMatchObject({ state: "failed", error: { message } });
  });
});

test("the code is counted from attempt 1 and told how many there are", async () => {
  const seen: unknown[] = [];
  const run = await oneRun(
    async ({ attempt, maxAttempts }) => {
      seen.push([attempt, maxAttempts]);
      throw new Error("again");
    },
    { fn: { retries: 2 } },
  );
  expect(await run.end()).toMatchObject({ state: "failed" });
  expect(seen).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
});

test("news that arrives together with a failure does not leave the run stuck", async () => {
  const store = new MemoryStore(new ManualClock());
  const advance = store.advance.bind(store);
  let sent = false;
  store.advance = async (input) => {
    if (!sent && input.next.kind === "suspend" && input.attempts.length > 0) {
      sent = true;
      await store.signal("default", "s", { kind: "value", json: '"news"' });
    }
    return advance(input);
  };
  let entries = 0;
  const run = await oneRun(
    async ({ step }) => {
      const wait = step.waitForSignal("w", { signal: "s", timeout: "1d" });
      await step.run("writes the wait down", () => 1);
      if (++entries === 1) throw new Error("between");
      return wait;
    },
    { store, fn: { backoff: () => 0 } },
  );
  await run.clock.tick("2s");
  expect(sent).toBe(true);
  expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "completed", output: "news" });
});
