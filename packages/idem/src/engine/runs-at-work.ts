// Runs that this worker has leased and executes, from their lease to how their pass ended.
import { Execution } from "../execute/execution.ts";
import type { Code } from "../execute/function-code.ts";
import type { Pass } from "../execute/pass.ts";
import type { PassResult } from "../execute/ports.ts";
import { type ErrorCode, IdemError } from "../model/errors.ts";
import { isEnded } from "../model/run.ts";
import { type TracedRun, traceRun } from "../observe/trace-run.ts";
import type { HeldRun } from "./advance-run.ts";
import type { RunShare } from "./bytes-in-flight.ts";
import { letGo } from "./let-go.ts";
import { limits } from "./limits.ts";
import { type RunJob, WorkerPorts } from "./run-ports.ts";
import type { Worker, WorkerOptions } from "./worker.ts";

export class RunsAtWork {
  private readonly active = new Map<string, RunAtWork>();
  private readonly guests = new Set<string>();

  constructor(
    private readonly worker: Worker,
    private readonly options: WorkerOptions,
  ) {}

  get isEmpty(): boolean {
    return this.active.size === 0;
  }

  /** Those that take a slot. */
  get inFlight(): number {
    return this.active.size - this.guests.size;
  }

  get(runId: string): { readonly pass: Pass; readonly fence: number } | null {
    return this.active.get(runId) ?? null;
  }

  get passes(): readonly Pass[] {
    return Array.from(this.active.values(), ({ pass }) => pass);
  }

  guest(runId: string, isGuest: boolean): void {
    if (isGuest && this.active.has(runId)) this.guests.add(runId);
    else this.guests.delete(runId);
  }

  isUsed(name: string): boolean {
    for (const { heldBy } of this.active.values()) if (heldBy === name) return true;
    return false;
  }

  /** Those of one name, or all. */
  giveUp(why: string, name?: string): void {
    for (const { pass, heldBy } of this.active.values()) if (name === undefined || heldBy === name) pass.giveUp(why);
  }

  execute(job: RunJob, heldBy: string, delayMs: number = limits.brokenDelayMs): void {
    const { worker, options } = this;
    const { memo } = job;
    const { id: runId, fn } = memo.run;
    const code = options.codes.get(fn);
    // One that this process is executing under the same fence would be a defect of the store: its code must not be entered twice.
    if (this.active.get(runId)?.fence === job.fence) return;
    if (code === undefined) {
      this.letGo(job, heldBy);
      return;
    }
    worker.counts.entered++;
    const { tracing, env, registry } = options;
    const trace = tracing.isOn ? traceRun({ tracing, env, memo, name: registry.displayName(fn) }) : null;
    const run = new RunAtWork(job, heldBy, code, trace, worker, options, worker.bytes.open(fn));
    run.pass.state.onOver = (result) => this.over(run, result, delayMs);
    this.active.set(runId, run);
    run.execution.enter();
  }

  private over(run: RunAtWork, ended: PassResult, delayMs: number): void {
    const { worker, options } = this;
    const { job, heldBy } = run;
    const runId = job.memo.run.id;
    let wasFull = false;
    try {
      run.trace?.over(outcomeOf(ended));
      // Before its end is announced: a wait that begins from here on must look, or would wait for news that is already out.
      if (this.active.get(runId) === run) {
        wasFull = worker.isFull;
        this.active.delete(runId);
        this.guests.delete(runId);
      }
      if (ended.kind === "suspended" && ended.dueAt !== null) worker.alarmAt(ended.dueAt);
      if (ended.kind === "ended") options.onEnded(runId, ended.end);
      else options.onLeft(runId);
      if (ended.kind === "lost") worker.counts.fenced++;
      if (ended.kind === "broken") this.mend(job, heldBy, ended.error, delayMs);
    } finally {
      run.share.close();
      worker.names.ended(heldBy);
      worker.runLeft(wasFull);
    }
  }

  private letGo(job: RunJob, heldBy: string): void {
    const { names } = this.worker;
    letGo(job, heldBy, () => names.holds(heldBy), this.options)
      .catch((error) => this.worker.report(`run ${job.memo.run.id}: handing it back`, error))
      .finally(() => names.ended(heldBy));
  }

  /** The store failed in the middle of a run. The lease is still ours, so no other process will take it up: start over from the memo. */
  private mend(job: RunJob, heldBy: string, error: unknown, delayMs: number): void {
    const { worker } = this;
    const { store, env, platform } = this.options;
    const { id } = job.memo.run;
    if (this.isStoreClosed(job, error)) return;
    worker.report(`run ${id}: saving its progress`, error);
    const laterMs = Math.min(delayMs * 2, limits.brokenDelayMsMax);
    const again = async () => {
      if (!worker.isRunning || !worker.names.holds(heldBy) || this.active.has(id)) return;
      try {
        const memo = await store.reads.runMemo(env, id);
        if (memo === null || isEnded(memo.run.state) || worker.isCancelled(id)) return;
        this.execute({ ...job, memo, isAgain: true }, heldBy, laterMs);
      } catch (failure) {
        this.mend(job, heldBy, failure, laterMs);
      }
    };
    platform.timer(delayMs, () => void again(), { background: true });
  }

  /** A store that is closed for good has no end of the run: it is interrupted, not failed, and continues where the store is opened next. */
  private isStoreClosed({ memo }: RunJob, error: unknown): boolean {
    const what = error instanceof IdemError ? closedStores[error.code] : undefined;
    if (what === undefined) return false;
    const { telling, registry } = this.options;
    const { id, fn } = memo.run;
    const facts = `run=${id} function=${JSON.stringify(registry.displayName(fn))}`;
    if (this.worker.isRunning)
      telling.logger.warn(
        `idem: run interrupted, ${what}: it resumes from what is stored when the store is opened again ${facts}`,
      );
    return true;
  }
}

/** What became of a store that this process cannot use any more; the run is in it, as far as it was stored. */
const closedStores: Partial<Record<ErrorCode, string>> = {
  STORE_FILE_GONE: "the store's file is gone",
  STORE_BROKEN: "the store was closed",
};

class RunAtWork implements HeldRun {
  readonly execution: Execution;

  constructor(
    readonly job: RunJob,
    readonly heldBy: string,
    readonly code: Code,
    readonly trace: TracedRun | null,
    readonly worker: Worker,
    readonly options: WorkerOptions,
    readonly share: RunShare,
  ) {
    const ports = new WorkerPorts(this, share);
    this.execution = new Execution(code, options.env, job.memo, job, ports, options.telling, limits);
  }

  get pass(): Pass {
    return this.execution.pass;
  }

  get fence(): number {
    return this.job.fence;
  }
}

/** As its span says it. */
const outcomeOf = (ended: PassResult): string => {
  if (ended.kind === "ended") return ended.end.state;
  return ended.kind === "suspended" ? "waiting" : ended.kind;
};
