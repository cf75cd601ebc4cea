import { describe, expect, test } from "vitest";
import type { Logger } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import type { Tidings } from "../model/tidings.ts";
import type { Store } from "../store/store.ts";
import { held, oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

type Line = { readonly level: keyof Logger; readonly args: readonly unknown[] };

/** A logger that remembers, in the looks of one that people use. */
function remember(looks: Record<string, unknown> = {}) {
  const lines: Line[] = [];
  const at =
    (level: keyof Logger) =>
    (...args: unknown[]) =>
      void lines.push({ level, args });
  const logger: Logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), ...looks };
  return { lines, logger };
}

const like = {
  pino: { child: () => remember().logger, bindings: () => ({}), level: "info" },
  bunyan: { child: () => remember().logger, addStream() {}, fields: { name: "shop" } },
  winston: { child: () => remember().logger, transports: [], configure() {}, log() {} },
};

const typo = () => {
  (undefined as any).charge();
};

describe.each(stores)("on %s", (store) => {
  test("each failed attempt is told once, with its function, run, step, attempt, next try and stack, and the failed run as an error", async () => {
    const { lines, logger } = remember(like.pino);
    const run = await oneRun(
      async ({ step }) => {
        await step.run("before", () => 1);
        await step.sleep("nap", "1h");
        await step.run("charge", typo);
      },
      { store, logger, fn: { retries: 2 } },
    );
    expect((await run.end()).state).toBe("failed");
    const { runId } = run;
    const of = { env: "default", function: "one", runId };
    const err = expect.objectContaining({ name: "TypeError", stack: expect.stringContaining("telling.test.ts") });
    const attempt = { kind: "attempt.failed", ...of, step: "charge", maxAttempts: 3, err };
    expect(lines.map(({ level, args }) => [level, args[0]])).toEqual([
      ["warn", expect.objectContaining({ ...attempt, attempt: 1, retryAt: expect.stringMatching(/^\d{4}-/) })],
      ["warn", expect.objectContaining({ ...attempt, attempt: 2, retryAt: expect.stringMatching(/^\d{4}-/) })],
      ["warn", expect.objectContaining({ ...attempt, attempt: 3, retryAt: null })],
      ["error", expect.objectContaining({ kind: "run.failed", ...of, err })],
    ]);
    expect(lines[0]!.args[1]).toMatch(
      /^attempt 1 of 3 of step "charge" failed in run \w+ of "one": TypeError: .* \(next try in \d+ s, at \d{4}-.*\)$/,
    );
    expect(lines[3]!.args[1]).toMatch(/^run \w+ of "one" failed: TypeError: /);
  });

  test("code that fails between steps is told for each attempt, and the last one as the run's failure", async () => {
    const { lines, logger } = remember();
    const heard: Tidings[] = [];
    const run = await oneRun(
      () => {
        throw new Error("not today");
      },
      { store, logger, fn: { retries: 1 }, also: (idem) => idem.on("attempt.failed", (each) => heard.push(each)) },
    );
    await run.end();
    expect(lines.map(({ level }) => level)).toEqual(["warn", "error"]);
    expect(heard).toMatchObject([
      { step: null, attempt: 1, maxAttempts: 2, retryAt: expect.any(Number) },
      { step: null, attempt: 2, maxAttempts: 2, retryAt: null },
    ]);
  });

  test("a failing onFailure is an error that names both functions and both runs", async () => {
    const { lines, logger } = remember();
    const run = await oneRun(
      () => {
        throw new Error("first");
      },
      {
        store,
        logger,
        fn: {
          retries: 0,
          onFailure: () => {
            throw new Error("and again");
          },
        },
      },
    );
    await run.end();
    const [message, fields] = lines.findLast(({ level }) => level === "error")!.args;
    expect(message).toMatch(
      new RegExp(
        `^run \\w+ of "one-failure", started for the end of run ${run.runId} of "one", failed itself: Error: and`,
      ),
    );
    expect(fields).toMatchObject({ handles: { function: "one", runId: run.runId } });
  });

  test("programs hear of completed, failed and cancelled runs, each once, until they stop listening", async () => {
    const { idem, clock } = testIdem({ store });
    const heard: string[] = [];
    const kinds = ["run.completed", "run.failed", "run.cancelled"] as const;
    const stops = kinds.map((kind) => idem.on(kind, (each) => heard.push(`${each.kind} ${each.function}`)));
    idem.createFunction({ id: "well" }, { event: "go" }, ({ step }) => step.sleep("nap", "1h"));
    idem.createFunction({ id: "ill", retries: 0 }, { event: "go" }, () => {
      throw new Error("no");
    });
    idem.createFunction({ id: "unwanted" }, { event: "go" }, ({ step }) => step.sleep("nap", "1d"));
    idem.createFunction({ id: "late", timeouts: { finish: "1m" } }, { event: "go" }, ({ step }) =>
      step.sleep("nap", "1d"),
    );
    idem.createFunction({ id: "replaced", singleton: { mode: "cancel" } }, { event: "only" }, ({ step }) =>
      step.sleep("nap", "10s"),
    );
    await idem.start();
    const { decisions } = await idem.send({ name: "go", data: {} });
    await idem.idle();
    await idem.runs.cancel(decisions.find((each) => each.function === "unwanted")!.runId!);
    await idem.send({ name: "only", data: {} });
    await idem.send({ name: "only", data: {} });
    await clock.advance("2h");
    expect(heard.sort()).toEqual([
      "run.cancelled late",
      "run.cancelled replaced",
      "run.cancelled unwanted",
      "run.completed replaced",
      "run.completed well",
      "run.failed ill",
    ]);
    for (const stop of stops) stop();
    await idem.send({ name: "go", data: {} });
    await clock.advance("2h");
    expect(heard).toHaveLength(6);
    await idem.stop();
  });
});

test.each([
  ["pino", "fields first"],
  ["bunyan", "fields first"],
  ["winston", "the message first"],
] as const)("a logger like %s is called with %s", async (name, order) => {
  const { lines, logger } = remember(like[name]);
  const run = await oneRun(({ step }) => step.run("charge", typo), { logger, fn: { retries: 0 } });
  await run.end();
  const [args] = lines.map((line) => line.args);
  const [fields, message] = order === "fields first" ? args! : args!.toReversed();
  expect(message).toMatch(/^attempt 1 of 1 of step "charge" failed/);
  expect(fields).toMatchObject({ kind: "attempt.failed", step: "charge", err: { name: "TypeError" } });
  // Also where a logger writes plain JSON.
  expect(JSON.parse(JSON.stringify(fields)).err).toMatchObject({ name: "TypeError", stack: expect.any(String) });
});

test("a logger that is not recognised gets the message first, or what its owner says", async () => {
  const unknown = remember();
  await (await oneRun(typo, { logger: unknown.logger, fn: { retries: 0 } })).end();
  expect(unknown.lines[0]!.args[0]).toMatch(/^run \w+ of "one" failed/);
  const said = remember();
  await (await oneRun(typo, { logger: said.logger, logStyle: "fields-first", fn: { retries: 0 } })).end();
  expect(said.lines[0]!.args[1]).toMatch(/^run \w+ of "one" failed/);
});

test("a console gets one readable line, the frames of the stack beneath it, and at most 20 such in a second", async () => {
  const { lines, logger } = remember();
  const { idem, clock } = testIdem({ logger, logStyle: "lines" });
  idem.createFunction({ id: "ill", retries: 0 }, { event: "go" }, () => {
    throw new Error("no", { cause: new Error("the other system") });
  });
  await idem.start();
  await idem.send(Array.from({ length: 30 }, () => ({ name: "go", data: {} })));
  await clock.advance("2s");
  await idem.stop();
  const [first, ...frames] = String(lines[0]!.args[0]).split("\n");
  expect(first).toMatch(/^idem: run \w+ of "ill" failed: Error: no$/);
  expect(frames[0]).toMatch(/^ {4}at .*telling\.test\.ts/);
  expect(frames.some((line) => line === "  caused by Error: the other system")).toBe(true);
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)!.args).toEqual(["idem: 10 more warnings and errors were not written within a second"]);
});

test("a logger or a listener that throws changes nothing for the run, and the listener's error is logged", async () => {
  const { lines, logger } = remember();
  const thrower = {
    ...logger,
    warn: () => {
      throw new Error("the disk is full");
    },
  };
  const run = await oneRun(
    ({ step }) =>
      step.run("charge", ({ attempt }) => {
        if (attempt < 3) typo();
      }),
    {
      logger: thrower,
      also: (idem) => {
        idem.on("attempt.failed", () => {
          throw new Error("at once");
        });
        idem.on("attempt.failed", async () => {
          throw new Error("later");
        });
      },
    },
  );
  expect((await run.end()).state).toBe("completed");
  const said = lines.map(({ args }) => String(args[1]));
  expect(said.sort()).toEqual(["Error: at once", "Error: at once", "Error: later", "Error: later"]);
});

test("no event's data and no step's value is in what is logged", async () => {
  const { lines, logger } = remember();
  const run = await oneRun(
    async ({ step }) => {
      await step.run("token", () => "secret-value");
      await step.run("charge", typo);
    },
    { logger, event: { data: { card: "secret-card" } }, fn: { retries: 1 } },
  );
  await run.end();
  expect(lines.length).toBeGreaterThan(2);
  expect(JSON.stringify(lines)).not.toContain("secret");
});

test("the logger of a handler carries its function and run where it can, and stays quiet on replay", async () => {
  const said: unknown[] = [];
  const { logger } = remember({
    child: (fields: unknown) => ({ ...remember().logger, info: (text: string) => void said.push([fields, text]) }),
  });
  const long = held();
  const run = await oneRun(
    async ({ step, logger: own }) => {
      own.info("begins");
      await step.run("wait", () => long.promise);
      await step.sleep("nap", "1h");
      own.info("ends");
    },
    { logger },
  );
  long.release();
  await run.end();
  const fields = { function: "one", runId: run.runId, attempt: 1 };
  expect(said).toEqual([
    [fields, "begins"],
    [fields, "ends"],
  ]);
});

test("a kind of tidings that there is not, and a logger without its methods, are refused", () => {
  const { idem } = testIdem();
  expect(() => idem.on("run.faild" as any, () => {})).toThrow(/"run.faild" is none of .*run\.failed/);
  expect(() => testIdem({ logger: { info() {} } as any })).toThrow(/logger.*"debug"/);
  expect(() => testIdem({ logStyle: "pretty" as any })).toThrow(/logStyle/);
  expect(() => testIdem({ logger: false })).not.toThrow();
});

describe("what could not be decided is told, seldom, with its function and expression", () => {
  async function warned(fn: Record<string, unknown>, trigger: Record<string, unknown>, data: Record<string, unknown>) {
    const { lines, logger } = remember(like.pino);
    const { idem, clock } = testIdem({ logger });
    let heard = 0;
    idem.on("expression.failed", () => void heard++);
    idem.createFunction({ id: "pay", ...fn } as any, { event: "go", ...trigger } as any, () => {});
    await idem.start();
    for (let i = 0; i < 5; i++) await idem.send({ name: "go", data });
    await clock.advance("61s");
    await idem.send({ name: "go", data });
    await idem.idle();
    await idem.stop();
    expect(lines.every(({ level }) => level === "warn")).toBe(true);
    const isOfExpressions = lines.some(({ args }) => (args[0] as { kind?: string }).kind === "expression.failed");
    expect(heard, "a program hears of each").toBe(isOfExpressions ? 6 : 0);
    return lines.map(({ args }) => args as [Record<string, unknown>, string]);
  }

  test.each([
    ["a filter that errors", {}, { if: "int(event.data.name) > 1" }, "trigger.if", "int(event.data.name) > 1"],
    ["a filter that answers nonsense", {}, { if: "event.data.name" }, "trigger.if", "event.data.name"],
    [
      "a concurrency key",
      { concurrency: { limit: 1, key: "event.data.user" } },
      {},
      "concurrency.key",
      "event.data.user",
    ],
    [
      "a throttle key",
      { throttle: { limit: 9, period: "1s", key: "event.data.a.b" } },
      {},
      "throttle.key",
      "event.data.a.b",
    ],
    ["a priority", { priority: { run: "event.data.name" } }, {}, "priority.run", "event.data.name"],
  ])("%s", async (_what, fn, trigger, option, expression) => {
    const said = await warned(fn, trigger, { name: "Ada" });
    expect(said).toHaveLength(2);
    expect(said[0]![0]).toMatchObject({ kind: "expression.failed", function: "pay", option, expression });
    expect(said[0]![1]).toContain(`${option} of "pay" could not be decided for an event: `);
    expect(said[1]![0]).toMatchObject({ more: 4 });
    expect(said[1]![1]).toMatch(/\(and 4 more like it since this was last said\)$/);
  });

  test("a filter that is false, or guarded with has(), is not told", async () => {
    expect(await warned({}, { if: "event.data.name == 'Bob'" }, { name: "Ada" })).toEqual([]);
    expect(await warned({}, { if: "has(event.data.total) && event.data.total > 100" }, {})).toEqual([]);
  });

  test("a key that fails, where the run starts without it, names the run", async () => {
    const said = await warned({ idempotency: "event.data.orderId" }, {}, { name: "Ada" });
    expect(said).toHaveLength(6);
    expect(said[0]![0]).toMatchObject({
      kind: "run.unprotected",
      function: "pay",
      reason: expect.stringContaining("event.data.orderId"),
    });
  });

  test("an event that is held for its missing key", async () => {
    const said = await warned({ idempotency: { key: "event.data.orderId", onMissing: "reject" } }, {}, { name: "Ada" });
    expect(said).toHaveLength(1);
    expect(said[0]![1]).toMatch(/^event \w+ is held for function "pay": .*event\.data\.orderId.*; release or drop it$/);
  });

  test("the condition of a wait, with the run that waits", async () => {
    const { lines, logger } = remember();
    const run = await oneRun(
      ({ step }) => step.waitForEvent("answer", { event: "answer", if: "int(async.data.name) > 3", timeout: "1h" }),
      { logger },
    );
    await run.idem.idle();
    await run.idem.send({ name: "answer", data: { name: "Ada" } });
    await run.idem.idle();
    expect(lines).toHaveLength(1);
    expect(lines[0]!.args[1]).toMatchObject({ option: "waitForEvent.if", runId: run.runId });
    await run.end();
  });
});

test("a paused function with waiting events is a warning, once in ten minutes", async () => {
  const { lines, logger } = remember();
  const { idem, clock } = testIdem({ logger });
  idem.createFunction({ id: "pay" }, { event: "go" }, () => {});
  await idem.start();
  await idem.functions.pause("pay");
  for (let i = 0; i < 3; i++) await idem.send({ name: "go", data: {} });
  await clock.advance("11m");
  await idem.send({ name: "go", data: {} });
  await idem.stop();
  expect(lines.map(({ args }) => args[0])).toEqual([
    expect.stringMatching(
      /^function "pay" is paused: event \w+ waits; resume the function, or release or drop its events$/,
    ),
    expect.stringMatching(/^function "pay" is paused: .* \(and 2 more like it/),
  ]);
});

test("nothing is told twice when a call of the store is repeated because its answer was lost", async () => {
  const { lines, logger } = remember(like.pino);
  const { idem, clock, store } = testIdem({ logger });
  const advance = (store as Store).advance.bind(store);
  let lost = 0;
  (store as Store).advance = async (input) => {
    const answer = await advance(input);
    // Every other answer is lost after its effect.
    if (lost++ % 2 === 0) throw errors.STORE_UNAVAILABLE({ why: "the answer was lost" });
    return answer;
  };
  idem.createFunction({ id: "ill", retries: 1 }, { event: "go" }, ({ step }) => step.run("charge", typo));
  await idem.start();
  const { decisions } = await idem.send({ name: "go", data: {} });
  await clock.tick("2m");
  expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ state: "failed" });
  expect(lost).toBeGreaterThan(4);
  const kinds = lines.map(({ args }) => (args[0] as { kind: string }).kind);
  expect(kinds).toEqual(["attempt.failed", "attempt.failed", "run.failed"]);
  await idem.stop();
});

test("a run that goes on in another process tells what fails there, and nothing of what was told before", async () => {
  const [first, second] = [remember(like.pino), remember(like.pino)];
  const { idem, client, clock } = testIdem({ logger: first.logger });
  const define = (of: typeof idem) =>
    of.createFunction({ id: "ill", retries: 1 }, { event: "go" }, async ({ step }) => {
      await step.run("well", () => 1);
      await step.run("charge", typo);
    });
  define(idem);
  await idem.start();
  await idem.send({ name: "go", data: {} });
  await idem.idle();
  await idem.stop();
  const other = client({ logger: second.logger });
  define(other);
  await other.start();
  await clock.advance("10m");
  await other.stop();
  const told = ({ lines }: typeof first) => lines.map(({ args }) => args[0] as { kind: string; attempt?: number });
  expect(told(first)).toMatchObject([{ kind: "attempt.failed", attempt: 1 }]);
  expect(told(second)).toMatchObject([{ kind: "attempt.failed", attempt: 2 }, { kind: "run.failed" }]);
});

test("a store that takes long to answer is a warning", async () => {
  const { lines, logger } = remember();
  const { idem, clock, store } = testIdem({ logger });
  const ingest = (store as Store).ingest.bind(store);
  (store as Store).ingest = async (input) => {
    const answer = await ingest(input);
    await clock.tick("3s");
    return answer;
  };
  await idem.start();
  await idem.send({ name: "go", data: {} });
  await idem.stop();
  expect(lines.map(({ args }) => args[0])).toEqual([expect.stringMatching(/^the store took 3 s to answer/)]);
});
