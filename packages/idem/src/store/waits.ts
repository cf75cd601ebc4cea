// Ends of waits, by an event or a signal.
import type { Event } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
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

/** The event that a recorded step waited for, from what it was given (`askedToWait`); none where that was not kept. */
export function awaitedIn(input: string | null): readonly string[] {
  if (input === null) return [];
  const { event } = (fromJson(input) ?? {}) as { event?: unknown };
  return typeof event === "string" ? [event] : [];
}

export type ResumeAnswer =
  | { readonly kind: "resumed"; readonly woken: readonly WokenRun[] }
  | { readonly kind: "fenced" };

export type SignalAnswer = { readonly kind: "resumed"; readonly woken: WokenRun } | { readonly kind: "nobody-waits" };
