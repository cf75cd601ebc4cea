import { expect, test } from "vitest";
import { readLog } from "../model/log-line.ts";
import type { Idem } from "../sdk/client.ts";
import { inside } from "../sdk/inside.ts";
import { held, oneRun } from "../testing/one-run.suite.ts";
import type { Logger } from "./function-code.ts";

function listen() {
  const lines: string[] = [];
  // Idem's own lines come with fields.
  const take = (...args: unknown[]) => {
    if (args.length === 1) lines.push(String(args[0]));
  };
  const logger: Logger = { debug: take, info: take, warn: take, error: take };
  return { lines, logger };
}

test("each line is logged once, however often the code is replayed", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(
    async ({ step, logger }) => {
      logger.info("begins");
      await step.run("a", () => 1);
      logger.debug("after a");
      await step.sleep("nap", "1h");
      logger.warn("after nap");
      await step.run("b", () => 1);
      await step.sleep("nap again", "1h");
      logger.error("ends");
    },
    { logger: given },
  );
  await run.end();
  expect(lines).toEqual(["begins", "after a", "after nap", "ends"]);
});

test("a step's retries do not repeat the lines before it", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(
    async ({ step, logger }) => {
      logger.info("begins");
      await step.run("flaky", ({ attempt }) => {
        if (attempt < 4) throw new Error("again");
      });
      logger.info("ends");
    },
    { logger: given },
  );
  await run.end();
  expect(lines).toEqual(["begins", "ends"]);
});

test("in parallel branches each line is logged once: waits that end at different times, or at one", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(
    async ({ step, logger }) => {
      const branch = async (name: string, duration: string) => {
        await step.sleep(name, duration);
        logger.info(name);
      };
      logger.info("begins");
      await Promise.all([branch("a", "1h"), branch("b", "2h"), branch("c", "2h"), branch("d", "3h")]);
      logger.info("ends");
    },
    { logger: given },
  );
  await run.end();
  expect(lines).toEqual(["begins", "a", "b", "c", "d", "ends"]);
});

test("a branch that goes on beside a sibling's retry is not repeated, nor lost", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(
    async ({ step, logger }) => {
      await Promise.all([
        step.run("quick", () => 1).then(() => logger.info("quick is done")),
        step
          .run("flaky", ({ attempt }) => {
            if (attempt < 3) throw new Error("again");
          })
          .then(() => logger.info("flaky is done")),
        step.waitForEvent("answer", { event: "test/answer", timeout: "1d" }).then(() => logger.info("waited")),
      ]);
    },
    { logger: given },
  );
  await run.end();
  expect(lines).toEqual(["quick is done", "flaky is done", "waited"]);
});

test("code that failed between steps logs again when it is tried again: that is a new attempt", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(
    async ({ step, logger, attempt }) => {
      await step.run("a", () => 1);
      logger.info(`attempt ${attempt}`);
      if (attempt < 3) throw new Error("again");
      logger.info("through");
    },
    { logger: given },
  );
  await run.end();
  expect(lines).toEqual(["attempt 1", "attempt 2", "attempt 3", "through"]);
});

test("code that was changed logs from the first step on that it did not have", async () => {
  const { lines, logger: given } = listen();
  let version = 1;
  const run = await oneRun(
    async ({ step, logger }) => {
      logger.info("begins");
      if (version === 1) await step.run("removed", () => 1);
      await step.sleep("nap", "1h");
      logger.info("after nap");
      if (version === 2) await step.run("added", () => 2);
      logger.info("ends");
    },
    { logger: given },
  );
  await run.idem.idle();
  version = 2;
  await run.end();
  expect(lines).toEqual(["begins", "after nap", "ends"]);
});

test("while a sibling runs, lines are logged as they happen", async () => {
  const { lines, logger: given } = listen();
  const long = held();
  const run = await oneRun(
    async ({ step, logger }) => {
      await Promise.all([
        step.run("long", () => long.promise),
        step.sleep("nap", "5s").then(() => logger.info("after nap")),
      ]);
    },
    { logger: given },
  );
  await run.clock.tick("7s");
  expect(lines).toEqual(["after nap"]);
  long.release();
  await run.end();
  expect(lines).toEqual(["after nap"]);
});

/** The lines that are kept, in the order of writing. */
const keptOf = async ({ idem, runId }: { idem: Idem; runId: string }) => {
  const { store } = idem[inside].keeping();
  const log = await (await store()).reads.runLog("default", runId);
  const { lines, dropped } = readLog(log!.parts);
  return { lines, dropped, texts: lines.map(({ message }) => message) };
};

test("a retried step's own lines are told with every attempt, and each is kept beside its step and attempt", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(
    async ({ step, logger }) => {
      logger.info("begins");
      await step.run("charge", ({ attempt }) => {
        logger.warn(`attempt ${attempt}`, { attempt, card: { last4: "4242" } });
        if (attempt < 3) throw new Error("again");
      });
      await step.sleep("nap", "1h");
      logger.info("ends");
    },
    { logger: { ...given, warn: (text) => void lines.push(String(text)) } },
  );
  await run.end();
  const own = lines.filter((line) => !line.includes("failed in run"));
  expect(own).toEqual(["begins", "attempt 1", "attempt 2", "attempt 3", "ends"]);
  const kept = await keptOf(run);
  expect(kept.lines.map(({ level, message, stepId, attempt }) => [level, message, stepId !== null, attempt])).toEqual([
    ["info", "begins", false, 1],
    ["warn", "attempt 1", true, 1],
    ["warn", "attempt 2", true, 2],
    ["warn", "attempt 3", true, 3],
    ["info", "ends", false, 1],
  ]);
  expect(JSON.parse(kept.lines[1]!.fields!)).toEqual({ attempt: 1, card: { last4: "4242" } });
});

test("lines are kept once: over waits, retries, branches side by side, and code between steps that is slow", async () => {
  let isSlow = false;
  const run = await oneRun(async ({ step, logger, attempt }) => {
    logger.info("begins");
    await Promise.all([
      step
        .run("a", () => 1)
        .then(async () => {
          // Not a step: nobody knows when it ends, and the next pass may be past everything by then.
          if (isSlow) for (let i = 0; i < 50; i++) await Promise.resolve();
          logger.info("after a");
        }),
      step.sleep("nap", "1h").then(() => logger.info("after nap")),
    ]);
    isSlow = true;
    for (const page of [1, 2]) {
      logger.info("page");
      await step.run(`page ${page}`, () => page);
    }
    await step.sleep("again", "1h");
    logger.info(`tried ${attempt}`);
    if (attempt < 2) throw new Error("again");
  });
  await run.end();
  expect((await keptOf(run)).texts.sort()).toEqual(
    ["begins", "after a", "after nap", "page", "page", "tried 1", "tried 2"].sort(),
  );
});

test("a line is cut, and of a flood the rest is only counted", async () => {
  const run = await oneRun(async ({ step, logger }) => {
    logger.info("x".repeat(5_000), { text: "y".repeat(5_000), self: logger });
    for (let i = 0; i < 5_000; i++) logger.debug(`line ${i}`);
    await step.run("a", () => 1);
    const circle: Record<string, unknown> = {
      name: "o",
      big: 7n,
      get bad() {
        throw new Error("no");
      },
    };
    circle.self = circle;
    logger.error(new Error("broken", { cause: new Error("why") }), circle);
  });
  await run.end();
  const { lines, dropped } = await keptOf(run);
  expect(lines[0]).toMatchObject({ message: "x".repeat(2_000), isCut: true });
  expect(lines.length + dropped).toBe(5_002);
  expect(dropped).toBeGreaterThan(4_000);
  expect(lines.at(-1)!.fields).toContain('"message":"broken"');
});

test("switched off, lines are told and not kept", async () => {
  const { lines, logger: given } = listen();
  const run = await oneRun(async ({ logger }) => logger.info("begins"), { logger: given, runLogs: false });
  await run.end();
  expect(lines).toEqual(["begins"]);
  expect((await keptOf(run)).texts).toEqual([]);
});
