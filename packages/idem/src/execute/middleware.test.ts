import { expect, test } from "vitest";
import { oneRun } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import type { Middleware } from "./function-code.ts";

const noting = (name: string, notes: string[]): Middleware => ({
  name,
  transformInput: (input) => {
    notes.push(`${name} transformInput`);
    return input;
  },
  beforeRun: ({ function: fn, attempt }) => void notes.push(`${name} beforeRun ${fn} ${attempt}`),
  afterRun: (_, result) => void notes.push(`${name} afterRun ${result.ok ? result.value : "failed"}`),
  beforeStep: (_, step) => void notes.push(`${name} beforeStep ${step.id} ${step.attempt}`),
  afterStep: (_, step, result) =>
    void notes.push(`${name} afterStep ${step.id} ${result.ok ? result.value : "failed"}`),
});

test("hooks run around the run and each attempt of a step, the client's before the function's", async () => {
  const notes: string[] = [];
  const run = await oneRun(
    async ({ step }) => {
      await step.run("a", ({ attempt }) => {
        if (attempt === 1) throw new Error("again");
        return "value";
      });
      return "result";
    },
    { middleware: [noting("client", notes)], fn: { middleware: [noting("function", notes)] } },
  );
  await run.end();
  const enter = [
    "client beforeRun one 1",
    "function beforeRun one 1",
    "client transformInput",
    "function transformInput",
  ];
  expect(notes).toEqual([
    ...enter,
    "client beforeStep a 1",
    "function beforeStep a 1",
    "client afterStep a failed",
    "function afterStep a failed",
    ...enter,
    "client beforeStep a 2",
    "function beforeStep a 2",
    "client afterStep a value",
    "function afterStep a value",
    "client afterRun result",
    "function afterRun result",
  ]);
});

test("transformInput may add to what the handler receives", async () => {
  const run = await oneRun(async (context: any) => [context.db, context.event.data.n], {
    event: { data: { n: 1 } },
    middleware: [{ transformInput: async (input) => ({ ...input, db: "a database" }) }],
  });
  expect((await run.end()).output).toEqual(["a database", 1]);
});

test("onSend may change, add and remove events; what it leaves is stored", async () => {
  class Stamper implements Middleware {
    readonly stamp = "stamped";
    async onSend(events: readonly unknown[]) {
      return events
        .filter((event: any) => event.name !== "test/secret")
        .map((event: any) => ({ ...event, data: { ...event.data, by: this.stamp } }));
    }
  }
  const { idem } = testIdem({ middleware: [new Stamper()] });
  const { ids } = await idem.send([{ name: "test/secret" }, { name: "test/open", data: { n: 1 } }]);
  expect(ids).toHaveLength(1);
  expect(await idem.events.list()).toMatchObject([{ name: "test/open", data: { n: 1, by: "stamped" } }]);
});

test("an onSend that fails, or answers nonsense, fails the send and nothing is stored", async () => {
  const failing = testIdem({
    middleware: [
      {
        onSend: () => {
          throw new Error("no sending today");
        },
      },
    ],
  });
  await expect(failing.idem.send({ name: "a/b" })).rejects.toThrow("no sending today");
  expect(await failing.idem.events.list()).toEqual([]);
  const odd = testIdem({ middleware: [{ name: "odd", onSend: () => "nonsense" as any }] });
  await expect(odd.idem.send({ name: "a/b" })).rejects.toMatchObject({ code: "EVENT_INVALID" });
  expect(await odd.idem.events.list()).toEqual([]);
});

test("a hook that throws fails what it surrounds, which is then tried again", async () => {
  const failOnce = (hook: "beforeRun" | "transformInput" | "beforeStep" | "afterStep"): Middleware => {
    let failed = false;
    return {
      [hook]: (input: unknown) => {
        if (!failed) {
          failed = true;
          throw new Error(`${hook} failed`);
        }
        return input;
      },
    };
  };
  for (const hook of ["beforeRun", "transformInput", "beforeStep", "afterStep"] as const) {
    const run = await oneRun(async ({ step }) => step.run("a", ({ attempt }) => attempt), {
      middleware: [failOnce(hook)],
    });
    const { state } = await run.end();
    expect([hook, state]).toEqual([hook, "completed"]);
    const { timeline } = (await run.idem.runs.get(run.runId))!;
    const failed = timeline.flatMap((entry) => entry.attempts).filter((attempt) => attempt.error !== null);
    expect(failed.map((attempt) => attempt.error!.message)).toEqual([`${hook} failed`]);
  }
});

test("an afterRun that throws changes nothing and is reported", async () => {
  const errors: unknown[] = [];
  const run = await oneRun(async () => "fine", {
    logger: { debug() {}, info() {}, warn() {}, error: (...args) => errors.push(args.join(" ")) },
    middleware: [
      {
        name: "watcher",
        afterRun: () => {
          throw new Error("tripped");
        },
      },
    ],
  });
  expect(await run.end()).toMatchObject({ state: "completed", output: "fine" });
  expect(errors).toEqual(["middleware watcher afterRun failed Error: tripped"]);
});
