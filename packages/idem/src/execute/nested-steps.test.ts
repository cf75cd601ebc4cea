// The async context decides what is inside the body of a step, so the table below has the calls that look nested and are not, too.
//
// | the step is started                                          | refused | what becomes of the step around it             |
// | ------------------------------------------------------------ | ------- | ---------------------------------------------- |
// | in the body of step.run, transaction, effect, awaited or not | yes     | fails for good, also if it caught the refusal  |
// | by a helper, in Promise.all, in a callback made outside      | yes     | the same                                       |
// | by a timer the body began, while the body runs               | yes     | the same                                       |
// | by a timer the body began, after the body ended              | yes     | its outcome stands; the refusal is logged      |
// | in a hook of middleware around the step                      | yes     | fails for good                                 |
// | outside, while a body runs                                   | no      |                                                |
// | in the `.then` of a step's promise                           | no      |                                                |
// | in another run, which an event sent by the body started      | no      |                                                |
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { HandlerContext } from "../sdk/function-types.ts";
import { servedWorld } from "../serve/served-world.suite.ts";
import { held, oneRun, stores } from "../testing/one-run.suite.ts";
import { turns } from "../testing/turns.suite.ts";
import { sqliteAdapter } from "../toolkit/sql/better-sqlite3.ts";
import type { Logger } from "./function-code.ts";

type Context = HandlerContext<any>;

const logTo = (lines: string[]): Logger => {
  const add = (...args: unknown[]) => void lines.push(args.map(String).join(" "));
  return { debug: add, info: add, warn: add, error: add };
};

/** Runs a step named "outer" with the body, and says what became of the run and what was done inside. */
async function outer(body: (step: Context["step"], charge: () => string) => unknown, store = "memory:") {
  const charged: string[] = [];
  const charge = () => {
    charged.push("charged");
    return "charged";
  };
  const run = await oneRun(({ step }) => step.run("outer", () => body(step, charge)), {
    store,
    fn: { retries: 3 },
  });
  return { ...run, charged };
}

test.each(stores)(
  "a step inside a step is refused, nothing of it runs, and the step around it fails for good (%s)",
  async (store) => {
    const { end, charged, recorded } = await outer((step, charge) => step.run("inner", charge), store);
    expect(await end()).toMatchObject({ state: "failed", error: { code: "STEP_NESTED" } });
    expect(charged).toEqual([]);
    expect(await recorded()).toEqual(["outer"]);
  },
);

test("the refusal names both steps and says what to do", async () => {
  const { end } = await outer((step, charge) => step.run("inner", charge));
  const { error } = await end();
  expect(error!.message).toContain('Step "inner" was started inside the body of step "outer"');
  expect(error!.message).toMatch(/behind|after/);
});

test.each<[string, (step: Context["step"], charge: () => string) => unknown]>([
  ["in a helper function", (step, charge) => helper(step, charge)],
  ["in a Promise.all", (step, charge) => Promise.all([1, 2].map((n) => step.run(`inner ${n}`, charge)))],
  ["behind something that was awaited", (step, charge) => turns(1).then(() => step.run("inner", charge))],
  ["and not awaited", (step, charge) => [step.run("inner", charge)].length],
  ["and caught", async (step, charge) => step.run("inner", charge).catch(() => "caught")],
  ["as a sleep", (step) => step.sleep("inner", "1h")],
  ["as a wait", (step) => step.waitForEvent("inner", { event: "x", timeout: "1h" })],
  ["as a send", (step) => step.sendEvent("inner", { name: "x" })],
  ["as a fetch", (step) => step.fetch("inner", "http://localhost/")],
  [
    "by a timer, while the body runs",
    (step, charge) =>
      new Promise((resolve) => setTimeout(() => resolve(step.run("inner", charge).catch(() => "caught")), 0)),
  ],
])("a step started inside a body is refused: %s", async (_, body) => {
  const { end, charged } = await outer(body);
  expect(await end()).toMatchObject({ state: "failed", error: { code: "STEP_NESTED" } });
  expect(charged).toEqual([]);
});

async function helper(step: Context["step"], charge: () => string): Promise<unknown> {
  await Promise.resolve();
  return step.run("inner", charge);
}

test("a callback made outside and called inside a body is inside it", async () => {
  const charged: string[] = [];
  const { end } = await oneRun(({ step }) => {
    const charge = () => step.run("inner", () => charged.push("charged"));
    return step.run("outer", () => charge());
  });
  expect(await end()).toMatchObject({ state: "failed", error: { code: "STEP_NESTED" } });
  expect(charged).toEqual([]);
});

test("a step inside an effect is refused", async () => {
  const { end } = await oneRun(({ step }) =>
    step.effect("outer", { destination: "stripe", entity: "order-7" }, () => step.run("inner", () => ({ id: "ch_1" }))),
  );
  expect(await end()).toMatchObject({ state: "failed", error: { code: "STEP_NESTED" } });
});

test("a step inside a transaction is refused, and nothing of the transaction is kept", async () => {
  const db = new Database(":memory:");
  db.exec("create table idem_steps (key text primary key, run_id text, step text, value text)");
  db.exec("create table charges (id integer)");
  const adapter = sqliteAdapter(db);
  const { end } = await oneRun(({ step }) =>
    step.transaction("outer", adapter, (tx) => {
      tx.exec("insert into charges values (1)");
      void step.run("inner", () => 1);
      return "done";
    }),
  );
  expect(await end()).toMatchObject({ state: "failed", error: { code: "STEP_NESTED" } });
  expect(db.prepare("select count(*) from charges").pluck().get()).toBe(0);
});

test("a step started by a hook around a step is refused", async () => {
  let step: Context["step"] | undefined;
  const { end } = await oneRun(
    (context) => {
      step = context.step;
      return step.run("outer", () => "done");
    },
    { fn: { middleware: [{ afterStep: async () => void (await step!.run("inner", () => 1)) }] } },
  );
  expect(await end()).toMatchObject({ state: "failed", error: { code: "STEP_NESTED" } });
});

test("a step started by a body that has ended is refused and told; what the body returned stands", async () => {
  const lines: string[] = [];
  const charged: string[] = [];
  const goes = held();
  const refused = held<unknown>();
  const { end } = await oneRun(
    async ({ step, runId }) => {
      const value = await step.run("outer", () => {
        void goes.promise.then(() => step.run("inner", () => charged.push("charged"))).catch(refused.release);
        return runId;
      });
      goes.release();
      await refused.promise;
      return value;
    },
    { logger: logTo(lines) },
  );
  const ended = await end();
  expect(ended).toMatchObject({ state: "completed" });
  expect(await refused.promise).toMatchObject({ code: "STEP_NESTED" });
  expect(charged).toEqual([]);
  expect(lines.filter((line) => line.includes('"inner"') && line.includes('"outer"'))).toHaveLength(1);
});

test("a step started beside a body, while it runs, is not inside it", async () => {
  const goes = held();
  const { end } = await oneRun(async ({ step }) => {
    const first = step.run("first", () => goes.promise.then(() => 1));
    const second = await step.run("second", () => 2);
    const third = await step.run("third", () => {
      goes.release();
      return 3;
    });
    return [await first, second, third];
  });
  expect(await end()).toMatchObject({ state: "completed", output: [1, 2, 3] });
});

test("a step started when another one ended, by then or by await, is not inside it", async () => {
  const { end } = await oneRun(async ({ step }) => {
    const later = step
      .run("first", () => 1)
      .then((one) => step.run("second", () => one + 1))
      .then((two) => step.run("third", () => two + 1));
    const [a, b] = await Promise.all([later, step.run("beside", () => 9).finally(() => step.sleep("rest", "1h"))]);
    return [a, b];
  });
  expect(await end()).toMatchObject({ state: "completed", output: [3, 9] });
});

test("a step of a run that an event sent in a body started is not inside that body", async () => {
  const { idem, clock, end } = await oneRun(
    ({ step }, { idem }) =>
      step.run("outer", async () => (await idem.send({ name: "test/other" })).decisions[0]!.runId),
    {
      also: (idem) =>
        idem.createFunction({ id: "other" }, { event: "test/other" }, ({ step }) => step.run("own", () => 7)),
    },
  );
  const { output } = await end();
  await clock.advanceToEnd();
  expect(await idem.runs.wait(output as string)).toMatchObject({ state: "completed", output: 7 });
});

test("a body may send events and read of the engine", async () => {
  const { end } = await oneRun(({ step, runId }, { idem }) =>
    step.run("outer", async () => {
      await idem.send({ name: "test/nobody" });
      return (await idem.runs.get(runId))?.id === runId;
    }),
  );
  expect(await end()).toMatchObject({ state: "completed", output: true });
});

test("a step inside a step is refused where a server calls the function", async () => {
  const charged: string[] = [];
  const world = servedWorld();
  world.idem.createFunction({ id: "one" }, { event: "test/go" }, ({ step }) =>
    step.run("outer", () => step.run("inner", () => charged.push("charged"))),
  );
  const { status, text } = await world.call("one");
  expect({ status, text }).toMatchObject({ text: expect.stringContaining("STEP_NESTED") });
  expect(charged).toEqual([]);
});
