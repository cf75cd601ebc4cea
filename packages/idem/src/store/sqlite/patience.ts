// Patience with a batch that the file refused: how long it is tried again, and the reports to people. Pure: times are given.
//
// A spell of trouble begins with the first refusal and ends with the first commit after it. Until it has lasted `waitMsMax`, a batch waits
// and is tried again; from then on each is tried once and answered: its callers have waited long enough, and new calls must not
// queue up behind a lock that lasts for minutes.
import type { FailureKind } from "./storage-failure.ts";

/** A report to people: once when it has lasted a while, and once when it is over. */
export type Spell =
  | { readonly kind: Exclude<FailureKind, "ended">; readonly forMs: number; readonly why: string }
  | { readonly kind: "slow"; readonly forMs: number }
  | { readonly kind: "over"; readonly was: Spell["kind"]; readonly forMs: number };

export interface PatienceOptions {
  readonly waitMsMax: number;
  readonly tellAfterMs: number;
  readonly tell: (spell: Spell) => void;
}

export const patience = {
  // Longer than a tool that means no harm, shorter than the patience of most callers.
  waitMsMax: 5_000,
  // Shorter ones are nobody's concern.
  tellAfterMs: 2_000,
} as const;

// Growing with the spell: a lock of milliseconds is missed by little, one of minutes costs four looks a second.
const pauseMsMin = 10;
const pauseMsMax = 250;

// A commit takes milliseconds; one of seconds means a disk that others keep busy, or one that is ending.
const slowMs = 2_000;

export class Patience {
  private refused: { readonly since: number; told: Spell["kind"] | null } | null = null;
  private slowSince: number | null = null;

  constructor(private readonly options: PatienceOptions) {}

  /** The time to wait until the same batch is tried again; null when it is to be answered now. */
  pauseAfter(
    failure: { readonly kind: Exclude<FailureKind, "ended">; readonly why: string },
    now: number,
  ): number | null {
    const { waitMsMax, tellAfterMs, tell } = this.options;
    this.refused ??= { since: now, told: null };
    const forMs = now - this.refused.since;
    if (forMs >= tellAfterMs && this.refused.told === null) {
      this.refused.told = failure.kind;
      tell({ ...failure, forMs });
    }
    if (forMs >= waitMsMax) return null;
    return Math.min(Math.max(forMs / 2, pauseMsMin), pauseMsMax, waitMsMax - forMs);
  }

  /** For how long nothing could be committed. */
  refusedForMs(now: number): number {
    return this.refused === null ? 0 : now - this.refused.since;
  }

  noteCommit(tookMs: number, now: number): void {
    const { tell } = this.options;
    if (this.refused !== null) {
      const { told, since } = this.refused;
      this.refused = null;
      if (told !== null) tell({ kind: "over", was: told, forMs: now - since });
    }
    if (tookMs >= slowMs) {
      if (this.slowSince === null) tell({ kind: "slow", forMs: tookMs });
      this.slowSince ??= now - tookMs;
    } else if (this.slowSince !== null) {
      tell({ kind: "over", was: "slow", forMs: now - this.slowSince });
      this.slowSince = null;
    }
  }
}
