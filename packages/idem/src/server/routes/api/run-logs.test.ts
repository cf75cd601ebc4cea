import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { readRunLogs } from "./read-run-logs.ts";

describe.each(stores)("a run's lines over /api on %s", (store) => {
  test("in the order of writing, with level and fields, beside their step, and by step or level alone", async () => {
    const world = await apiWorld({ store });
    await world.start({
      work: {
        on: "work/asked",
        run: async ({ step, logger }: any) => {
          logger.info({ order: 7 }, "begins");
          await step.run("charge", () => logger.warn("slow", { ms: 900 }));
          logger.error("ends");
        },
      },
    });
    const { runId } = await world.send({ name: "work/asked" });
    await world.idle();
    const read = async (query = {}) => (await world.ask(readRunLogs, { params: { run: runId }, query })).body;
    const { lines, ...rest } = await read();
    expect(rest).toEqual({ droppedCount: 0, isFull: false, whyNone: null });
    expect(lines).toMatchObject([
      { level: "info", message: "begins", fields: { order: 7 }, stepId: null, attempt: 1 },
      { level: "warn", message: "slow", fields: { ms: 900 }, stepId: expect.any(String), attempt: 1 },
      { level: "error", message: "ends", fields: null, stepId: null },
    ]);
    expect((await read({ step: lines[1].stepId })).lines).toEqual([lines[1]]);
    expect((await read({ level: "warn" })).lines).toEqual([lines[1], lines[2]]);
    expect((await world.ask(readRunLogs, { params: { run: "nobody" } })).body.code).toBe("RUN_UNKNOWN");
  });
});
