import { expect, test } from "vitest";
import type { HandlerContext } from "../sdk/function-types.ts";
import { servedWorld } from "../serve/served-world.suite.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import type { Logger } from "./function-code.ts";
import { Unheard } from "./step-promise.ts";

type Step = HandlerContext<any>["step"];

const fail = () => {
  throw new Error("declined");
};

async function told(handler: (step: Step) => unknown, { retries = 0, store = "memory:" } = {}) {
  const lines: string[] = [];
  const add = (...args: unknown[]) => void lines.push(args.map(String).join(" "));
  const logger: Logger = { debug: add, info: add, warn: add, error: add };
  const run = await oneRun(({ step }) => handler(step), { logger, store, fn: { retries } });
  const end = await run.end();
  return { end, runId: run.runId, unawaited: lines.filter((line) => line.includes("nobody awaited it")) };
}

test.each(stores)(
  "a step nobody awaited that failed is told once, with its run, when the run has ended (%s)",
  async (store) => {
    const { end, runId, unawaited } = await told(
      async (step) => {
        void step.run("charge", fail);
        await step.sleep("a day", "1d");
        await step.run("mail", () => "sent");
        return "done";
      },
      { store },
    );
    expect(end).toMatchObject({ state: "completed", output: "done" });
    expect(unawaited).toEqual([expect.stringContaining('step "charge" failed, and nobody awaited it: declined')]);
    expect(unawaited[0]).toContain(runId);
  },
);

test("a step nobody awaited that would be tried again is told when its run ends before", async () => {
  const { end, unawaited } = await told(
    async (step) => {
      void step.run("charge", fail);
      await step.run("mail", () => "sent");
    },
    { retries: 3 },
  );
  expect(end.state).toBe("completed");
  expect(unawaited).toEqual([expect.stringContaining('step "charge" failed and was to be tried again')]);
});

test("a fetch nobody awaited that failed is told like any step", async () => {
  const { unawaited } = await told(async (step) => {
    void step.fetch("ask", "http://localhost/");
    await step.run("mail", () => "sent");
  });
  expect(unawaited).toHaveLength(1);
});

test.each<[string, (step: Step) => unknown]>([
  ["awaited and caught", (step) => step.run("charge", fail).catch(() => null)],
  [
    "awaited later, behind a sleep",
    async (step) => {
      const charge = step.run("charge", fail);
      await step.sleep("a day", "1d");
      await charge.catch(() => null);
    },
  ],
  ["raced", (step) => Promise.race([step.run("charge", fail).catch(() => null), step.sleep("a day", "1d")])],
  ["settled with others", (step) => Promise.allSettled([step.run("charge", fail)]).then(() => null)],
  ["awaited beside others", (step) => Promise.all([step.run("charge", fail)])],
  ["asked for with others", (step) => Promise.any([step.run("charge", fail), 1])],
  ["handed to another promise", (step) => new Promise((resolve) => resolve(step.run("charge", fail)))],
  ["made a promise of", (step) => Promise.resolve(step.run("charge", fail))],
  ["looked at in the end", (step) => step.run("charge", fail).finally(() => {})],
  ["awaited with the word", async (step) => await step.run("charge", fail)],
  ["awaited and thrown", (step) => step.run("charge", fail)],
  ["returned", async (step) => step.run("charge", fail)],
  ["not awaited, and done", async (step) => void step.run("charge", () => 1)],
])("a step that is %s is not told", async (_, handler) => {
  expect((await told(handler)).unawaited).toEqual([]);
});

test("what a step gives back is a promise, and what comes of it too", async () => {
  const { end } = await told(async (step) => {
    const charge = step.run("charge", () => 1);
    const then = charge.then((n) => n + 1);
    return [
      charge instanceof Promise,
      charge.constructor === Promise,
      then.constructor === Promise,
      await charge,
      await then,
      await charge.finally(() => 9),
    ];
  });
  expect(end.output).toEqual([true, true, true, 1, 2, 1]);
});

test("a step nobody awaited that failed is told where a server calls the function", async () => {
  const world = servedWorld();
  world.idem.createFunction({ id: "one" }, { event: "test/go" }, async ({ step }) => {
    void step.run("charge", fail);
    await step.run("mail", () => "sent");
  });
  const failed = { error: { name: "Error", message: "declined" } };
  await world.call("one", { steps: { charge: failed, mail: { data: "sent" } } });
  expect(world.logged.flat().join()).toContain('step "charge" failed, and nobody awaited it: declined');
});

// Vitest fails a run in which a rejection is not handled, as Node ends a process.
test("what is thrown while a step is asked for is its own refusal, and ends nothing where nobody awaits it", async () => {
  const thrown = new Error("thrown at once");
  const answer = new Unheard().open({ stepId: "a", name: "a", repeat: 0 });
  answer.reject(thrown);
  await new Promise((resolve) => setImmediate(resolve));
  await expect(answer.promise).rejects.toBe(thrown);
});
