// The schedules of an environment in order of their next instant, as the store's rows and the registered functions have them.
import { nextTick } from "../model/cron.ts";
import { DueHeap } from "../model/due-heap.ts";
import type { CronTrigger } from "../model/function-config.ts";
import type { Platform } from "../platform/platform.ts";
import { type DueTick, dueTicks, lateMs } from "../schedule/cron-ticks.ts";
import type { StoreReads } from "../store/reads.ts";
import type { Registry } from "./registry.ts";
import type { StoreTime } from "./store-time.ts";

// A schedule that is read for the first time takes up to 30 µs; this many keep the loop from its other work for 15 ms.
const schedulesPerTurn = 500;

export interface CronSchedulesOptions {
  readonly store: { readonly reads: Pick<StoreReads, "crons"> };
  readonly platform: Pick<Platform, "soon">;
  readonly env: string;
  readonly registry: Pick<Registry, "registration" | "all">;
  readonly time: Pick<StoreTime, "reached">;
  readonly report: (what: string, error: unknown) => void;
}

export interface CronEntry {
  readonly fn: string;
  readonly trigger: CronTrigger;
  /** Every tick up to this instant is decided. */
  lastTickAt: number;
}

export interface Due {
  readonly entry: CronEntry;
  readonly tick: DueTick;
}

export class CronSchedules {
  private readonly heap = new DueHeap<CronEntry>();
  /** The registration they were read at; null when they must be read again. */
  private registration: number | null = null;
  /** The store's time when their rows were read. */
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: CronSchedulesOptions) {}

  get nextAt(): number | null {
    return this.heap.nextAt;
  }

  /** Functions have not changed, and no tick was missed since the rows were read: if one was, another process may have been there. */
  isCurrent(): boolean {
    const { registry, time } = this.options;
    if (this.registration !== registry.registration) return false;
    const { nextAt } = this;
    return nextAt === null || nextAt + lateMs >= time.reached() || nextAt + lateMs < this.readAt;
  }

  isOfRegistration(registration: number): boolean {
    return this.registration === registration;
  }

  forget(): void {
    this.registration = null;
  }

  async load(): Promise<void> {
    const { registry, store, env, time, platform } = this.options;
    const { registration } = registry;
    const scheduled = registry.all.flatMap(({ fn, config }) =>
      config.triggers.flatMap((trigger) => ("cron" in trigger ? [{ fn, trigger }] : [])),
    );
    const readAt = time.reached();
    const rows = scheduled.length === 0 ? [] : await store.reads.crons(env);
    const lastTicks = new Map(rows.map(({ fn, cron, lastTickAt }) => [rowName(fn, cron), lastTickAt]));
    this.heap.clear();
    for (const [i, { fn, trigger }] of scheduled.entries()) {
      if (i % schedulesPerTurn === schedulesPerTurn - 1) await new Promise<void>((resolve) => platform.soon(resolve));
      const lastTickAt = lastTicks.get(rowName(fn, trigger.cron));
      // Not registered yet, or no longer: the store would not take its ticks.
      if (lastTickAt !== undefined) this.put({ fn, trigger, lastTickAt });
    }
    this.readAt = readAt;
    this.registration = registration;
  }

  /** Into line, by the instant after the last one decided. */
  put(entry: CronEntry): void {
    this.guarded(entry, () => {
      const nextAt = nextTick(entry.trigger.cron, entry.lastTickAt);
      if (nextAt !== null) this.heap.add(nextAt, entry);
    });
  }

  /** One schedule that fails must not keep the others from ticking: it is left out until it is read again, and its row stays. */
  guarded<T>({ fn, trigger }: CronEntry, run: () => T): T | null {
    try {
      return run();
    } catch (error) {
      this.options.report(`cron "${trigger.cron}" of function ${fn}`, error);
      return null;
    }
  }

  /** Takes up to `max` due ticks with their schedules out of line. What is left of a schedule is found once it is put back. */
  takeDue(now: number, max: number): Due[] {
    const due: Due[] = [];
    for (;;) {
      const { nextAt } = this.heap;
      if (nextAt === null || nextAt > now || due.length >= max) break;
      const first = this.heap.takeFirst()!;
      this.guarded(first, () => {
        const { trigger, lastTickAt } = first;
        const { ticks } = dueTicks({ cron: trigger.cron, lastTickAt, missed: trigger.missed, now });
        for (const tick of ticks.slice(0, max - due.length)) due.push({ entry: first, tick });
      });
    }
    // If two schedules of a function meet, the first one decides: one that starts it.
    const rank = ({ tick }: Due) => (tick.decision === "start" ? 0 : 1);
    return due.sort((a, b) => a.tick.tickAt - b.tick.tickAt || rank(a) - rank(b));
  }
}

const rowName = (fn: string, cron: string): string => `${fn}\n${cron}`;
