// Holds leases and turns them into facts: executes runs, delivers events to waits, keeps its lease alive.
// One bounded pass (`lease`) takes what is due; the loop sleeps until something is due, someone pokes it, or the poll is over.
import type { Code } from "../execute/function-code.ts";
import type { Pass } from "../execute/pass.ts";
import { SiblingPlans } from "../execute/sibling-plans.ts";
import type { Expressions } from "../model/expression.ts";
import { StepIds } from "../model/step-id.ts";
import type { Turns } from "../model/turns.ts";
import type { EventTraces } from "../observe/trace-events.ts";
import type { Tracing } from "../observe/tracing.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import type { WokenRun } from "../store/advance.ts";
import type { Audited } from "../store/audit.ts";
import type { CancelledRun } from "../store/flow.ts";
import type { Ingested } from "../store/ingest.ts";
import type { LeasedJob } from "../store/leases.ts";
import type { WorkerAbout } from "../store/sharing.ts";
import type { Store } from "../store/store.ts";
import { announceEnd } from "./announce-end.ts";
import { BytesInFlight } from "./bytes-in-flight.ts";
import { CapsOfCodes } from "./caps-of-codes.ts";
import { deliverEvent } from "./deliver-event.ts";
import { DueAlarm } from "./due-alarm.ts";
import { ExtendBeside } from "./extend-beside.ts";
import { JobTelling } from "./job-telling.ts";
import { LeaseNames } from "./lease-names.ts";
import { limits } from "./limits.ts";
import type { AcknowledgedIds } from "./lost-writes.ts";
import type { CheckEvents } from "./outgoing-events.ts";
import type { PrepareOptions } from "./prepare-ingest.ts";
import type { Registry } from "./registry.ts";
import type { RunEnd } from "./run-ends.ts";
import { RunsAtWork } from "./runs-at-work.ts";
import { SlotWaiters } from "./slot-waiters.ts";
import type { StoreHealth } from "./store-health.ts";
import type { StoreTime } from "./store-time.ts";
import { tellTakeover, tellWaiting } from "./tell-run.ts";
import type { Telling } from "./telling.ts";
import { Upkeep } from "./upkeep.ts";

export interface WorkerOptions {
  readonly store: Store;
  readonly platform: Platform;
  readonly env: string;
  readonly tracing: Tracing;
  readonly traces: EventTraces;
  readonly registry: Registry;
  readonly expressions: Expressions;
  readonly turns: Turns;
  readonly time: StoreTime;
  readonly newId: () => string;
  readonly random: () => number;
  readonly codes: ReadonlyMap<string, Code>;
  readonly telling: Telling;
  readonly health: Pick<StoreHealth, "report">;
  readonly runsInFlight: number;
  /** Of outcomes that runs at work keep in memory. */
  readonly bytesInFlight: number;
  /** Whether lines of the code's logger are kept with its runs. */
  readonly keepsLogs: boolean;
  readonly leaseTermMs: number;
  /** For so long its main thread may show no life before it loses its leases. */
  readonly blockedMaxMs: number;
  readonly about?: WorkerAbout | undefined;
  /** False for one that works for seconds: its leases are extended by the main thread alone. */
  readonly stays: boolean;
  readonly eventWindowMs: number;
  readonly checkEvents: CheckEvents;
  /** What the store acknowledged; null where it is not remembered. */
  readonly acknowledged: AcknowledgedIds | null;
  readonly onEnded: (runId: string, end: RunEnd) => void;
  /** A run is no longer at work here, and has not ended as far as this worker knows. */
  readonly onLeft: (runId: string) => void;
  /** For an event that cancels runs. */
  readonly cancelRun: (runId: string, reason: string) => Promise<unknown>;
}

export class Worker {
  readonly names: LeaseNames;
  private readonly runs: RunsAtWork;
  readonly bytes: BytesInFlight;
  /** The last lease left something that did not fit. */
  private wasCut = false;
  /** Whether the last look for due work was answered. */
  private hasLooked = false;
  private reserved = 0;
  /** Another one of this process over the same store, while a sweep has one of its own. */
  sweeping: Worker | null = null;
  /** Runs cancelled here while a lease was on its way: its answer may still name them. */
  private readonly cancelled = new Set<string>();
  private readonly telling: JobTelling;
  private leasing = false;
  private again = false;
  private state: "new" | "running" | "stopping" | "stopped" = "new";
  private readonly alarm: DueAlarm;
  private readonly upkeep: Upkeep;
  private readonly beside: ExtendBeside;
  private readonly idleWaiters: (() => void)[] = [];
  readonly slotWaiters = new SlotWaiters();
  readonly stepIds = new StepIds();
  readonly plans = new SiblingPlans();
  private readonly caps: CapsOfCodes;
  /** Counts for people and tests: what happened since the process started. */
  readonly counts = { leased: 0, entered: 0, fenced: 0, rescued: 0 };

  constructor(private readonly options: WorkerOptions) {
    const { store, platform, time, newId, leaseTermMs, about } = options;
    this.bytes = new BytesInFlight(options.bytesInFlight, () => this.poke());
    this.caps = new CapsOfCodes(options.codes, options.registry);
    this.runs = new RunsAtWork(this, options);
    this.alarm = new DueAlarm(platform, time, () => this.poke());
    this.names = new LeaseNames({
      store,
      platform,
      time,
      newId,
      leaseTermMs,
      about,
      othersTakeOver: store.shared !== null,
      isUsed: (name) => this.runs.isUsed(name),
      giveUp: (name, why) => this.runs.giveUp(why, name),
      onFreed: () => this.poke(),
      report: (what, error) => this.report(what, error),
    });
    this.beside = new ExtendBeside({
      ...options,
      names: this.names,
      report: (what, error) => this.report(what, error),
    });
    this.telling = new JobTelling({
      platform,
      isStopped: () => this.stopped,
      tellOne: async (job) => {
        if (job.kind === "announce") this.takeIn(await announceEnd(job, this, options), null);
        else this.wake(await deliverEvent(job, options, () => this.state !== "stopped"));
      },
      onSettled: () => this.settled(),
      report: (what, error) => this.report(what, error),
    });
    this.upkeep = new Upkeep({
      ...options,
      names: this.names,
      poke: () => this.poke(),
      onRescued: (count) => {
        this.counts.rescued += count;
      },
      report: (what, error) => this.report(what, error),
    });
  }

  async start(): Promise<void> {
    await this.names.beat();
    // Before anything can run, and before the sweep, which may take long: a first step that blocks the event loop must find its lease renewed.
    if (this.options.stays) this.beside.start();
    await this.upkeep.sweep();
    if (this.state !== "new") return;
    this.state = "running";
    this.upkeep.start();
    this.poke();
  }

  /** Finish what runs, hand back the rest at once; `beside` is what else of this process is still asking the store for work. */
  async stop(graceMs: number, beside: Promise<unknown> = Promise.resolve()): Promise<void> {
    const before = this.state;
    this.state = before === "running" ? "stopping" : "stopped";
    if (before === "new") await this.beside.stop()?.close();
    if (before !== "running") return;
    this.alarm.cancel();
    this.upkeep.stopLooking();
    const draining = Promise.all(this.runs.passes.map((pass) => pass.drain()));
    let grace: Timer | null = null;
    await Promise.race([
      // What is being leased or accepted right now is handed back too, so its answer must be in first.
      Promise.all([draining, beside]).then(() => this.idle()),
      new Promise<void>((resolve) => {
        grace = this.options.platform.timer(graceMs, resolve);
      }),
    ]);
    (grace as Timer | null)?.cancel();
    this.runs.giveUp("the process is stopping");
    this.state = "stopped";
    this.upkeep.stop();
    const beats = this.beside.stop();
    await this.names.close();
    await beats?.close();
  }

  /** When something becomes due by itself; null for never, undefined while the last look failed. */
  get nextDueAt(): number | null | undefined {
    return this.hasLooked ? this.alarm.at : undefined;
  }

  /** Whether its lease has surely not ended: the store heard of it in time. */
  get isBeating(): boolean {
    return this.names.trusts(this.names.current);
  }

  get isRunning(): boolean {
    return !this.stopped;
  }

  private get stopped(): boolean {
    return this.state !== "running";
  }

  /** Slots for runs that are about to be accepted; the worker to lease them to, or null when all are taken. */
  reserve(fn: string): string | null {
    if (this.stopped || this.names.enlisted === null || !this.options.codes.has(fn)) return null;
    if (this.free <= 0 || !this.bytes.hasRoomFor(fn)) return null;
    this.reserved++;
    return this.names.current;
  }

  unreserve(count: number): void {
    const wasFull = this.free <= 0;
    this.reserved -= count;
    // Slots that were kept for duplicates may have made the loop pass over due work.
    if (wasFull && this.free > 0) this.poke();
    this.settled();
  }

  private get free(): number {
    if (this.bytes.isFull) return 0;
    return this.options.runsInFlight - this.runs.inFlight - this.reserved;
  }

  /** A run whose code is at work of its own accord, and not because we called it, takes no slot while that lasts. */
  guest(runId: string, isGuest: boolean): void {
    this.runs.guest(runId, isGuest);
    if (this.free === 1) this.poke();
  }

  get takesDeliveries(): string | null {
    return this.stopped ? null : this.names.enlisted;
  }

  /** `leasedTo` is the name they were leased to, which may have been given up meanwhile. */
  take(jobs: readonly LeasedJob[], leasedTo: string | null): void {
    if (jobs.length === 0 || leasedTo === null) return;
    if (!this.names.holds(leasedTo)) {
      void this.names.handBack(leasedTo);
      return;
    }
    // Nothing begins any more: they go back together with the runs that are being finished.
    if (this.stopped) return;
    for (const job of jobs) {
      if (job.kind === "run") {
        tellTakeover(job, this.options);
        if (!this.isCancelled(job.memo.run.id)) this.runs.execute(job, leasedTo);
      } else void this.telling.tell(job);
    }
  }

  /** Something may be due. */
  poke(): void {
    if (this.stopped) return;
    if (this.leasing) {
      this.again = true;
      return;
    }
    void this.lease();
  }

  /** Runs in line go first; then steps are told that wait beside others of their run. */
  slotsFreed(): void {
    this.slotWaiters.freed();
    this.poke();
  }

  /** Nobody in line wants them. */
  gaveSlotsBack(): void {
    if (!this.slotWaiters.isEmpty) this.slotsFreed();
  }

  wake(woken: readonly WokenRun[]): void {
    for (const { runId, leasedBy } of woken) {
      if (leasedBy === null) this.poke();
      else this.activePass(runId)?.poke();
    }
  }

  takeIn(ingested: Omit<Ingested, "kind"> | null, leasedTo: string | null): void {
    if (ingested === null) return;
    this.madeRoom(ingested.cancelled);
    tellWaiting(ingested.decisions, this.options);
    this.take(ingested.leased, leasedTo);
    if (ingested.queued) this.poke();
    if (ingested.dueAt !== null) this.alarmAt(ingested.dueAt);
  }

  /** Runs that the store cancelled for others that take their place. */
  private madeRoom(cancelled: readonly CancelledRun[]): void {
    for (const { runId, result } of cancelled) {
      this.cancel(runId);
      this.options.onEnded(runId, { state: "cancelled", result });
    }
  }

  async signal(signal: string, json: string, byHand?: Audited): Promise<string | null> {
    const { store, env } = this.options;
    const answer = await store.signal(env, signal, { kind: "value", json }, byHand);
    if (answer.kind === "nobody-waits") return null;
    this.wake([answer.woken]);
    return answer.woken.runId;
  }

  /** What functions allow is another, or will be by itself. */
  limitsChanged(): void {
    if (this.state !== "running") return;
    const end = this.options.registry.nextLimitEnd;
    if (end !== null) this.alarmAt(end);
    this.poke();
  }

  codesChanged(): void {
    this.caps.changed();
  }

  /** The run is cancelled: nothing of it begins in this process any more. */
  cancel(runId: string): void {
    this.leave(runId);
    this.sweeping?.leave(runId);
  }

  private leave(runId: string): void {
    this.activePass(runId)?.giveUp("the run is cancelled");
    if (this.leasing || this.reserved > 0) this.cancelled.add(runId);
  }

  isCancelled(runId: string): boolean {
    return this.cancelled.has(runId);
  }

  activePass(runId: string): Pass | null {
    return this.runs.get(runId)?.pass ?? null;
  }

  get activePasses(): readonly Pass[] {
    return this.runs.passes;
  }

  /** The pass under way and the fence it holds; null when this process does not execute the run. */
  activeDispatch(runId: string): { readonly pass: Pass; readonly fence: number } | null {
    return this.runs.get(runId);
  }

  /** Resolves once nothing runs, nothing is being delivered and nothing is being leased. */
  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
    });
  }

  private isIdle(): boolean {
    return this.runs.isEmpty && this.reserved === 0 && this.telling.isIdle && !this.leasing && !this.again;
  }

  private settled(): void {
    if (!this.leasing && this.reserved === 0) this.cancelled.clear();
    if (!this.isIdle()) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  // ------------------------------------------------------------------------------------------------ leasing

  /** One bounded pass: lease what is due and fits, execute it. */
  private async lease(): Promise<void> {
    const { options } = this;
    this.leasing = true;
    try {
      do {
        this.again = false;
        const worker = this.names.enlisted;
        if (this.free <= 0 || worker === null) break;
        const max = Math.min(this.free, limits.leaseBatch);
        const askedMono = options.platform.monoMs();
        const { functions, caps, codes } = this.caps.read();
        const answer = await options.store
          .lease({ env: options.env, worker, functions, caps, codes, max, room: this.bytes.room })
          .catch((error) => {
            this.names.doubt(worker, error);
            throw error;
          });
        options.time.note(askedMono, answer.now);
        this.hasLooked = true;
        const point = options.platform.point("lease:after-commit");
        if (point !== undefined) await point;
        this.madeRoom(answer.flushed?.cancelled ?? []);
        this.counts.leased += answer.jobs.length;
        this.wasCut = answer.isCut === true;
        this.take(answer.jobs, worker);
        if (answer.jobs.length === max) this.again = true;
        if (answer.nextDueAt !== null) this.alarmAt(answer.nextDueAt);
        const limitEnd = options.registry.nextLimitEnd;
        if (limitEnd !== null) this.alarmAt(limitEnd);
      } while (this.again && !this.stopped);
    } catch (error) {
      this.hasLooked = false;
      this.report("lease", error);
    } finally {
      this.leasing = false;
      this.again = false;
      this.slotWaiters.askAgain();
      this.settled();
    }
  }

  alarmAt(at: number): void {
    if (!this.stopped) this.alarm.set(at);
  }

  get isFull(): boolean {
    return this.free <= 0;
  }

  /** A run is over, or given back. */
  runLeft(wasFull: boolean): void {
    // A full house may have left due work behind. Asked before the place was freed: many may leave in one turn.
    if (wasFull || this.wasCut) this.poke();
    this.gaveSlotsBack();
    this.settled();
  }

  prepare(): PrepareOptions {
    const { env, registry, expressions, time, newId, eventWindowMs } = this.options;
    return { env, registry, expressions, now: time.now(), newId, eventWindowMs };
  }

  report(what: string, error: unknown): void {
    // Before it runs, too: the heartbeat thread is started first.
    if (this.stopped && this.state !== "new") return;
    this.options.health.report(what, error);
  }
}
