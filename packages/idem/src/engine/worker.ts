// Holds leases and turns them into facts: executes runs, delivers events to waits, keeps its lease alive.
// One bounded pass (`tick`) leases what is due; the loop sleeps until something is due, someone pokes it, or the poll is over.
import { executeRun, payloadOf } from "../execute/execute-run.ts";
import type { FunctionCode, Logger } from "../execute/function-code.ts";
import type { Pass } from "../execute/pass.ts";
import type { Patch, RunPorts } from "../execute/ports.ts";
import { IdemError } from "../model/errors.ts";
import type { Expressions } from "../model/expression.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import { probesOf, wokenBy } from "../schedule/wake-waits.ts";
import type { AdvanceAnswer, Ingested, LeasedJob, RunMemo, Store, WokenRun } from "../store/store.ts";
import { endEvents } from "./end-events.ts";
import { limits } from "./limits.ts";
import { eventsOfSends, type PrepareOptions, planNested, RunIds } from "./prepare-ingest.ts";
import type { Registry } from "./registry.ts";
import type { StoreTime } from "./store-time.ts";

type RunJob = Extract<LeasedJob, { kind: "run" }>;
type DeliverJob = Extract<LeasedJob, { kind: "deliver" }>;

export interface WorkerOptions {
  readonly store: Store;
  readonly platform: Platform;
  readonly env: string;
  readonly registry: Registry;
  readonly expressions: Expressions;
  readonly time: StoreTime;
  readonly newId: () => string;
  readonly random: () => number;
  readonly codes: ReadonlyMap<string, FunctionCode>;
  readonly logger: Logger;
  readonly runsInFlight: number;
  readonly leaseTermMs: number;
  readonly eventWindowMs: number;
  readonly onEnded: (runId: string) => void;
}

export class Worker {
  id: string;
  private readonly active = new Map<string, { pass: Pass; done: Promise<void> }>();
  private reserved = 0;
  private delivering = 0;
  private leasing = false;
  private again = false;
  private stopped = true;
  private lastBeatMono: number | null = null;
  private alarm: { at: number; timer: Timer } | null = null;
  private housekeeping: Timer[] = [];
  private readonly idleWaiters: (() => void)[] = [];
  /** Counts for people and tests: what happened since the process started. */
  readonly counts = { ticks: 0, leased: 0, fenced: 0, rescued: 0 };

  constructor(private readonly options: WorkerOptions) {
    this.id = options.newId();
  }

  async start(): Promise<void> {
    await this.beat();
    await this.sweep();
    this.stopped = false;
    this.every(limits.heartbeatMs, () => this.beat());
    this.every(limits.sweepMs, () => this.sweep());
    this.every(limits.pollMs, async () => this.poke());
    this.poke();
  }

  /** Finish what runs, hand back the rest at once. */
  async stop(graceMs: number): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    this.alarm?.timer.cancel();
    for (const timer of this.housekeeping) timer.cancel();
    const draining = Promise.all([...this.active.values()].map(({ pass, done }) => pass.drain().then(() => done)));
    let grace: Timer | null = null;
    await Promise.race([
      draining,
      new Promise<void>((resolve) => {
        grace = this.options.platform.timer(graceMs, resolve);
      }),
    ]);
    (grace as Timer | null)?.cancel();
    for (const { pass } of this.active.values()) pass.giveUp("the process is stopping");
    await this.options.store.handBack(this.id);
  }

  /** Slots for runs that are about to be accepted; the worker to lease them to, or null when all are taken. */
  reserve(fn: string): string | null {
    if (this.stopped || !this.options.codes.has(fn)) return null;
    if (this.active.size + this.reserved >= this.options.runsInFlight) return null;
    this.reserved++;
    return this.id;
  }

  unreserve(count: number): void {
    this.reserved -= count;
  }

  get takesDeliveries(): string | null {
    return this.stopped ? null : this.id;
  }

  take(jobs: readonly LeasedJob[]): void {
    for (const job of jobs) {
      if (job.kind === "run") this.execute(job);
      else void this.deliver(job);
    }
  }

  /** Something may be due. */
  poke(): void {
    if (this.stopped) return;
    if (this.leasing) {
      this.again = true;
      return;
    }
    void this.tick();
  }

  wake(woken: readonly WokenRun[]): void {
    for (const { runId, leasedBy } of woken) {
      if (leasedBy === null) this.poke();
      else this.active.get(runId)?.pass.poke();
    }
  }

  takeIn(ingested: Ingested | null): void {
    if (ingested === null) return;
    this.take(ingested.leased);
    if (ingested.queued) this.poke();
  }

  activePass(runId: string): Pass | null {
    return this.active.get(runId)?.pass ?? null;
  }

  /** Resolves once nothing runs, nothing is being delivered and nothing is being leased. */
  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
    });
  }

  private isIdle(): boolean {
    return this.active.size === 0 && this.reserved === 0 && this.delivering === 0 && !this.leasing && !this.again;
  }

  private settled(): void {
    if (!this.isIdle()) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  // ------------------------------------------------------------------------------------------------ leasing

  /** One bounded pass: lease what is due and fits, execute it. */
  private async tick(): Promise<void> {
    const { options } = this;
    this.leasing = true;
    try {
      do {
        this.again = false;
        const free = options.runsInFlight - this.active.size - this.reserved;
        if (free <= 0) break;
        this.counts.ticks++;
        const max = Math.min(free, limits.leaseBatch);
        const askedMono = options.platform.monoMs();
        const answer = await options.store.lease({
          env: options.env,
          worker: this.id,
          functions: [...options.codes.keys()],
          max,
        });
        options.time.note(askedMono, answer.now);
        const point = options.platform.point("lease:after-commit");
        if (point !== undefined) await point;
        this.counts.leased += answer.jobs.length;
        this.take(answer.jobs);
        if (answer.jobs.length === max) this.again = true;
        if (answer.nextDueAt !== null) this.alarmAt(answer.nextDueAt);
      } while (this.again && !this.stopped);
    } catch (error) {
      this.report("lease", error);
    } finally {
      this.leasing = false;
      this.again = false;
      this.settled();
    }
  }

  /** Wakes the loop at this time of the store's clock, or earlier if an earlier alarm is set. */
  private alarmAt(at: number): void {
    if (this.stopped || at >= Number.MAX_SAFE_INTEGER) return;
    if (this.alarm !== null && this.alarm.at <= at) return;
    this.alarm?.timer.cancel();
    const timer = this.options.platform.timer(Math.max(0, at - this.options.time.now()), () => {
      this.alarm = null;
      this.poke();
    });
    this.alarm = { at, timer };
  }

  // ------------------------------------------------------------------------------------------------ executing

  private execute(job: RunJob): void {
    const { options } = this;
    const { memo } = job;
    const runId = memo.run.id;
    const code = options.codes.get(memo.run.fn);
    // Leases name the functions this process has; a run of another one here would be a defect of the store.
    if (code === undefined) return;
    const ports = this.portsOf(job);
    const { pass, result } = executeRun(code, options.env, memo, job.lostWorkers, ports, options.logger, limits);
    const done = result
      .then((ended) => {
        if (ended.kind === "suspended" && ended.dueAt !== null) this.alarmAt(ended.dueAt);
        if (ended.kind === "ended") options.onEnded(runId);
        if (ended.kind === "lost") this.counts.fenced++;
      })
      .catch((error) => this.report(`run ${runId}`, error))
      .finally(() => {
        if (this.active.get(runId)?.pass === pass) this.active.delete(runId);
        // A full house may have left due work behind.
        if (this.active.size + this.reserved === options.runsInFlight - 1) this.poke();
        this.settled();
      });
    this.active.set(runId, { pass, done });
  }

  private portsOf(job: RunJob): RunPorts {
    const { platform, time, newId, random, store, env, expressions } = this.options;
    const runId = job.memo.run.id;
    return {
      now: () => time.now(),
      random,
      newId,
      soon: (run) => platform.soon(run),
      timer: (ms, run) => platform.timer(ms, run),
      point: (name) => platform.point(name),
      fetch: (request) => platform.fetch(request),
      advance: (patch, seen) => this.advance(job, patch, seen),
      checkSends: (sends) => {
        eventsOfSends(sends, runId, this.prepare());
      },
      checkExpression: (expression) => {
        expressions.get(expression);
      },
      signal: async (signal, json) => {
        const answer = await store.signal(env, signal, { kind: "value", json });
        if (answer.kind === "nobody-waits") return null;
        this.wake([answer.woken]);
        return answer.woken.runId;
      },
    };
  }

  prepare(): PrepareOptions {
    const { registry, expressions, time, newId, eventWindowMs } = this.options;
    return { registry, expressions, now: time.now(), newId, eventWindowMs };
  }

  private async advance(job: RunJob, patch: Patch, seen: number): Promise<AdvanceAnswer> {
    const { options } = this;
    const { memo } = job;
    const runIds = new RunIds(options.newId);
    const endIds = [options.newId(), options.newId()];
    for (;;) {
      const nested = this.nestedOf(memo, patch, runIds, endIds);
      const askedMono = options.platform.monoMs();
      const answer = await this.persist(() =>
        options.store.advance({
          env: options.env,
          worker: this.id,
          runId: memo.run.id,
          jobId: job.jobId,
          fence: job.fence,
          steps: patch.steps ?? [],
          attempts: patch.attempts ?? [],
          waits: nested.waits,
          ingest: nested.ingest,
          seen,
          next: patch.next,
        }),
      );
      if (answer.kind === "stale-registration") {
        await options.registry.refresh();
        continue;
      }
      if (answer.kind === "advanced") {
        options.time.note(askedMono, answer.now);
        if (patch.next.kind === "end") {
          const point = options.platform.point("finish:after-commit");
          if (point !== undefined) await point;
        }
        this.takeIn(answer.ingested);
        this.wake(answer.woken);
      }
      return answer;
    }
  }

  private nestedOf(memo: RunMemo, patch: Patch, runIds: RunIds, endIds: readonly string[]) {
    const sends = patch.sends ?? [];
    const waits = patch.waits ?? [];
    if (sends.length === 0 && waits.length === 0 && patch.next.kind !== "end") return { waits: [], ingest: null };
    const prepare = this.prepare();
    const ended =
      patch.next.kind === "end"
        ? endEvents(
            { id: memo.run.id, fn: memo.run.fn, event: memo.event },
            patch.next.state,
            patch.next.result,
            endIds,
            prepare,
            runIds,
          )
        : null;
    return planNested(sends, waits, ended, memo.run.id, prepare, runIds);
  }

  /** A step's outcome must not be lost because the store is busy for a moment: wait and offer it again. */
  private async persist<T>(write: () => Promise<T>): Promise<T> {
    for (let delayMs = 10; ; delayMs = Math.min(delayMs * 2, 1_000)) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof IdemError) || error.code !== "STORE_BUSY") throw error;
        await new Promise<void>((resolve) => this.options.platform.timer(delayMs, resolve));
      }
    }
  }

  // ------------------------------------------------------------------------------------------------ delivering

  private async deliver(job: DeliverJob): Promise<void> {
    const { store, env, expressions, platform } = this.options;
    this.delivering++;
    try {
      const { event } = job;
      const payload = payloadOf({ event });
      const paths = await store.reads.waitPaths(env, event.name);
      const candidates = await store.reads.waitCandidates(env, event.id, probesOf(payload, paths));
      const woken = wokenBy(payload, candidates, (candidate) => payloadOf(candidate), expressions);
      const before = platform.point("deliver:before-commit");
      if (before !== undefined) await before;
      const answer = await this.persist(() =>
        store.resume({
          env,
          jobId: job.jobId,
          fence: job.fence,
          waits: woken.map(({ runId, stepId }) => ({ runId, stepId })),
          outcome: { kind: "value", json: JSON.stringify(payload) },
        }),
      );
      const after = platform.point("deliver:after-commit");
      if (after !== undefined) await after;
      if (answer.kind === "resumed") this.wake(answer.woken);
    } catch (error) {
      this.report(`event ${job.event.id}`, error);
    } finally {
      this.delivering--;
      this.settled();
    }
  }

  // ------------------------------------------------------------------------------------------------ staying alive

  private every(ms: number, run: () => Promise<void>): void {
    const slot = this.housekeeping.length;
    const arm = () => {
      this.housekeeping[slot] = this.options.platform.timer(
        ms,
        () => {
          if (this.stopped) return;
          void run().finally(() => {
            if (!this.stopped) arm();
          });
        },
        { background: true },
      );
    };
    arm();
  }

  private async beat(): Promise<void> {
    const { store, platform, time, leaseTermMs, newId } = this.options;
    try {
      const askedMono = platform.monoMs();
      // Past three quarters of its term, measured by its own steady clock, a holder no longer trusts its lease.
      const trusted = this.lastBeatMono === null || askedMono - this.lastBeatMono < leaseTermMs * 0.75;
      const { alive, now } = await store.heartbeat(this.id, leaseTermMs);
      time.note(askedMono, now);
      this.lastBeatMono = askedMono;
      if (alive && trusted) return;
      // Declared lost while this process was frozen: others have the runs. Start over under a new name.
      for (const { pass } of this.active.values()) pass.giveUp("this worker was declared lost");
      if (alive) await store.handBack(this.id);
      this.id = newId();
      await store.heartbeat(this.id, leaseTermMs);
      this.poke();
    } catch (error) {
      this.report("heartbeat", error);
    }
  }

  private async sweep(): Promise<void> {
    try {
      for (;;) {
        const swept = await this.options.store.sweep({ max: limits.sweepRowsMax, repair: false });
        const point = this.options.platform.point("rescue:after-commit");
        if (point !== undefined) await point;
        this.counts.rescued += swept.rescued;
        if (swept.queued) this.poke();
        // Each pass is bounded so that others get their turn; what is left is taken up at once.
        if (swept.rescued < limits.sweepRowsMax) return;
      }
    } catch (error) {
      this.report("sweep", error);
    }
  }

  private report(what: string, error: unknown): void {
    if (this.stopped) return;
    this.options.logger.error(`idem: ${what} failed`, error);
  }
}
