// Finds a small set of faults with which a seed still fails, by switching them off one at a time.
import type { EngineUnderTest } from "./engine.ts";
import type { WorldOptions } from "./plan.ts";
import { runWorld, type WorldResult } from "./run-world.ts";

export async function minimise(
  engine: EngineUnderTest,
  failed: WorldResult,
  options: WorldOptions,
): Promise<readonly string[]> {
  const checks = new Set(failed.violations.map(({ check }) => check));
  const off = new Set(options.off);
  for (const fault of failed.faultsOn) {
    const { violations } = await runWorld(engine, { ...options, off: new Set([...off, fault]) });
    if (violations.some(({ check }) => checks.has(check))) off.add(fault);
  }
  return failed.faultsOn.filter((fault) => !off.has(fault));
}
