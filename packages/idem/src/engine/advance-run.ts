// One commit of a run that this worker holds: asked until the store answers, taken in, told. On the path of every step: what most do not
// need (ids, decisions about events) is made where it is.
import type { Code } from "../execute/function-code.ts";
import type { Patch } from "../execute/ports.ts";
import type { BesideLevel } from "../execute/step-slots.ts";
import { type BesideAsked, besideCaps } from "../flow/concurrency/beside.ts";
import { Answer, type AnswerTo } from "../model/answer.ts";
import type { NewLog } from "../model/log-line.ts";
import type { TracedRun } from "../observe/trace-run.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput } from "../store/advance.ts";
import { endEvents } from "./end-events.ts";
import { persistAfter } from "./persist.ts";
import { decideSends, type NestedPlan, noSends, planNested, RunIds, type SentEvents } from "./prepare-ingest.ts";
import { raiseDiverged } from "./raise-diverged.ts";
import type { RunJob } from "./run-ports.ts";
import { tellAdvanced } from "./tell-run.ts";
import type { Worker, WorkerOptions } from "./worker.ts";

const none: readonly never[] = [];
const nothingNested = { waits: none, ingest: null };

/** A run that is at work here. */
export interface HeldRun {
  readonly job: RunJob;
  /** The name it was leased to. */
  readonly heldBy: string;
  readonly code: Code;
  readonly trace: TracedRun | null;
  readonly worker: Worker;
  readonly options: WorkerOptions;
}

export class AdvanceRun implements AnswerTo<AdvanceAnswer> {
  private runIds: RunIds | null = null;
  private endIds: readonly string[] | null = null;
  private nested: Pick<NestedPlan, "waits" | "ingest"> = nothingNested;
  private tries = 0;
  private askedMono = 0;

  constructor(
    private readonly held: HeldRun,
    private readonly patch: Patch,
    private readonly seen: number,
    private readonly log: NewLog | null,
    private readonly to: AnswerTo<AdvanceAnswer>,
  ) {}

  /** Patches go to the store in the order of asking: only one with events to decide on waits before it asks. */
  ask(): void {
    const { patch } = this;
    if ((patch.sends?.length ?? 0) > 0) {
      this.after(this.decideFirst(), () => this.store());
      return;
    }
    if ((patch.waits?.length ?? 0) > 0 || patch.next.kind === "end") this.nest(null);
    this.store();
  }

  private store(): void {
    this.askedMono = this.held.options.platform.monoMs();
    const answer = this.write();
    if (answer instanceof Answer) answer.tell(this);
    else
      answer.then(
        (value) => this.answered(value),
        (error) => this.failed(error),
      );
  }

  failed(error: unknown): void {
    persistAfter(
      error,
      this.held.options.platform,
      () => this.write(),
      () => this.isNeeded,
    ).then(
      (answer) => this.answered(answer),
      (failure) => this.to.failed(failure),
    );
  }

  private async decideFirst(): Promise<void> {
    const { turns } = this.held.options;
    const { trace } = this.held;
    const sends = trace === null ? this.patch.sends! : this.patch.sends!.map((event) => trace.noted(event));
    // The same on every try: a second one must not start a second run.
    this.runIds ??= new RunIds(this.held.options.newId);
    this.nest(await decideSends(sends, this.held.worker.prepare(), this.runIds, turns));
  }

  private nest(sent: SentEvents | null): void {
    const { newId } = this.held.options;
    const { memo } = this.held.job;
    const { next, waits = none } = this.patch;
    this.runIds ??= new RunIds(newId);
    this.endIds ??= [newId(), newId()];
    const prepare = this.held.worker.prepare();
    const { event, events } = memo;
    const traceparent = this.held.trace?.traceparent ?? null;
    const run = { id: memo.run.id, fn: memo.run.fn, event, events, traceparent };
    const ended =
      next.kind === "end" ? endEvents(run, next.state, next.result, this.endIds, prepare, this.runIds) : null;
    this.nested = planNested(sent ?? noSends(prepare), waits, ended, prepare);
  }

  private write(): Promise<AdvanceAnswer> {
    this.tries++;
    const { patch, nested, log } = this;
    const { job } = this.held;
    // Fields one by one: docs/performance.md#objects.
    const input: AdvanceInput = {
      env: this.held.options.env,
      worker: this.held.heldBy,
      runId: job.memo.run.id,
      jobId: job.jobId,
      fence: job.fence,
      steps: patch.steps ?? none,
      attempts: patch.attempts?.map(({ counted: _counted, ...attempt }) => attempt) ?? none,
      waits: nested.waits,
      ingest: nested.ingest,
      seen: this.seen,
      next: patch.next,
    };
    const { beside } = patch;
    const { store } = this.held.options;
    if (beside === undefined && log === null) return store.advance(input);
    return store.advance({
      ...input,
      ...(log === null ? {} : { log }),
      ...(beside === undefined ? {} : { beside: this.beside(beside) }),
    });
  }

  /** By the newest configuration, as leases go by it. */
  private beside(level: BesideLevel): BesideAsked {
    const { job, code, options } = this.held;
    const config = options.registry.get(job.memo.run.fn)?.config ?? code.config;
    return { ...level, caps: besideCaps(config.concurrency) };
  }

  private get isNeeded(): boolean {
    return this.held.worker.names.holds(this.held.heldBy);
  }

  /** A defect of ours closes the pass: the run must not be left unattended. */
  answered(answer: AdvanceAnswer): void {
    try {
      if (this.hear(answer)) this.to.answered(answer);
    } catch (error) {
      this.to.failed(error);
    }
  }

  private after(first: Promise<void>, go: () => void): void {
    first.then(go).catch((error) => this.to.failed(error));
  }

  /** False where something comes before it is passed on. */
  private hear(answer: AdvanceAnswer): boolean {
    const { patch } = this;
    const { options, code, job } = this.held;
    if (answer.kind === "stale-registration") {
      this.tries = 0;
      this.after(options.registry.refresh(), () => this.ask());
      return false;
    }
    if (answer.kind === "advanced") {
      options.time.note(this.askedMono, answer.now);
      const point = patch.next.kind === "end" ? options.platform.point("finish:after-commit") : undefined;
      if (point !== undefined) {
        this.after(point, () => {
          this.tell(answer);
          this.to.answered(answer);
        });
        return false;
      }
      this.tell(answer);
      return true;
    }
    // A run that was given back knows its fence no more: the try whose answer was lost may have been the one that counted.
    if (answer.kind === "fenced" && this.tries > 1) tellAdvanced(patch, null, job.memo, code, options);
    return true;
  }

  private tell(answer: Advanced): void {
    const { patch } = this;
    const { options, worker, code, trace, job } = this.held;
    const { store, env, newId, acknowledged } = options;
    const { memo } = job;
    if (acknowledged !== null) {
      if (answer.ingested !== null) acknowledged.events(answer.ingested.events, answer.now);
      if (patch.next.kind === "end") acknowledged.runEnd(memo.run.id, answer.now);
    }
    worker.takeIn(answer.ingested, null);
    if (trace !== null && answer.ingested !== null) {
      options.traces.decided(this.nested.ingest?.events ?? none, answer.ingested.decisions);
    }
    worker.wake(answer.woken);
    if (answer.freed) worker.slotsFreed();
    tellAdvanced(patch, answer, memo, code, options);
    const failed = (what: string, error: unknown) => options.health.report(what, error);
    raiseDiverged(patch, memo.run, { store, env, newId, failed });
  }
}
