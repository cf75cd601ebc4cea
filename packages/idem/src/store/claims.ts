// Inputs and answers of the operations on claims: to take, keep, settle and give them back.

import type { ClaimChange } from "../model/amend-claim.ts";
import type { Claim } from "../model/claim.ts";
import type { Audited } from "./audit.ts";

export interface ClaimInput {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** Made before the first try: asking again with the same token is the same asking. */
  readonly token: string;
  readonly fingerprint: string | null;
  readonly leaseMs: number;
  readonly windowMs: number;
  /** Kept beside the claim until it is settled, for the caller that takes it over; absent for none. */
  readonly note?: string | null;
}

export type SettleAnswer = "settled" | "lost";

export interface ExtendInput {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  readonly fence: number;
  /** From now on; 0 lets the next asker take it over. */
  readonly leaseMs: number;
  /** In place of the one before. */
  readonly note: string | null;
}

export type ExtendAnswer = "extended" | "lost";

export interface AmendInput extends Audited {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** The claim as it was read and decided upon; null when there was none. */
  readonly over: Claim | null;
  /** Null for no claim at all: as if the key had never been asked for. */
  readonly to: ClaimChange | null;
  /** When a person decided: why, for the audit. Null when a holder or an asker did. */
  readonly reason: string | null;
}

/** `moved`: somebody wrote it meanwhile, and nothing happened here. */
export type AmendAnswer = "amended" | "moved";

export interface ReleaseInput extends Audited {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** The fence of the holder giving it back, or null when a person does, with a reason. */
  readonly fence: number | null;
  readonly reason: string;
}

export type ReleaseAnswer = "released" | "lost" | "unknown";
