// For every event and every function whose trigger named it, one decision says what came of it. Nothing is dropped in silence.
import type { EndState } from "./run.ts";

export const decisionKinds = [
  "started",
  "duplicate-event",
  "duplicate-key",
  "filtered",
  "debounced",
  "batched",
  "rate-limited",
  "singleton-skipped",
  "paused",
  "held",
  // A person let go of a paused or held event.
  "dropped",
  // A tick whose time passed while nobody was there to start it.
  "missed",
] as const;

export type DecisionKind = (typeof decisionKinds)[number];

export interface Decision {
  readonly eventId: string;
  readonly fn: string;
  readonly kind: DecisionKind;
  readonly reason: string | null;
  /** The run that answers for this event: the one started, or the one that was first. */
  readonly runId: string | null;
  readonly key: string | null;
  readonly windowEndsAt: number | null;
  readonly firstEventId: string | null;
  readonly decidedAt: number;
}

/** A decision that nothing but its pair had to be asked for. */
export const decidedOutright = (
  { kind, fn, reason }: Pick<Decision, "kind" | "fn" | "reason">,
  eventId: string,
  decidedAt: number,
): Decision => ({
  eventId,
  fn,
  kind,
  reason,
  runId: null,
  key: null,
  windowEndsAt: null,
  firstEventId: null,
  decidedAt,
});

/** The run it names answers for the event; one that merely stood in the way does not. */
export const isAnswered = (
  decision: Pick<Decision, "kind" | "runId">,
): decision is { kind: DecisionKind; runId: string } =>
  decision.runId !== null && decision.kind !== "singleton-skipped";

/** Of an event that is kept with others until one run is started for them. */
export const gatheredKinds = ["debounced", "batched"] as const satisfies readonly DecisionKind[];

/** Something or somebody decides again. */
export const pendingKinds = ["held", "paused", ...gatheredKinds] as const satisfies readonly DecisionKind[];

export type GatheredKind = (typeof gatheredKinds)[number];
export type PendingKind = (typeof pendingKinds)[number];

const includes = (kinds: readonly DecisionKind[], kind: DecisionKind): boolean => kinds.includes(kind);

export const isGatheredKind = (kind: DecisionKind): kind is GatheredKind => includes(gatheredKinds, kind);
export const isPendingKind = (kind: DecisionKind): kind is PendingKind => includes(pendingKinds, kind);

/** Something or somebody may still act on an event that was decided so: it is not history yet. */
export const isPending = ({ kind, runId }: Pick<Decision, "kind" | "runId">): boolean =>
  runId === null && isPendingKind(kind);

/** Outcomes of an event as a whole, for lists of events: of any function, or of one. */
export const eventOutcomes = [
  // Of a function's buffer as well.
  "started",
  // No run answers for it and none is to come. Not Idem's own events that nobody listens to: nobody wonders about them.
  "nothing",
  // No function has its name as a trigger (who lists them leaves out what runs wait for); nobody has to listen to Idem's own.
  "unheard",
  // Of an event, or of a key.
  "duplicate",
  "filtered",
  ...gatheredKinds,
  "rate-limited",
  "singleton-skipped",
  "paused",
  "held",
  "dropped",
  "missed",
] as const;

export type EventOutcome = (typeof eventOutcomes)[number];

// The reasons of decisions, in the words every store uses.

export const instant = (at: number): string => new Date(at).toISOString();

/** A key whose run did not complete answers nobody well: then what to do is said as well. */
export const keyTaken = (key: string, runId: string, ended: EndState | null): string => {
  const taken = `key ${key} is taken by run ${runId}`;
  if (ended !== "failed" && ended !== "cancelled") return taken;
  const how = ended === "failed" ? "failed" : "was cancelled";
  return `${taken}, which ${how}: rerun it, or release the key so that the next event starts a new run`;
};

/** Added to the decision of an instant that two schedules have. */
export const alsoOf = (reason: string | null, cron: string, speaksFor: string): string =>
  `${reason === null ? "" : `${reason}; `}schedule "${cron}": ${speaksFor}`;

export const pausedMeanwhile = "the function was paused before the run could start";

export const notStartedReason = (fn: string, reason: string): string => `Function "${fn}" was not started: ${reason}`;
