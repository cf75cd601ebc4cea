import { expect, test } from "vitest";
import { silentLogger } from "../execute/log-style.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { readinessOf } from "./readiness.ts";
import { StoreHealth } from "./store-health.ts";
import { Telling } from "./telling.ts";

const platform = new ManualPlatform();
const store = new StoreHealth({
  platform,
  telling: new Telling({ logger: silentLogger, platform }),
  env: "default",
  store: async () => ({ tick: async () => null as never }),
});

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
