// Starts what schedules ask for. Every process that works for an environment runs one: all of them ask the store at each
// instant, and the store lets one of them be first.
//
//   rows (what is decided up to when) ──▶ heap by next instant ──▶ due: ticks with their decisions ──▶ store.tick, 500 at a time
//                  ▲                                                                                         │
//                  └──── read again: functions changed, the store failed, this process slept ◀───────────────┘
//
// An instant has come when the store's clock says so. Waiting is by the steady clock; the poll looks again every second, because
// the store's clock may have been set meanwhile.
import { jitterOf } from "../model/cron.ts";
import type { EventTraces, TracedTick } from "../observe/trace-events.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import type { DueTick } from "../schedule/cron-ticks.ts";
import type { Tick, Ticked } from "../store/flow.ts";
import type { NewEvent, NewPair } from "../store/ingest.ts";
import type { StoreReads } from "../store/reads.ts";
import type { Store } from "../store/store.ts";
import { type CronEntry, CronSchedules, type Due } from "./cron-schedules.ts";
import { limits } from "./limits.ts";
import { RunIds } from "./prepare-ingest.ts";
import type { RegisteredTarget, Registry } from "./registry.ts";
import { hearTime, type StoreTime } from "./store-time.ts";
import { tickEvent } from "./tick-event.ts";

// One commit of a few dozen milliseconds: others get their turn, and 10,000 functions that tick at once take twenty.
const ticksPerCall = 500;

const callsAtOnce = 2;

export interface PlannedTick extends DueTick {
  /** The run begins not before this time, by its jitter; null for at once. */
  readonly dueAt: number | null;
}

export type PairOfTick = (
  target: RegisteredTarget,
  event: NewEvent,
  tick: PlannedTick,
  runId: string,
  leaseTo: string | null,
) => NewPair;

/** The worker that executes the runs of ticks. */
export interface TickWorker {
  readonly takesDeliveries: string | null;
  readonly names: { doubt(name: string, error: unknown): void };
  reserve(fn: string): string | null;
  unreserve(count: number): void;
  takeIn(answer: Ticked, leasedTo: string | null): void;
}

export interface CronClockOptions {
  readonly store: Pick<Store, "tick"> & { readonly reads: Pick<StoreReads, "crons"> };
  readonly platform: Pick<Platform, "monoMs" | "timer" | "soon" | "point">;
  readonly env: string;
  readonly registry: Pick<Registry, "registration" | "all" | "get" | "refresh">;
  readonly time: Pick<StoreTime, "note" | "reached">;
  readonly worker: TickWorker;
  readonly traces: Pick<EventTraces, "beginTick">;
  readonly newId: () => string;
  readonly pairOf: PairOfTick;
  readonly report: (what: string, error: unknown) => void;
}

interface Asked {
  readonly entry: CronEntry;
  readonly tick: Tick;
  readonly traced: TracedTick | null;
}

export class CronClock {
  private state: "new" | "running" | "stopped" = "new";
  private readonly schedules: CronSchedules;
  /** When the store last said that the functions known here are the newest. */
  private heardMono = Number.NEGATIVE_INFINITY;
  /** Ids of runs whose tick has not been answered yet. */
  private runIds: RunIds;
  private working: Promise<void> | null = null;
  private again = false;
  private alarm: Timer | null = null;
  private poll: Timer | null = null;
  /** The store failed or its clock stands still: nothing is tried before this time of the steady clock. */
  private restUntil: number | null = null;
  private restMs: number = limits.brokenDelayMs;

  constructor(private readonly options: CronClockOptions) {
    this.schedules = new CronSchedules(options);
    this.runIds = new RunIds(options.newId);
  }

  start(): void {
    if (this.state !== "new") return;
    this.state = "running";
    this.armPoll();
    this.poke();
  }

  /** Calls on their way to the store are answered first. */
  async stop(): Promise<void> {
    this.state = "stopped";
    this.alarm?.cancel();
    this.poll?.cancel();
    await this.idle();
  }

  /** The registry may have changed. Costs nothing when it has not. */
  refresh(): void {
    if (!this.schedules.isOfRegistration(this.options.registry.registration)) this.poke();
  }

  /** When the next instant comes; null for never, undefined while it is not known. */
  get nextAt(): number | null | undefined {
    return this.restUntil !== null || !this.schedules.isCurrent() ? undefined : this.schedules.nextAt;
  }

  /** Resolves once nothing is being read or ticked. */
  idle(): Promise<void> {
    return this.working ?? Promise.resolve();
  }

  // ------------------------------------------------------------------------------------------------ waiting

  poke(): void {
    if (this.state !== "running") return;
    if (this.working !== null) this.again = true;
    else this.working = this.work();
  }

  private async work(): Promise<void> {
    do {
      this.again = false;
      await this.tryPass();
    } while (this.again && this.state === "running" && this.restUntil === null);
    // In the same turn as the last look at `again`, or a poke would be lost.
    this.working = null;
    this.armAlarm();
  }

  private async tryPass(): Promise<void> {
    try {
      this.restUntil = null;
      await this.pass();
      this.restMs = limits.brokenDelayMs;
    } catch (error) {
      // Whether the ticks are stored is unknown; their rows say.
      this.schedules.forget();
      this.restUntil = this.options.platform.monoMs() + this.restMs;
      this.restMs = Math.min(this.restMs * 2, limits.brokenDelayMsMax);
      if (this.state === "running") this.options.report("cron", error);
    }
  }

  /** To the next instant; a process that slept or a clock that was set is found by the poll. */
  private armAlarm(): void {
    const { platform, time } = this.options;
    this.alarm?.cancel();
    this.alarm = null;
    const { nextAt } = this.schedules;
    if (this.state !== "running" || (nextAt === null && this.restUntil === null)) return;
    const ms = this.restUntil === null ? nextAt! - time.reached() : this.restUntil - platform.monoMs();
    this.alarm = platform.timer(Math.max(0, ms), () => {
      this.alarm = null;
      this.poke();
    });
  }

  private armPoll(): void {
    const look = () => {
      if (this.state !== "running") return;
      if (this.hasWork()) this.poke();
      this.armPoll();
    };
    this.poll = this.options.platform.timer(limits.pollMs, look, { background: true });
  }

  private hasWork(): boolean {
    const { time, platform } = this.options;
    if (this.restUntil !== null) return platform.monoMs() >= this.restUntil;
    const { nextAt } = this.schedules;
    return this.isLongSilent() || !this.schedules.isCurrent() || (nextAt !== null && nextAt <= time.reached());
  }

  /** Another process may have registered a schedule and died: those left must find it. */
  private isLongSilent(): boolean {
    return this.options.platform.monoMs() - this.heardMono >= limits.sweepMs;
  }

  // ------------------------------------------------------------------------------------------------ ticking

  private async pass(): Promise<void> {
    // Also before anything else: until the store has said its time, an instant may seem to have come, or to be missed, that has not.
    if (this.isLongSilent()) {
      const askedMono = this.options.platform.monoMs();
      await hearTime(this.options);
      this.heardMono = askedMono;
    }
    const underWay = new Set<Promise<void>>();
    try {
      await this.sendDue(underWay);
    } finally {
      // A schedule whose answer came after the rows are read again would be in line twice.
      await Promise.allSettled(underWay);
    }
  }

  private async sendDue(underWay: Set<Promise<void>>): Promise<void> {
    while (this.state === "running" && this.restUntil === null) {
      if (!this.schedules.isCurrent()) {
        await Promise.all(underWay);
        // Functions may change while the schedules are being read.
        while (!this.schedules.isCurrent()) await this.schedules.load();
      }
      const due = this.schedules.takeDue(this.options.time.reached(), ticksPerCall);
      if (due.length === 0 && underWay.size === 0) return;
      if (due.length > 0) this.sendBeside(underWay, due);
      // The ticks a schedule still has due are known once it is answered.
      if (due.length === 0 || underWay.size === callsAtOnce) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  }

  /** The next ticks are put together while the last ones are being synced. No schedule is in two calls at once. */
  private sendBeside(underWay: Set<Promise<void>>, due: readonly Due[]): void {
    const sent: Promise<void> = this.send(due).finally(() => underWay.delete(sent));
    underWay.add(sent);
    // Its failure is heard where it is awaited.
    sent.catch(() => {});
  }

  private async send(due: readonly Due[]): Promise<void> {
    const { store, env, registry, platform, time, worker } = this.options;
    const slots = { reserved: 0 };
    const leaseTo = worker.takesDeliveries;
    try {
      const asked = this.ask(due, slots);
      const before = platform.point("ingest:before-commit");
      if (before !== undefined) await before;
      const askedMono = platform.monoMs();
      const ticks = asked.map(({ tick }) => tick);
      const answer = await store
        .tick({ env, registration: registry.registration, ticks, leaseTo })
        .catch((error: unknown) => {
          if (leaseTo !== null) worker.names.doubt(leaseTo, error);
          throw error;
        });
      if (answer.kind === "stale-registration") {
        this.schedules.forget();
        await registry.refresh();
        return;
      }
      const after = platform.point("ingest:after-commit");
      if (after !== undefined) await after;
      time.note(askedMono, answer.now);
      this.heardMono = askedMono;
      this.runIds = new RunIds(this.options.newId);
      for (const i of answer.fired) asked[i]!.traced?.fired(answer);
      worker.takeIn(answer, leaseTo);
      this.advance(asked, answer);
    } finally {
      worker.unreserve(slots.reserved);
    }
  }

  private ask(due: readonly Due[], slots: { reserved: number }): Asked[] {
    const asked: Asked[] = [];
    const failed = new Set<CronEntry>();
    for (const each of due) {
      const { entry } = each;
      if (failed.has(entry)) continue;
      const planned = this.schedules.guarded(entry, () => this.tickOf(each, slots));
      if (planned === null) failed.add(entry);
      else asked.push({ entry, ...planned });
    }
    return asked;
  }

  private tickOf({ entry, tick }: Due, slots: { reserved: number }): Omit<Asked, "entry"> {
    const { env, registry, time, worker, traces, pairOf } = this.options;
    const { fn, trigger } = entry;
    const { tickAt } = tick;
    const fireAt = tickAt + jitterOf(fn, tickAt, trigger.jitterMs ?? 0);
    const dueAt = fireAt > tickAt && fireAt > time.reached() ? fireAt : null;
    const made = tickEvent(env, fn, trigger.cron, tickAt, fireAt);
    const traced = traces.beginTick(made, fn, trigger.cron, tickAt);
    const event = traced?.event ?? made;
    const leaseTo = tick.decision === "start" && dueAt === null ? worker.reserve(fn) : null;
    if (leaseTo !== null) slots.reserved++;
    // The schedules were read at this very registration, so the function is known.
    const target = registry.get(fn)!;
    const pair = pairOf(target, event, { ...tick, dueAt }, this.runIds.of(event.id, fn), leaseTo);
    return { tick: { fn, cron: trigger.cron, tickAt, event, pair, speaksFor: tick.speaksFor ?? null }, traced };
  }

  /** A tick that was not new is decided by another process, unless its time has not come for the store. */
  private advance(asked: readonly Asked[], { fired, now }: Ticked): void {
    const isNew = new Set(fired);
    for (const [i, { entry, tick }] of asked.entries()) {
      if (isNew.has(i) || tick.tickAt <= now) entry.lastTickAt = Math.max(entry.lastTickAt, tick.tickAt);
      // Its clock was set back and stands still until the time it had is reached again.
      else this.restUntil = this.options.platform.monoMs() + limits.pollMs;
    }
    for (const entry of new Set(asked.map((each) => each.entry))) this.schedules.put(entry);
  }
}
