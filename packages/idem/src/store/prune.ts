// Input and answer of prune.

export interface PruneInput {
  readonly env: string;
  /** Events received before this instant, whose runs all ended before it, and alerts that were closed before it. */
  readonly before: number;
  /** Continue after this event's id; "" from the oldest. Alerts go before them all: a call that deletes some does nothing else. */
  readonly after: string;
  /** At most this many rows go in one commit. */
  readonly max: number;
  /** Entries of the audit before this instant go as well; absent, the audit stays whole. */
  readonly auditBefore?: number;
  /** Of the processes that name themselves one at a time prunes the environment; absent for a person, who waits for nobody's turn. */
  readonly turn?: PruneTurn;
}

export interface PruneTurn {
  readonly by: string;
  /** After a call the turn lasts this long, or at least half of it. A process that goes on keeps it, and one that is gone loses it. */
  readonly ms: number;
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

/** Its entry in the audit. */
export const pruneEntry = (env: string, before: number) => ({
  env,
  action: "prune-history" as const,
  subject: new Date(before).toISOString(),
  reason: "",
});

export const rowsOf = (counts: PruneCounts): number => Object.values(counts).reduce((all, count) => all + count, 0);

/** The part of the answer that people see. */
export interface PrunedPage {
  readonly deleted: PruneCounts;
  /** Old enough, but still needed: an open run, an open window, a decision that waits for a person. */
  readonly kept: number;
  /** The id to continue after; null when nothing older is left. */
  readonly after: string | null;
}

export interface PruneAnswer extends PrunedPage {
  /** From where this call began up to this id no event is left: the next call may begin here. */
  readonly clearTo: string;
  /** When the last old event that was looked at was received; null where there was none. */
  readonly reachedAt: number | null;
  /** It is somebody else's turn until then, unless he goes on, and nothing was done. */
  readonly othersUntil: number | null;
  /** The time that others had to wait for it; absent where nobody has to. */
  readonly tookMs?: number;
}

/** A page of events whose families are looked at in one commit: about as many as have so many rows. */
export const pageSizeOf = (max: number): number => Math.min(2_000, Math.max(200, Math.ceil(max / 7)));
