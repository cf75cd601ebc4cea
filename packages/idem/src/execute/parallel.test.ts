import { describe, expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held, oneRun, stores } from "../testing/one-run.suite.ts";

describe.each(stores)("parallel steps on %s", (store) => {
  test("Promise.all over every kind of step gives all results, each step once", async () => {
    const entered: string[] = [];
    const run = await oneRun(
      async ({ step }) =>
        Promise.all([
          step.run("work", () => entered.push("work")),
          step.sleep("nap", "1h"),
          step.waitForEvent("wait", { event: "test/answer", timeout: "1d" }),
          step.invoke("ask", { function: "child", data: { n: 20 } }),
          step.run("more", () => entered.push("more")),
        ]),
      {
        store,
        also: (idem) => {
          idem.createFunction({ id: "child", triggers: [] }, async ({ event }) => (event.data as any).n + 1);
        },
      },
    );
    await run.clock.advance("30m");
    await run.idem.send({ name: "test/answer", data: { yes: true } });
    const { output } = await run.end();
    expect((output as unknown[])[0]).toBe(1);
    expect((output as unknown[])[1]).toBeNull();
    expect((output as unknown[])[2]).toMatchObject({ name: "test/answer", data: { yes: true } });
    expect((output as unknown[])[3]).toBe(21);
    expect(entered.sort()).toEqual(["more", "work"]);
  });

  test.each([
    ["first", true],
    ["last", false],
  ])("a race whose winner stands %s has the same winner on replay, and the loser is recorded", async (_, fastFirst) => {
    const slow = held<string>();
    const winners: string[] = [];
    const run = await oneRun(
      async ({ step }) => {
        const runners = ["fast", "slow"].map(
          (name) => () => step.run(name, () => (name === "slow" ? slow.promise : name)),
        );
        if (!fastFirst) runners.reverse();
        const winner = await Promise.race(runners.map((begin) => begin()));
        winners.push(winner);
        const after = await step.run(`after ${winner}`, () => {
          slow.release("slow");
          return winner;
        });
        await step.sleep("nap", "1h");
        return after;
      },
      { store },
    );
    expect((await run.end()).output).toBe("fast");
    expect(winners).toEqual(["fast", "fast"]);
    expect((await run.recorded()).sort()).toEqual(["after fast", "fast", "nap", "slow"]);
  });

  test("allSettled sees failures and values side by side", async () => {
    const run = await oneRun(
      async ({ step }) => {
        const settled = await Promise.allSettled([
          step.run("fine", () => 1),
          step.run("broken", () => {
            throw new TypeError("broken");
          }),
          step.sleep("nap", "1m"),
        ]);
        return settled.map((each) => (each.status === "fulfilled" ? each.value : each.reason.name));
      },
      { store, fn: { retries: 0 } },
    );
    expect((await run.end()).output).toEqual([1, "TypeError", null]);
  });
});

test("a wait that ended in the store before a step did wins the race, though this process heard of the step first", async () => {
  const store = new MemoryStore(new ManualClock());
  const winners: string[] = [];
  const run = await oneRun(
    async ({ step }) => {
      const winner = await Promise.race([
        step.run("step", async () => {
          // As another process would: this one does not hear of it.
          await store.signal("default", "s", { kind: "value", json: "null" });
          return "step";
        }),
        step.waitForSignal("signal", { signal: "s", timeout: "1d" }).then(() => "signal"),
      ]);
      winners.push(winner);
      await step.sleepUntil("suspend", new Date(0));
      await step.run(`after ${winner}`, () => null);
    },
    { store },
  );
  await run.clock.tick(1);
  const memo = await store.reads.runMemo("default", run.runId);
  expect(memo!.steps.map(({ name }) => name)).toEqual(["signal", "step", "suspend", "after signal"]);
  expect(winners[0]).toBe("signal");
});

test("a failing sibling that is tried again holds up nobody", async () => {
  const order: string[] = [];
  const long = held();
  const run = await oneRun(async ({ step }) => {
    await Promise.all([
      step.run("flaky", ({ attempt }) => {
        order.push(`flaky ${attempt}`);
        if (attempt < 3) throw new Error("not yet");
      }),
      step.run("long", async () => {
        order.push("long begins");
        await long.promise;
        order.push("long ends");
      }),
      step.run("quick", () => order.push("quick")).then(() => step.run("next", () => order.push("next"))),
    ]);
  });
  // The flaky one is tried again at its times while the long one is still in its first attempt.
  await run.clock.tick("2m");
  expect(order).toEqual(["flaky 1", "long begins", "quick", "next", "flaky 2", "flaky 3"]);
  long.release();
  expect(await run.end()).toMatchObject({ state: "completed" });
  expect(order.at(-1)).toBe("long ends");
});

test("a sleep that is over while a sibling still runs goes on at its time", async () => {
  const long = held();
  const order: string[] = [];
  const run = await oneRun(async ({ step }) => {
    await Promise.all([
      step.run("long", () => long.promise),
      step.sleep("nap", "10s").then(() => step.run("after nap", () => order.push("after nap"))),
    ]);
  });
  await run.clock.tick("9s");
  expect(order).toEqual([]);
  await run.clock.tick("3s");
  expect(order).toEqual(["after nap"]);
  long.release();
  expect(await run.end()).toMatchObject({ state: "completed" });
});

test("an event wakes its wait while a sibling step runs long", async () => {
  const long = held();
  const order: string[] = [];
  const run = await oneRun(async ({ step }) => {
    await Promise.all([
      step.run("long", () => long.promise),
      step
        .waitForEvent("answer", { event: "test/answer", timeout: "1d" })
        .then((event) => step.run("answered", () => order.push(event!.data.text))),
    ]);
  });
  await run.clock.tick("1s");
  await run.idem.send({ name: "test/answer", data: { text: "hello" } });
  await run.clock.tick("1s");
  expect(order).toEqual(["hello"]);
  long.release();
  expect(await run.end()).toMatchObject({ state: "completed" });
});

test("two hundred parallel steps, nested to depth, each run once", async () => {
  let calls = 0;
  const run = await oneRun(async ({ step }) => {
    const tree = async (path: string, depth: number): Promise<number> => {
      const own = await step.run(path, () => {
        calls++;
        return 1;
      });
      if (depth === 0) return own;
      const parts = await Promise.all([tree(`${path}l`, depth - 1), tree(`${path}r`, depth - 1)]);
      return own + parts[0]! + parts[1]!;
    };
    const wide = await Promise.all(Array.from({ length: 200 }, (_, i) => step.run(`wide ${i}`, () => ++calls)));
    await step.sleep("nap", "1h");
    const deep = await tree("t", 5);
    await step.sleep("nap again", "1h");
    return [wide.length, deep];
  });
  expect((await run.end()).output).toEqual([200, 63]);
  expect(calls).toBe(263);
});

test("a chain of two hundred steps inside a branch keeps its order beside another branch", async () => {
  const run = await oneRun(async ({ step }) => {
    const chain = async (name: string) => {
      const values: number[] = [];
      for (let i = 0; i < 100; i++) values.push(await step.run(name, () => i));
      return values;
    };
    const [a, b] = await Promise.all([chain("a"), chain("b")]);
    return a.every((value, i) => value === i) && b.every((value, i) => value === i);
  });
  expect((await run.end()).output).toBe(true);
});
