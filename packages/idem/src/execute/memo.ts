// The facts of a run by step id: outcomes, failed attempts, waits. Nothing in here runs anything.
import { divergedStepId, divergenceId, isDivergence, isNote, readDivergence } from "../model/divergence.ts";
import type { Outcome, Step } from "../model/step.ts";
import { keptInput } from "../model/step-input.ts";
import type { RunMemo } from "../store/leases.ts";
import { type KnownStep, knownSteps } from "./known-step.ts";
import type { RunPorts } from "./ports.ts";
import { type NextIds, type RecordedAs, RecordedIds } from "./recorded-ids.ts";
import { wasUnreached } from "./retry.ts";
import type { AskedStep } from "./step-name.ts";

export interface Failures {
  readonly name: string;
  readonly count: number;
  /** Of these: how often the app could not be reached, which costs its author no attempt. */
  readonly unreached: number;
  readonly retryAt: number;
}

// A fresh run, as most are, begins with these: they are never added to; the first entry makes a new one.
const noEntries = new Map<string, never>();
const noIds: Set<string> = new Set();

export class Memo {
  /** The stamp up to which outcomes are known. */
  seen = 0;
  /** The latest stamp of any outcome known here. */
  lastStamp = 0;
  /** Bytes of all outcomes. */
  bytes = 0;
  private readonly steps = new Map<string, Step>();
  private notes = 0;
  private failed: Map<string, Failures> = noEntries;
  /** Arguments that a person put in place of a step's own. */
  private readonly inputs: RunMemo["inputs"];
  /** When each wait ends by itself. */
  private waiting: Map<string, number | null> = noEntries;
  private readonly ids: RecordedIds;
  /** Steps that earlier passes reached and the code of this one has not come past yet. */
  private unreplayed: Set<string> = noIds;
  /** Outcomes no earlier pass can have handed to the code. */
  private unseen: Set<string> = noIds;
  /** Steps that earlier passes of the code asked for. */
  readonly known: readonly KnownStep[];
  /** Of these: those that this one has not asked for yet. */
  readonly unasked: Map<string, KnownStep> = noEntries;

  constructor(
    memo: RunMemo,
    private readonly ports: Pick<RunPorts, "stepId" | "isOpenElsewhere">,
  ) {
    this.ids = new RecordedIds(this);
    const { steps, attempts, waits, inputs } = memo;
    this.inputs = inputs;
    this.known = knownSteps(memo);
    if (steps.length === 0 && attempts.length === 0 && waits.length === 0) return;
    this.unasked = new Map(this.known.map((step) => [step.stepId, step]));
    this.waiting = new Map(waits.map((wait) => [wait.stepId, wait.timeoutAt]));
    this.unreplayed = new Set();
    for (const step of steps) this.keep(step);
    this.seen = this.lastStamp;
    for (const { stepId, name, error, retryAt } of attempts) {
      this.fail(stepId, name, retryAt, wasUnreached(error));
    }
    for (const known of [...steps, ...waits, ...attempts]) {
      if (known.stepId !== "" && !isNote(known)) this.unreplayed.add(known.stepId);
    }
    // The pass before this one suspended before the latest wait ended; waits that ended at that same instant are news too.
    const byPasses = Math.max(0, ...[...steps, ...attempts].map(({ worker, stamp }) => (worker === null ? 0 : stamp)));
    const ended = steps.filter((step) => step.worker === null && step.stamp > byPasses);
    const latestAt = Math.max(0, ...ended.map((step) => step.endedAt));
    this.unseen = new Set(ended.filter(({ endedAt }) => endedAt === latestAt).map(({ stepId }) => stepId));
  }

  /** The number of its steps, without the notes for people beside them. */
  get size(): number {
    return this.steps.size - this.notes;
  }

  /** The same with the notes: an answer that brought some was no empty one. */
  get rowCount(): number {
    return this.steps.size;
  }

  get hasWaits(): boolean {
    return this.waiting.size > 0;
  }

  /** While true the code is repeating what it already did; logs stay silent. */
  get isReplaying(): boolean {
    return this.unreplayed.size > 0;
  }

  get(stepId: string): Step | undefined {
    return this.steps.get(stepId);
  }

  /** Whether any pass has come to this step before. */
  knows(stepId: string): boolean {
    return this.steps.has(stepId) || this.waiting.has(stepId) || this.failed.has(stepId);
  }

  stepId(name: string, repeat: number): string {
    return this.ports.stepId(name, repeat);
  }

  isRecorded(stepId: string): boolean {
    return this.steps.has(stepId);
  }

  /** The same, or it is begun elsewhere. */
  isBegun(stepId: string): boolean {
    return this.knows(stepId) || this.ports.isOpenElsewhere?.(stepId) === true;
  }

  /** Another id's record stands for this step. */
  passOver(stepId: string): void {
    this.unasked.delete(stepId);
    this.unreplayed.delete(stepId);
  }

  isToldDiverged(stepId: string): boolean {
    return this.steps.has(divergenceId(stepId));
  }

  /** A person let it begin in place of a step that is not asked for any more. */
  isLetThrough(name: string): boolean {
    return [...this.steps.values()].some(
      (step) => isDivergence(step) && readDivergence({ ...step, json: step.outcome.json }).asked === name,
    );
  }

  /** Of what says that a step is not asked for any more: that step's name, if it is known. */
  divergedName(stepId: string): string | null {
    return isDivergence({ stepId }) ? (this.steps.get(divergedStepId(stepId))?.name ?? null) : null;
  }

  isWaiting(stepId: string): boolean {
    return this.waiting.has(stepId);
  }

  /** The step's input, as it is kept: from a person, else from the code. */
  inputOf(stepId: string, given: string | null): string | null {
    const edited = this.inputs[stepId];
    return edited === undefined ? given : keptInput(edited);
  }

  failureCount(stepId: string): number {
    return this.failed.get(stepId)?.count ?? 0;
  }

  failures(stepId: string): Failures | null {
    return this.failed.get(stepId) ?? null;
  }

  retryAt(stepId: string): number | null {
    return this.failed.get(stepId)?.retryAt ?? null;
  }

  /** Steps that were tried, are not done and will be tried again. */
  get retrying(): (Failures & { readonly stepId: string })[] {
    return [...this.failed]
      .filter(([stepId]) => stepId !== "" && !this.steps.has(stepId))
      .map(([stepId, failures]) => ({ stepId, ...failures }));
  }

  /** Every outcome, in the order of recording. */
  get recorded(): Step[] {
    return [...this.steps.values()].sort((a, b) => a.stamp - b.stamp);
  }

  get waitingIds(): string[] {
    return [...this.waiting.keys()];
  }

  /** Under which id the next call of this step is recorded. */
  nextIds(asked: AskedStep): NextIds {
    return this.ids.next(asked);
  }

  isInDoubt(op: RecordedAs): boolean {
    return this.ids.isInDoubt(op);
  }

  /** The code asks for this step and it has no outcome. An unknown step means that the code is past its memo. */
  found(stepId: string): void {
    if (!this.failed.has(stepId)) this.unreplayed.clear();
  }

  beginWait(stepId: string, timeoutAt: number | null): void {
    if (this.waiting === noEntries) this.waiting = new Map();
    this.waiting.set(stepId, timeoutAt);
  }

  get timeouts(): (number | null)[] {
    return [...this.waiting.values()];
  }

  fail(stepId: string, name: string, retryAt: number, isUnreached: boolean): void {
    const before = this.failed.get(stepId);
    if (this.failed === noEntries) this.failed = new Map();
    this.failed.set(stepId, {
      name,
      count: (before?.count ?? 0) + 1,
      unreached: (before?.unreached ?? 0) + (isUnreached ? 1 : 0),
      retryAt,
    });
  }

  /** A new outcome. The first one stands: false when there was one already. */
  record(step: Step): boolean {
    if (this.steps.has(step.stepId)) return false;
    this.keep(step);
    if (this.waiting.size > 0) this.waiting.delete(step.stepId);
    // Past its memo every outcome is news to the code.
    if (this.isReplaying) {
      if (this.unseen === noIds) this.unseen = new Set();
      this.unseen.add(step.stepId);
    }
    return true;
  }

  private keep(step: Step): void {
    this.steps.set(step.stepId, step);
    if (isNote(step)) this.notes++;
    this.lastStamp = Math.max(this.lastStamp, step.stamp);
    this.bytes += Buffer.byteLength(step.outcome.json);
  }

  /** The code receives this outcome now. */
  handOut(stepId: string): Outcome {
    if (!this.isReplaying) return this.steps.get(stepId)!.outcome;
    if (this.unseen.has(stepId)) this.unreplayed.clear();
    else this.unreplayed.delete(stepId);
    return this.steps.get(stepId)!.outcome;
  }
}
