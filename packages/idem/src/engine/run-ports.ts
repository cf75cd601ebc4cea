// The ports of a pass, for one leased run: the clock, ids, the store behind its fence.

import type {
  EffectStore,
  InvokedData,
  Patch,
  PlannedSends,
  RunPorts,
  RunRoom,
  RunTrace,
  SlotsPort,
} from "../execute/ports.ts";
import type { SiblingPlans } from "../execute/sibling-plans.ts";
import { countsSteps } from "../flow/concurrency/beside.ts";
import type { AnswerTo } from "../model/answer.ts";
import { payloadOf } from "../model/event.ts";
import { type TakenEquality, takeEquality } from "../model/expression-equality.ts";
import type { NewLog } from "../model/log-line.ts";
import type { MetadataChange } from "../model/metadata.ts";
import type { CrashPoint, HttpRequest, HttpResponse, Timer } from "../platform/platform.ts";
import { noteTrace } from "../protocol/traceparent.ts";
import type { AdvanceAnswer } from "../store/advance.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { LeasedJob } from "../store/leases.ts";
import { AdvanceRun, type HeldRun } from "./advance-run.ts";
import { annotateRun } from "./annotate-run.ts";
import { outgoingEvents } from "./outgoing-events.ts";
import { persist } from "./persist.ts";
import { eventsOfSends, invokedEvent } from "./prepare-ingest.ts";
import type { WorkerOptions } from "./worker.ts";

/** `isAgain`: this process had it before, under the same lease. */
export type RunJob = Extract<LeasedJob, { kind: "run" }> & { readonly isAgain?: true };

/** One for each lease: methods and not functions of its own, for twenty of those would be a kilobyte and a half of every run. */
export class WorkerPorts implements RunPorts {
  readonly slots?: SlotsPort;
  readonly trace?: RunTrace;
  readonly transact?: NonNullable<RunPorts["transact"]>;
  private readonly options: WorkerOptions;

  constructor(
    private readonly held: HeldRun,
    readonly room: RunRoom,
  ) {
    const { trace, options, heldBy, job } = held;
    this.options = options;
    if (countsSteps(held.code.config.concurrency)) this.slots = slotsPort(held);
    if (trace !== null) this.trace = trace;
    const { transactional } = options.store;
    if (transactional === null) return;
    const { jobId, fence } = job;
    const of = { env: options.env, worker: heldBy, runId: this.runId, jobId, fence };
    this.transact = (body) => transactional.run(of, body);
  }

  private get runId(): string {
    return this.held.job.memo.run.id;
  }

  get dispatch(): RunPorts["dispatch"] {
    const { jobId, fence } = this.held.job;
    return { jobId, generation: fence };
  }

  get reportsElsewhere(): boolean {
    return this.options.store.shared !== null;
  }

  get plans(): SiblingPlans {
    return this.held.worker.plans;
  }

  get keepsLogs(): boolean {
    return this.options.keepsLogs;
  }

  get effects(): EffectStore {
    return effectStore(this.held);
  }

  now(): number {
    return this.options.time.now();
  }

  reached(): number {
    return this.options.time.reached();
  }

  random(): number {
    return this.options.random();
  }

  newId(): string {
    return this.options.newId();
  }

  stepId(name: string, repeat: number): string {
    return this.held.worker.stepIds.of(name, repeat);
  }

  soon(run: () => void): void {
    this.options.platform.soon(run);
  }

  timer(ms: number, run: () => void): Timer {
    return this.options.platform.timer(ms, run);
  }

  point(name: CrashPoint): void | Promise<void> {
    return this.options.platform.point(name);
  }

  fetch(request: HttpRequest): Promise<HttpResponse> {
    return this.options.platform.fetch(request);
  }

  isHeld(): boolean {
    return this.held.worker.names.mayBegin(this.held.heldBy);
  }

  advance(patch: Patch, seen: number, log: NewLog | null, to: AnswerTo<AdvanceAnswer>): void {
    new AdvanceRun(this.held, patch, seen, log, to).ask();
  }

  async acceptSends(sends: PlannedSends): Promise<readonly NewEvent[]> {
    const events = await outgoingEvents(sends.events, this.held.code.middleware, this.options.checkEvents);
    const accepted = eventsOfSends({ ...sends, events }, this.runId, this.held.worker.prepare());
    const { traceparent } = sends;
    return traceparent === null ? accepted : accepted.map((event) => noteTrace(event, traceparent));
  }

  acceptInvoked(invoked: InvokedData): NewEvent {
    const { job, worker, trace } = this.held;
    const { fn } = job.memo.run;
    const app = this.options.registry.get(fn)?.app ?? "";
    const event = invokedEvent(invoked, { runId: this.runId, fn, app }, worker.prepare());
    return trace === null ? event : noteTrace(event, trace.traceparent);
  }

  checkExpression(expression: string): void {
    this.options.expressions.get(expression);
  }

  /** Of the event as it was stored: user code may have changed what it was given. */
  takeEquality(text: string): TakenEquality {
    return takeEquality(this.options.expressions.get(text), payloadOf(this.held.job.memo.event));
  }

  signal(signal: string, json: string): Promise<string | null> {
    return this.held.worker.signal(signal, json);
  }

  annotate(changes: readonly MetadataChange[]): Promise<void> {
    const { store, env, platform, telling } = this.options;
    return persist(
      platform,
      () => annotateRun({ store, env, logger: telling.logger }, this.runId, changes),
      () => this.held.worker.names.holds(this.held.heldBy),
    );
  }
}

const slotsPort = ({ job, worker }: HeldRun): SlotsPort => ({
  isNew: job.isAgain !== true,
  nextTurn: () => worker.slotWaiters.nextTurn(),
  gaveBack: () => worker.gaveSlotsBack(),
  whenFreed: (run) => worker.slotWaiters.add(run),
});

/** Asks the store until it answers, as long as the run is this worker's. */
function effectStore({ heldBy, worker, options }: HeldRun): EffectStore {
  const { store, platform, env, telling } = options;
  const kept = <T>(write: () => Promise<T>) => persist(platform, write, () => worker.names.holds(heldBy));
  return {
    claim: (input) => kept(() => store.claim({ ...input, env, fingerprint: null })),
    extend: (input) => kept(() => store.extend({ ...input, env })),
    settle: (scope, key, fence, outcome) => kept(() => store.settle(env, scope, key, fence, outcome)),
    release: (input) => kept(() => store.release({ ...input, env })),
    report: (what) => telling.logger.error(`idem: ${what}`),
  };
}
