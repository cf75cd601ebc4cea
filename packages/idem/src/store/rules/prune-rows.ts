// The rows that pruning asks for and deletes, which each database finds in its own way: PostgreSQL by lists of ids, a file by ranges of them.
import type { DecisionKind } from "../../model/decision.ts";
import type { Window } from "../../model/window.ts";
import type { Asked } from "./rule.ts";

export interface OldEvent {
  readonly id: string;
  readonly callerId: string | null;
  readonly receivedAt: number;
}

export interface FamilyRun {
  readonly id: string;
  readonly rootId: string;
  readonly fn: string;
  readonly key: string | null;
  readonly endedAt: number | null;
  readonly carried: number | null;
  readonly holdsKey: number;
}

export interface FamilyDecision {
  readonly eventId: string;
  readonly kind: DecisionKind;
  readonly runId: string | null;
  readonly windowEndsAt: number | null;
}

export interface CarriedEvent extends OldEvent {
  readonly runId: string;
  readonly key: string | null;
}

/** A possible holder of a key's claim. */
export interface Holding {
  readonly scope: string;
  readonly key: string;
  readonly holder: string;
}

export interface RunCount {
  readonly runId: string;
  readonly count: number;
}

/** Tables whose rows go by their run, and those whose rows go by their event. */
export const byRun = ["steps", "attempts", "run_logs", "metadata", "run_events", "runs"] as const;
export const byEvent = ["decisions", "event_values", "events"] as const;
export const inParts = ["steps", "attempts", "run_logs"] as const;

export interface PruneRows {
  /** The oldest events behind this id. Everything asked by events is asked for such a page, or some of it. */
  page(after: string, size: number): Asked<OldEvent[]>;
  decisions(events: readonly OldEvent[]): Asked<FamilyDecision[]>;
  /** With their reruns. */
  runs(roots: readonly string[]): Asked<FamilyRun[]>;
  /** Jobs that tell others of these events, or of the ends of these runs. */
  jobs(events: readonly OldEvent[], runIds: readonly string[]): Asked<{ readonly id: string }[]>;
  carried(runIds: readonly string[]): Asked<CarriedEvent[]>;
  /** The windows of those that do hold it. */
  windows(holdings: readonly Holding[]): Asked<readonly (Holding & Window)[]>;
  /** Numbers of rows in all, in the order of `inParts`. */
  totals(runIds: readonly string[]): Asked<readonly number[]>;
  /** The same by run. */
  counts(runIds: readonly string[]): Asked<readonly (readonly RunCount[])[]>;
  remove(table: (typeof byRun)[number] | (typeof byEvent)[number], ids: readonly string[]): Asked<number>;
  /** So many of the run's at most. */
  removeSome(table: (typeof inParts)[number], runId: string, max: number): Asked<number>;
}
