// What a pass needs from outside, and what it gives back. Execution knows no store, no clock and no registry of its own.

import type { NewWait } from "../model/wait.ts";
import type { CrashPoint, HttpRequest, HttpResponse, Timer } from "../platform/platform.ts";
import type { AdvanceAnswer, AdvanceInput, EndRun, NestedIngest, NewFailedAttempt, NewStep } from "../store/store.ts";

/** A change to the run. What depends on the registry is built when it is sent, and again if the registry was out of date. */
export interface Patch {
  readonly steps?: readonly NewStep[];
  readonly attempts?: readonly NewFailedAttempt[];
  readonly waits?: readonly PlannedWait[];
  readonly sends?: readonly PlannedSend[];
  readonly next: AdvanceInput["next"];
}

export type PlannedWait =
  | { readonly kind: "ready"; readonly wait: NewWait }
  | {
      readonly kind: "invoke";
      readonly wait: Omit<Extract<NewWait, { kind: "run" }>, "pair" | "onRefused">;
      readonly invoke: PlannedInvoke;
    };

export interface PlannedInvoke {
  /** The function's id in this app, or its full name in the environment. */
  readonly function: string;
  readonly data: unknown;
  readonly v: string | undefined;
  /** The invoking step's destination key: what the child's own keys are made of. */
  readonly stepKey: string;
  /** Made before the first try, so that a repeated patch starts one child. */
  readonly eventId: string;
  readonly runId: string;
}

export interface PlannedSend {
  readonly event: unknown;
  readonly where: string;
  readonly eventId: string;
  /** Given to the event when its author gave none: the same on every retry and in a rerun. */
  readonly fallbackId: string;
}

export interface RunPorts {
  /** The store's clock as this process knows it: never behind it. */
  now(): number;
  random(): number;
  newId(): string;
  soon(run: () => void): void;
  timer(ms: number, run: () => void): Timer;
  point(name: CrashPoint): void | Promise<void>;
  fetch(request: HttpRequest): Promise<HttpResponse>;
  advance(patch: Patch, seen: number): Promise<AdvanceAnswer>;
  /** Throws for an expression that cannot be compiled. */
  checkExpression(expression: string): void;
  /** Checks events a step wants to send; throws what `send` would throw. */
  checkSends(sends: readonly PlannedSend[]): void;
  signal(signal: string, dataJson: string): Promise<string | null>;
}

export type PassResult =
  | { readonly kind: "ended"; readonly end: EndRun }
  | { readonly kind: "suspended"; readonly dueAt: number | null }
  /** Someone else has the run now, or it ended without this pass. */
  | { readonly kind: "lost"; readonly why: string };

export type { NestedIngest };
