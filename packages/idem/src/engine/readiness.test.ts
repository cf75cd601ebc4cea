import { expect, test } from "vitest";
import { readinessOf } from "./readiness.ts";
import { StoreHealth } from "./store-health.ts";

const store = new StoreHealth({ monoMs: () => 0, timer: () => ({ cancel() {} }) }, "default", async () => ({
  tick: async () => null as never,
}));

test.each([
  [{ isRunning: true, isBeating: true }, []],
  [{ isRunning: true, isBeating: false }, ["worker"]],
  // It executes nothing, so it is not reported.
  [{ isRunning: false, isBeating: false }, []],
])("a worker that is %o leaves these parts not ready: %o", async (worker, parts) => {
  const { isReady, reasons } = await readinessOf({ worker }, store);
  expect(reasons.map(({ part }) => part)).toEqual(parts);
  expect(isReady).toBe(parts.length === 0);
});
