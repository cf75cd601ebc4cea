// A process that lives worlds for run-worlds.ts, one after another.
import { type EngineUnderTest, loadEngine } from "./engine.ts";
import type { WorldOptions } from "./plan.ts";
import { runWorld } from "./run-world.ts";
import type { FromWorker, ToWorker } from "./run-worlds.ts";

// One seed in so many is lived twice: the same seed must be the same history.
const canaryEvery = 50;

let engine: Promise<EngineUnderTest> | null = null;

process.on("message", async ({ engine: folder, off, ...given }: ToWorker) => {
  engine ??= loadEngine(folder);
  const { seed } = given;
  const options = { ...given, off: new Set(off) };
  const { hash, violations, about, counts, simulatedMs } = await live(options);
  const found = [...violations];
  if (seed % canaryEvery === 0) {
    const again = await live(options);
    if (again.hash !== hash) found.push({ check: "a seed is one history", detail: `${hash}, then ${again.hash}` });
  }
  process.send!({ seed, violations: found, about, counts, simulatedMs } satisfies FromWorker);
});

async function live(options: WorldOptions) {
  try {
    return await runWorld(await engine!, options);
  } catch (error) {
    // An error that escapes a world is a finding too, and it must not end the process that has other worlds to live.
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      hash: "",
      violations: [{ check: "a world comes to its end" as const, detail }],
      about: "",
      counts: {},
      simulatedMs: 0,
    };
  }
}
