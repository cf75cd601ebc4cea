// Runs, events and decisions as users see them: values instead of JSON text, ids as they wrote them.
import type { Decision } from "../model/decision.ts";
import { type Event, publicEventId } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import type { LostWorkers, Parked, RerunFrom, Run, RunState } from "../model/run.ts";
import { readError, type SerializedError } from "../model/user-errors.ts";

export interface PublicDecision extends Omit<Decision, "fn"> {
  /** The function's id. */
  readonly function: string;
  /** On a duplicate: the paths at which its payload differs from the first one's. */
  readonly differs: readonly string[];
}

export interface PublicRun {
  readonly id: string;
  readonly function: string;
  readonly state: RunState;
  readonly eventId: string;
  readonly key: string | null;
  readonly output: unknown;
  readonly error: SerializedError | null;
  readonly rerunOf: string | null;
  /** Set on a rerun that began at a step: which one, and how many recorded steps it kept. */
  readonly rerunFrom: RerunFrom | null;
  readonly previousRunId: string | null;
  /** Fingerprint of the code that entered it first: of the handler's text and the function's options. Its timeline says where the code changed. */
  readonly code: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When a waiting run is looked at again at the latest; null for never or now. */
  readonly dueAt: number | null;
  /** Why a parked run goes on only when a person lets it (`runs.release`). */
  readonly parked: Parked | null;
  /** Workers lost in the middle of it since it last got on. */
  readonly lost: LostWorkers | null;
}

export interface PublicEvent {
  /** The stored event's own id, always unique. */
  readonly internalId: string;
  /** The sender's id, or the stored one. */
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly ts: number;
  readonly receivedAt: number;
  readonly duplicateOf: string | null;
  readonly sourceRunId: string | null;
}

export const publicRun = (run: Run, nameOf: (fn: string) => string): PublicRun => ({
  id: run.id,
  function: nameOf(run.fn),
  state: run.state,
  eventId: run.eventId,
  key: run.key,
  output: run.state === "completed" && run.result !== null ? fromJson(run.result) : null,
  error: (run.state === "failed" || run.state === "cancelled") && run.result !== null ? readError(run.result) : null,
  rerunOf: run.rerunOf,
  rerunFrom: run.rerunFrom,
  previousRunId: run.previousRunId,
  code: run.code,
  createdAt: run.createdAt,
  startedAt: run.startedAt,
  endedAt: run.endedAt,
  dueAt: run.dueAt === null || run.dueAt >= Number.MAX_SAFE_INTEGER ? null : run.dueAt,
  parked: run.parked,
  lost: run.lost,
});

export const publicEvent = (event: Event): PublicEvent => ({
  internalId: event.id,
  id: publicEventId(event),
  name: event.name,
  data: fromJson(event.data),
  ts: event.ts,
  receivedAt: event.receivedAt,
  duplicateOf: event.firstEventId,
  sourceRunId: event.sourceRunId,
});

export const publicDecision = (
  { eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt }: Decision,
  differs: readonly string[],
  nameOf: (fn: string) => string,
): PublicDecision => ({
  eventId,
  function: nameOf(fn),
  kind,
  reason,
  runId,
  key,
  windowEndsAt,
  firstEventId,
  decidedAt,
  differs,
});
