// For every event and every function whose trigger named it, one decision says what came of it. Nothing is dropped in silence.

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

/** Something or somebody may still act on an event that was decided so: it is not history yet. */
export const isPending = (kind: DecisionKind): boolean =>
  kind === "held" || kind === "paused" || kind === "debounced" || kind === "batched";
