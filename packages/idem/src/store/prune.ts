// What prune is given and answers.

export interface PruneInput {
  readonly env: string;
  /** Events received before this instant, whose runs all ended before it, and alerts that were closed before it. */
  readonly before: number;
  /** Continue after this event's id; "" from the oldest. Alerts go before them all: a call that deletes some does nothing else. */
  readonly after: string;
  /** At most this many rows go in one commit. */
  readonly max: number;
  /** What people did before this instant goes as well; absent, the audit stays whole. */
  readonly auditBefore?: number;
}

export interface PruneCounts {
  readonly events: number;
  readonly runs: number;
  readonly steps: number;
  readonly attempts: number;
  /** Parts of what their code wrote. */
  readonly logs: number;
  readonly decisions: number;
  /** Entries of the audit. */
  readonly audit: number;
  /** Closed ones, whose last pair and last judgement are that old. */
  readonly alerts: number;
  /** Of alerts. */
  readonly pairs: number;
}

export const prunedNothing: PruneCounts = {
  events: 0,
  runs: 0,
  steps: 0,
  attempts: 0,
  logs: 0,
  decisions: 0,
  audit: 0,
  alerts: 0,
  pairs: 0,
};

/** What the audit keeps of it. */
export const pruneEntry = (env: string, before: number) => ({
  env,
  action: "prune-history" as const,
  subject: new Date(before).toISOString(),
  reason: "",
});

export interface PruneAnswer {
  readonly deleted: PruneCounts;
  /** Old enough, but still needed: an open run, an open window, a decision that waits for a person. */
  readonly kept: number;
  /** Where to continue; null when nothing older is left. */
  readonly after: string | null;
}
