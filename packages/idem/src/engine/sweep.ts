// The bounded work of a process that does not stay (docs/serverless.md). An engine of its own is started, works while something is due and
// hands back what it holds; whatever it did not come to is due for the next one.
//
//   start ──▶ work ──idle──▶ due within a moment? ──yes──▶ wait for it ──▶ work
//              │                     └──no──▶ stop ──▶ when something is due next
//              └──time is over──▶ stop: steps under way are finished within the grace, the rest is due at once
import type { Platform } from "../platform/platform.ts";
import { waitAtMost } from "../platform/wait-at-most.ts";
import type { StoreReads } from "../store/reads.ts";
import type { Engine } from "./engine.ts";
import { limits } from "./limits.ts";

export interface Swept {
  /** Its time was over before everything that was due had been done: sweep again at once. */
  readonly isCut: boolean;
  /** When something is due next, by the store's clock, in milliseconds; null when nothing waits for a time. */
  readonly nextDueAt: number | null;
  /** The number of times a run was taken up. */
  readonly entered: number;
}

/** The engine is new and knows its functions; it is stopped afterwards, whatever happened. */
export async function sweep(
  engine: Engine,
  platform: Pick<Platform, "timer" | "monoMs">,
  { budgetMs, graceMs }: { readonly budgetMs: number; readonly graceMs: number },
): Promise<Swept> {
  const until = platform.monoMs() + budgetMs - graceMs;
  const leftMs = () => until - platform.monoMs();
  let dueAt: number | null | undefined;
  try {
    await engine.start();
    dueAt = await work(engine, platform, leftMs);
    if (dueAt !== undefined) await engine.prune(() => leftMs() <= 0);
  } finally {
    await engine.stop(graceMs);
  }
  const isCut = dueAt === undefined;
  // Behind the stop: a store that does not answer is reported to the caller, instead of that nothing is due.
  const lapseAt = await firstLapse(engine.store.reads);
  const nextDueAt = dueAt === undefined ? engine.now() : earlier(dueAt, lapseAt);
  return { isCut, nextDueAt, entered: engine.worker.counts.entered };
}

/** When something is due once nothing is; undefined when time was over before that. */
async function work(
  engine: Engine,
  platform: Pick<Platform, "timer">,
  leftMs: () => number,
): Promise<number | null | undefined> {
  for (;;) {
    if (!(await waitAtMost(platform, Math.max(0, leftMs()), engine.idle()))) return undefined;
    const dueAt = engine.nextDueAt;
    const waitMs = dueAt === undefined ? limits.brokenDelayMs : dueAt === null ? null : dueAt - engine.now();
    if (dueAt !== undefined && (waitMs === null || waitMs > limits.sweepLingerMs)) return dueAt;
    if (leftMs() <= waitMs!) return undefined;
    await new Promise<void>((resolve) => platform.timer(Math.max(1, waitMs!), resolve));
    engine.look();
  }
}

/** When the first worker that holds something would be taken for lost, unless it goes on. */
async function firstLapse(reads: Pick<StoreReads, "workers">): Promise<number | null> {
  const holding = (await reads.workers()).filter(({ leased, isDead }) => leased > 0 && !isDead);
  return holding.reduce<number | null>((first, { until }) => earlier(first, until), null);
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
