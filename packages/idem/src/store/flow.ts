// The part of the contract about how runs may begin beside their key: limits, buffers, one at a time, cancelling events, crons.
// Expressions are evaluated before the store is asked; here are names, counts and times.

import type { BufferRule } from "../flow/plan.ts";
import type { DecisionKind } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import type { Audited } from "./audit.ts";
import type { Ingested, NewEvent, NewPair, StaleRegistration } from "./ingest.ts";

/** A run that an ingest cancelled to make room for the one it started. */
export interface CancelledRun {
  readonly runId: string;
  readonly result: string;
}

// ---------------------------------------------------------------------------------------------------- pending decisions

export type DecidedCounts = Readonly<Partial<Record<DecisionKind, number>>>;

/** Decisions of the buffers that were due. An event that another one superseded was counted when it came. */
export interface Flushed {
  readonly decided: DecidedCounts;
  readonly cancelled: readonly CancelledRun[];
}

export interface RedecideInput extends Audited {
  readonly env: string;
  readonly registration: number | null;
  readonly eventId: string;
  /** The new decision; its `event` is 0, its function the one the old decision is about. */
  readonly pair: NewPair;
  /** Why, for the audit. */
  readonly reason: string;
}

export type RedecideAnswer =
  | Ingested
  | StaleRegistration
  /** It was decided otherwise meanwhile, or never waited for anyone. */
  | { readonly kind: "not-pending" };

// ---------------------------------------------------------------------------------------------------- crons

export interface CronRow {
  readonly fn: string;
  /** As its author wrote it. */
  readonly cron: string;
  /** Every tick up to this instant is decided; when it was registered, that instant. */
  readonly lastTickAt: number;
}

export interface Tick {
  readonly fn: string;
  readonly cron: string;
  readonly tickAt: number;
  /** Its id is made of the function and the instant: two schedules of one function that meet are one tick. */
  readonly event: NewEvent;
  /** Its `event` is 0. */
  readonly pair: NewPair;
  /** Its words about earlier ticks that are not listed; kept also where another schedule had the same instant. Null for none. */
  readonly speaksFor: string | null;
}

export interface TickInput {
  readonly env: string;
  readonly registration: number | null;
  /** In order of time for each schedule. */
  readonly ticks: readonly Tick[];
  readonly leaseTo: string | null;
}

export interface Ticked extends Omit<Ingested, "kind"> {
  readonly kind: "ticked";
  /** Which of the ticks were new, by position: not decided before, and their time has come. */
  readonly fired: readonly number[];
}

// ---------------------------------------------------------------------------------------------------- reads

export interface CancelCandidate {
  readonly runId: string;
  readonly rest: string | null;
  /** The run's own event, for expressions that compare with it. */
  readonly event: Event;
}

export interface BufferUse {
  readonly kind: BufferRule["kind"];
  readonly count: number;
  /** When it becomes a run, unless it is full before or, in a debounce, another event comes. */
  readonly dueAt: number;
  /** Of a debounce: the event its run will start with. */
  readonly newestEventId: string | null;
}

export interface LimitUse {
  /** The slot's or the rate limit's name. */
  readonly id: string;
  readonly used: number;
  readonly waiting: number;
}
