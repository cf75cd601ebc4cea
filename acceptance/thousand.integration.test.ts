// Many steps side by side. The SDK goes through all of them again for each one it is asked for: nearly
// all of the time is its own.
import { expect, onTestFinished, test } from "vitest";
import { World } from "./world.ts";

// PLANNED_STEPS=1000 is the most a run may have; it takes eleven times as long as these.
const plannedSteps = Number(process.env.PLANNED_STEPS ?? 300);
const patienceMs = 600_000;

test(
  "hundreds of planned steps run once each, and their run goes on once",
  async () => {
    const world = await World.open({ mode: "dev", apps: [{ id: "shop", adapter: "node", functions: ["tools"] }] });
    onTestFinished(() => world.close());
    const runId = await world.rest.start("shop/thousand", { count: plannedSteps });
    const end = await world.rest.end(runId, patienceMs);
    expect(end).toMatchObject({ status: "Completed", output: ((plannedSteps - 1) * plannedSteps) / 2 });
    const entered = world.entered(runId);
    expect(entered).toHaveLength(plannedSteps);
    expect(new Set(entered).size).toBe(plannedSteps);
    const trace = world.traces.of(runId);
    expect(trace.filter((line) => line.startsWith("call step"))).toHaveLength(2);
    expect(trace.at(-1)).toBe("call step 0: 206 RunComplete");
  },
  patienceMs,
);
