// A store file of its own and a client on it, both gone afterwards.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FunctionOptions } from "../packages/idem/modules/index.js";
import type { Store } from "../packages/idem/modules/store/store.js";
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

/** A client with these functions, at work while the body runs. Without `runsInFlight`, the default. */
export async function withIdem<T>(
  { path, runsInFlight }: { readonly path: string; readonly runsInFlight?: number },
  define: (idem: Idem) => void,
  body: (idem: Idem) => Promise<T>,
): Promise<T> {
  const idem = new Idem({
    id: "bench",
    store: `sqlite:${path}`,
    ...(runsInFlight === undefined ? {} : { runsInFlight }),
  });
  define(idem);
  await idem.start();
  try {
    return await body(idem);
  } finally {
    await idem.stop();
  }
}

/** A run is event in, three trivial durable steps, result out. `onBegin` hears of each that begins. */
export function defineThreeSteps(
  idem: Idem,
  options: Omit<FunctionOptions, "id">,
  onBegin?: (data: any) => void,
): void {
  idem.createFunction({ id: "three-steps", ...options }, { event: "bench/run" }, async ({ event, step }) => {
    onBegin?.(event.data);
    const a = await step.run("a", () => 1);
    const b = await step.run("b", () => a + 1);
    const c = await step.run("c", () => b + 1);
    return { n: event.data.n, c };
  });
}

export interface BenchOptions {
  readonly key: boolean;
  readonly runsInFlight: number;
}

export async function withEngine<T>(
  path: string,
  { key, runsInFlight }: BenchOptions,
  body: (idem: Idem, oneRun: (n: number) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const define = (idem: Idem) => {
    defineThreeSteps(idem, key ? { idempotency: "event.data.n" } : {});
    idem.createFunction({ id: "sleeper" }, { event: "bench/sleep" }, async ({ event, step }) => {
      await step.sleepUntil("nap", event.data.until);
      return Date.now();
    });
  };
  return withIdem({ path, runsInFlight }, define, (idem) => body(idem, (n) => oneRun(idem, { n: shuffled(n) })));
}

/** Sends one event and waits for its run; answers what the run returned. */
export async function oneRun(idem: Idem, data: object): Promise<unknown> {
  const sent = await idem.send({ name: "bench/run", data });
  return (await idem.runs.wait(sent.decisions[0]!.runId!)).output;
}

/** Sends many events, each of which starts a run that comes to rest, a batch at a time. */
export async function fill(
  idem: Idem,
  count: number,
  eventOf: (n: number) => { readonly name: string; readonly data: object },
  onRun?: (runId: string, n: number) => void,
): Promise<void> {
  const batch = 500;
  for (let sent = 0; sent < count; sent += batch) {
    const events = Array.from({ length: Math.min(batch, count - sent) }, (_, i) => eventOf(sent + i));
    const { decisions } = await idem.send(events);
    for (const [i, { runId }] of decisions.entries()) onRun?.(runId!, sent + i);
    await idem.idle();
  }
}
