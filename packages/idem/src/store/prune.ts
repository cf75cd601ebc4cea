// What prune is given and answers.

export interface PruneInput {
  readonly env: string;
  /** Events received before this instant, whose runs all ended before it. */
  readonly before: number;
  /** Continue after this event's id; "" from the oldest. */
  readonly after: string;
  /** At most this many rows go in one commit. */
  readonly max: number;
}

export interface PruneCounts {
  readonly events: number;
  readonly runs: number;
  readonly steps: number;
  readonly attempts: number;
  readonly decisions: number;
}

export interface PruneAnswer {
  readonly deleted: PruneCounts;
  /** Old enough, but still needed: an open run, an open window, a decision that waits for a person. */
  readonly kept: number;
  /** Where to continue; null when nothing older is left. */
  readonly after: string | null;
}
