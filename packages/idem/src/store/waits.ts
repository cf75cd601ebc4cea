// What ends a wait: an event or a signal.
import type { Event } from "../model/event.ts";
import type { Outcome } from "../model/step.ts";
import type { WokenRun } from "./advance.ts";

export interface WaitCandidate {
  readonly runId: string;
  readonly stepId: string;
  readonly rest: string | null;
  /** The waiting run's own event, for expressions that compare with it. */
  readonly event: Event;
}

export interface ResumeInput {
  readonly env: string;
  /** The deliver job this ends. */
  readonly jobId: string;
  readonly fence: number;
  readonly waits: readonly { readonly runId: string; readonly stepId: string }[];
  readonly outcome: Outcome;
}

export type ResumeAnswer =
  | { readonly kind: "resumed"; readonly woken: readonly WokenRun[] }
  | { readonly kind: "fenced" };

export type SignalAnswer = { readonly kind: "resumed"; readonly woken: WokenRun } | { readonly kind: "nobody-waits" };
