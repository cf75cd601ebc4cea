// Facts that a transaction gathers while it stores and decides events, and the answer made of them: the same for both databases.
import type { Decision, DecisionKind } from "../model/decision.ts";
import type { CancelledRun } from "./flow.ts";
import type { Ingested, IngestedEvent } from "./ingest.ts";
import type { LeasedJob } from "./leases.ts";

export interface Writing {
  readonly ingested: IngestedEvent[];
  readonly decisions: Decision[];
  readonly firsts: Map<string, string>;
  readonly leased: LeasedJob[];
  queued: boolean;
  readonly cancelled: CancelledRun[];
  dueAt: number | null;
  /** Of events that were stored before. */
  redecided: Partial<Record<DecisionKind, number>> | null;
}

export const newWriting = (): Writing => ({
  ingested: [],
  decisions: [],
  firsts: new Map(),
  leased: [],
  queued: false,
  cancelled: [],
  dueAt: null,
  redecided: null,
});

export function answerOf(out: Writing, now: number): Ingested {
  const answer: Ingested = {
    kind: "ingested",
    now,
    events: out.ingested,
    decisions: out.decisions,
    firsts: out.firsts.size === 0 ? [] : [...out.firsts].map(([eventId, data]) => ({ eventId, data })),
    leased: out.leased,
    queued: out.queued,
    cancelled: out.cancelled,
    dueAt: out.dueAt,
  };
  return out.redecided === null ? answer : { ...answer, redecided: out.redecided };
}
