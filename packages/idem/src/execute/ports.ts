// The needs of a pass from outside, and its result. Execution knows no store, no clock and no registry of its own.

import type { AnswerTo } from "../model/answer.ts";
import type { ClaimAnswer } from "../model/claim.ts";
import { type TakenEquality, wholeExpression } from "../model/expression-equality.ts";
import type { NewLog } from "../model/log-line.ts";
import type { MetadataChange } from "../model/metadata.ts";
import type { ParkReason } from "../model/run.ts";
import type { StepKind } from "../model/step.ts";
import type { NewWait } from "../model/wait.ts";
import type { CrashPoint, HttpRequest, HttpResponse, Timer } from "../platform/platform.ts";
import type { AdvanceAnswer, AdvanceInput, EndRun, NewFailedAttempt, NewStep } from "../store/advance.ts";
import type {
  ClaimInput,
  ExtendAnswer,
  ExtendInput,
  ReleaseAnswer,
  ReleaseInput,
  SettleAnswer,
} from "../store/claims.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { Transacted, TransactionClient } from "../store/transactional.ts";
import type { OpIds } from "./operation.ts";
import type { Lines } from "./run-log.ts";
import type { SiblingPlans } from "./sibling-plans.ts";
import type { BesideLevel } from "./step-slots.ts";

/** The memory of this run, a part of what the runs of a process may keep. */
export interface RunRoom {
  /** So many bytes of outcomes, and so many steps under way. */
  set(bytes: number, attempting: number): void;
  /** A step gave a value of so many bytes. */
  learn(bytes: number): void;
  /** Whether another step may begin; if not, the run is given back once nothing of it is under way. */
  mayGrow(): boolean;
}

/** A change to the run. What depends on the registry is built when it is sent, and again if the registry was out of date. */
export interface Patch {
  readonly steps?: readonly NewStep[];
  readonly attempts?: readonly FailedAttempt[];
  /** With a failed end: which attempt of the code between steps it was; absent when none was made. */
  readonly lastAttempt?: number;
  readonly waits?: readonly PlannedWait[];
  readonly sends?: readonly NewEvent[];
  /** Lines that steps of this patch wrote. */
  readonly lines?: Lines;
  /** The slots the run holds and wants beside its own; absent where it has nothing to say. */
  readonly beside?: BesideLevel;
  readonly next: AdvanceInput["next"];
}

/** `counted`: which of its author's attempts it was; `attempt` also counts those that never got to the code. */
export interface FailedAttempt extends NewFailedAttempt {
  readonly counted: number;
}

/** `lastsMs`, where its author gave a length of time and no instant: passed on so, the wait is measured by one clock. */
export type PlannedWait =
  | { readonly kind: "ready"; readonly lastsMs?: number; readonly wait: NewWait }
  | {
      readonly kind: "invoke";
      readonly lastsMs?: number;
      readonly wait: Omit<Extract<NewWait, { kind: "run" }>, "pair" | "onRefused">;
      readonly invoke: PlannedInvoke;
    };

export interface PlannedInvoke {
  /** The function's id in this app, or its full name in the environment. */
  readonly function: string;
  /** The child's event: checked once, so that a repeated patch says the same. */
  readonly event: NewEvent;
  /** The invoking step's destination key, of which the child's own keys are made. */
  readonly stepKey: string;
  /** Made before the first try, so that a repeated patch starts one child. */
  readonly runId: string;
}

/** A step's request to invoke a function. */
export interface InvokedData {
  readonly function: string;
  readonly data: unknown;
  readonly v: unknown;
  /** Of code elsewhere: what its SDK says about the event; null or absent for nothing. */
  readonly meta?: unknown;
  readonly step: OpIds;
  readonly timeoutAt: number;
}

/** Events that a step is about to send. */
export interface PlannedSends {
  readonly step: string;
  readonly events: readonly unknown[];
  /** Made before the first attempt: the same on every retry of it. */
  readonly eventId: (index: number) => string;
  /** Given to an event whose author gave it none: the same on every retry and in a rerun. */
  readonly fallbackId: (index: number) => string;
  /** The span that sends them; null where nobody listens. */
  readonly traceparent: string | null;
}

export interface FoundStep extends OpIds {
  readonly kind: StepKind;
}

/** The records of effects: claims of this environment. */
export interface EffectStore {
  claim(input: Omit<ClaimInput, "env" | "fingerprint">): Promise<ClaimAnswer>;
  extend(input: Omit<ExtendInput, "env">): Promise<ExtendAnswer>;
  settle(scope: string, key: string, fence: number, outcome: string): Promise<SettleAnswer>;
  release(input: Omit<ReleaseInput, "env">): Promise<ReleaseAnswer>;
  /** For people; nothing depends on it. */
  report(what: string): void;
}

/** Spans of the pass (docs/observability.md), where somebody listens. Nothing is decided by them. */
export interface RunTrace {
  within<T>(run: () => T): T;
  attempt(step: { readonly name: string; readonly kind: StepKind }, attempt: number): AttemptTrace | null;
  wait(step: { readonly name: string; readonly kind: StepKind }, plan: () => PlannedWait): PlannedWait;
  /** Null asks what comes next. */
  call(step: string | null, attempt: number): CallTrace | null;
  /** The code itself, between its steps. */
  threw(error: unknown): void;
}

export interface AttemptTrace {
  /** For what the attempt sends. */
  readonly traceparent: string;
  within<T>(run: () => T): T;
  failed(error: unknown, retryAt: number | null): void;
  end(): void;
  effect(of: { readonly destination: string; readonly entity: string; readonly key: string }): EffectTrace | null;
}

/** Each ends it. */
export interface EffectTrace {
  within<T>(run: () => T): T;
  became(outcome: string): void;
  failed(error: unknown, outcome: string): void;
}

/** Each but the first ends it. */
export interface CallTrace {
  readonly traceparent: string;
  answered(status: number): void;
  failed(error: unknown): void;
}

/** For a function whose limits count steps. */
export interface SlotsPort {
  /** The lease is new: it holds nothing but the run's own slot. */
  readonly isNew: boolean;
  /** Greater than before, also than of a pass before this one under the same lease. */
  nextTurn(): number;
  /** Slots beside its own were given back. */
  gaveBack(): void;
  /** Calls `run` once, when another run of this process gave slots back; returns how to cancel that. */
  whenFreed(run: () => void): () => void;
}

export interface RunPorts {
  /** The name of this lease for code in another process: the job and its fence. */
  readonly dispatch: { readonly jobId: string; readonly generation: number };
  /** Reports of an app under call may be recorded by other nodes: they are looked for once it answers. Absent for only one node. */
  readonly reportsElsewhere?: boolean;
  /** Absent where one run is executed alone. */
  readonly room?: RunRoom;
  /** Absent where steps of the run go one after another, or take no slots. */
  readonly slots?: SlotsPort;
  /** Absent where nobody listens. */
  readonly trace?: RunTrace;
  /** Whether lines of the code's logger are kept with the run; absent where they cannot be. */
  readonly keepsLogs?: boolean;
  readonly plans: SiblingPlans;
  /** The store's clock as this process knows it, never behind it: what times are planned from. */
  now(): number;
  /** The same, never ahead of it: whether a planned time has come is judged by this one. */
  reached(): number;
  random(): number;
  newId(): string;
  /** A step's id for the n-th call with this name. */
  stepId(name: string, repeat: number): string;
  /** Whether this step is begun, where that is not in the memo; absent where it is. */
  isOpenElsewhere?(stepId: string): boolean;
  soon(run: () => void): void;
  timer(ms: number, run: () => void): Timer;
  point(name: CrashPoint): void | Promise<void>;
  fetch(request: HttpRequest): Promise<HttpResponse>;
  /** Whether the lease has surely not ended. Without it no attempt may begin: another process may have the run. */
  isHeld(): boolean;
  /** Called back instead of a promise: this is on the path of every step. */
  advance(patch: Patch, seen: number, log: NewLog | null, to: AnswerTo<AdvanceAnswer>): void;
  /**
   * Runs the body in a transaction of the engine's database and records the step it answers with in the same commit; absent where
   * there is none.
   */
  transact?(body: (tx: TransactionClient) => Promise<NewStep>): Promise<Transacted>;
  /** Absent where the store is in another process. */
  readonly effects?: EffectStore;
  /**
   * Whether a step that was just found begins here; absent where every step does. One that does not is waited for: the
   * side that answers no sees to it. `beside`: the number of others that are open.
   */
  beginsHere?(step: FoundStep, beside: number): boolean;
  /** The code is only followed to one step that is asked for by its id: what it passes by says nothing. */
  readonly looksForOne?: boolean;
  /** Throws for an expression that cannot be compiled. */
  checkExpression(expression: string): void;
  /**
   * One equality of the expression for the store to find the wait by, over the run's event as it is stored: user code may have
   * changed the one it was given. Absent where another process keeps the waits: it takes the equality then.
   */
  takeEquality?(expression: string): TakenEquality;
  /** Prepares events as `send` does before they are stored; throws what it would throw. */
  acceptSends(sends: PlannedSends): Promise<readonly NewEvent[]>;
  /** The event that carries an invoked function's data; throws when it cannot be carried. */
  acceptInvoked(invoked: InvokedData): NewEvent;
  signal(signal: string, dataJson: string): Promise<string | null>;
  /** Keeps what code elsewhere says about its run. Absent where all code is here. */
  annotate?(changes: readonly MetadataChange[]): Promise<void>;
}

/** The `if` of a wait for an event, as the store keeps it. Throws for an expression that cannot be compiled. */
export function planCondition(text: string, ports: Pick<RunPorts, "checkExpression" | "takeEquality">): TakenEquality {
  if (ports.takeEquality !== undefined) return ports.takeEquality(text);
  ports.checkExpression(text);
  return wholeExpression(text);
}

export type PassResult =
  | { readonly kind: "ended"; readonly end: EndRun }
  | { readonly kind: "suspended"; readonly dueAt: number | null }
  /** Until a person lets it go on. */
  | { readonly kind: "parked"; readonly why: ParkReason }
  /** Another process has the run now, or it ended without this pass. */
  | { readonly kind: "lost"; readonly why: string }
  /** The store, or Idem itself, failed in the middle. The lease is still held and the memo still true. */
  | { readonly kind: "broken"; readonly error: unknown };
