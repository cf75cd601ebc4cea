// A store file of its own and a client on it, both gone afterwards.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../packages/idem/dist/store/store.js";
import { Idem, nodePlatform, openThreadStore } from "./engine.ts";
import { shuffled } from "./measure.ts";

export async function onFreshFile<T>(body: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "idem-bench-"));
  try {
    return await body(join(folder, "bench.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const openStore = (path: string): Promise<Store> =>
  openThreadStore({ path, owner: "bench", platform: nodePlatform });

export interface BenchOptions {
  readonly key: boolean;
  readonly runsInFlight: number;
}

/** A run is event in, three trivial durable steps, result out. */
export async function withEngine<T>(
  path: string,
  { key, runsInFlight }: BenchOptions,
  body: (idem: Idem, oneRun: (n: number) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const idem = new Idem({ id: "bench", store: `sqlite:${path}`, runsInFlight });
  idem.createFunction(
    { id: "three-steps", ...(key ? { idempotency: "event.data.n" } : {}) },
    { event: "bench/run" },
    async ({ event, step }) => {
      const a = await step.run("a", () => 1);
      const b = await step.run("b", () => a + 1);
      const c = await step.run("c", () => b + 1);
      return { n: event.data.n, c };
    },
  );
  idem.createFunction({ id: "sleeper" }, { event: "bench/sleep" }, async ({ event, step }) => {
    await step.sleepUntil("nap", event.data.until);
    return Date.now();
  });
  await idem.start();
  try {
    return await body(idem, async (n) => {
      const sent = await idem.send({ name: "bench/run", data: { n: shuffled(n) } });
      return (await idem.runs.wait(sent.decisions[0]!.runId!)).output;
    });
  } finally {
    await idem.stop();
  }
}
