import { describe, expect, test } from "vitest";
import { oneRun, stores } from "../testing/one-run.suite.ts";

const day = 24 * 3_600_000;

describe.each(stores)("sleep on %s", (store) => {
  test.each([
    ["1 ms", 1, 1],
    ["a second", "1s", 1_000],
    ["a compound duration", "1h30m", 5_400_000],
    ["more than 2^31 ms", "30d", 30 * day],
    ["366 days", "366d", 366 * day],
  ])("of %s ends at its time and not a millisecond before", async (_, duration, ms) => {
    const run = await oneRun(
      async ({ step }) => {
        await step.sleep("nap", duration);
        return run.clock.now();
      },
      { store },
    );
    const startedAt = run.clock.now();
    await run.clock.advance(ms - 1);
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting", dueAt: startedAt + ms });
    await run.clock.advance(1);
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: startedAt + ms });
  });

  test("sleepUntil takes a Date, an ISO string, and milliseconds", async () => {
    const at = Date.UTC(2026, 5, 1);
    for (const time of [new Date(at), new Date(at).toISOString(), at, { epochMilliseconds: at }]) {
      const run = await oneRun(
        async ({ step }) => {
          await step.sleepUntil("june", time);
          return run.clock.now();
        },
        { store },
      );
      expect((await run.end()).output).toBe(at);
    }
  });

  test("sleepUntil a time that is over goes on at once", async () => {
    const run = await oneRun(
      async ({ step }) => {
        await step.sleepUntil("yesterday", new Date(0));
        return "awake";
      },
      { store },
    );
    await run.idem.idle();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "completed", output: "awake" });
  });
});

test("a sleep that cannot be read fails the run at once, by step and reason", async () => {
  for (const duration of ["soon", "", "-1s", "10", Number.NaN, -5, 400 * day, null, {}]) {
    let entries = 0;
    const run = await oneRun(async ({ step }) => {
      entries++;
      await step.sleep("nap", duration as any);
    });
    const { state, error } = await run.end();
    expect([state, error!.code, entries]).toEqual(["failed", "DURATION_INVALID", 1]);
    expect(error!.message).toContain('step "nap"');
  }
  const run = await oneRun(async ({ step }) => step.sleepUntil("nap", "the 30th of February"));
  expect(await run.end()).toMatchObject({ state: "failed", error: { code: "DURATION_INVALID" } });
});

test("a sleep is counted from the moment it is reached, not from a later replay", async () => {
  const run = await oneRun(async ({ step }) => {
    await Promise.all([step.sleep("long", "1h"), step.sleep("short", "50m").then(() => step.run("x", () => 1))]);
    return run.clock.now();
  });
  const startedAt = run.clock.now();
  expect(((await run.end()).output as number) - startedAt).toBe(3_600_000);
});
