import { expect, test } from "vitest";
import { held, oneRun } from "../testing/one-run.suite.ts";
import type { Logger } from "./function-code.ts";

function listen() {
  const lines: string[] = [];
  // What Idem says itself comes with fields.
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
