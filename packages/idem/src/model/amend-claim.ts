// Writing a claim over the one that a decision was made upon. A decision by more than key, window and lease (what becomes of a dead
// holder, say) reads the claim and writes; if anybody wrote meanwhile nothing happens, and it is made again. So every
// decision is made upon what is there, and no store has to know the rule.
import type { Claim, ClaimState, Instant } from "./claim.ts";

/** The new claim. Times begin when it is written. */
export interface ClaimChange {
  readonly holder: string;
  readonly fence: number;
  readonly state: Exclude<ClaimState, "released">;
  readonly fingerprint: string | null;
  /** Null: nobody may be trusted to be alive, and nobody takes over. */
  readonly leaseMs: number | null;
  /** Null leaves the window's end as it is. */
  readonly windowMs: number | null;
  /** Taken past its window, for as long as it stays so. */
  readonly held: boolean;
  readonly outcome: string | null;
  /** The key means something new from here on: a window of its own, asked for once. */
  readonly opens: boolean;
}

export type Amended =
  /** Somebody wrote meanwhile. */
  | { readonly kind: "moved" }
  /** It was written before, by this very asking, whose answer was lost. */
  | { readonly kind: "already" }
  | { readonly kind: "amended"; readonly claim: Claim | null };

/** `found` is there now; `over` is what was decided upon. Null: none. */
export function amendClaim(
  found: Claim | null,
  { scope, key, over, to }: { scope: string; key: string; over: Claim | null; to: ClaimChange | null },
  { now }: Instant,
): Amended {
  if (!isStill(found, over)) return { kind: isAlready(found, to) ? "already" : "moved" };
  if (to === null) return { kind: "amended", claim: null };
  const { holder, fence, state, fingerprint, leaseMs, windowMs, held, outcome } = to;
  const before = to.opens ? null : found;
  const isAsked = before === null || before.holder !== holder;
  const claim: Claim = {
    scope,
    key,
    holder,
    fence,
    generation: before?.generation ?? holder,
    state,
    fingerprint,
    takenAt: before?.takenAt ?? now,
    leaseUntil: leaseMs === null ? null : now + leaseMs,
    endsAt: windowMs === null ? (before?.endsAt ?? now) : now + windowMs,
    held,
    asked: (before?.asked ?? 0) + (isAsked ? 1 : 0),
    lastAskedAt: isAsked ? now : before.lastAskedAt,
    outcome,
  };
  return { kind: "amended", claim };
}

// Everything a decision may rest upon. The count of askings stands beside it, and decides nothing.
const decisive = [
  "holder",
  "fence",
  "generation",
  "state",
  "fingerprint",
  "leaseUntil",
  "endsAt",
  "held",
  "outcome",
] as const satisfies readonly (keyof Claim)[];

function isStill(found: Claim | null, over: Claim | null): boolean {
  if (found === null || over === null) return found === over;
  return decisive.every((name) => found[name] === over[name]);
}

/** But for the times, which count from the first writing. */
function isAlready(found: Claim | null, to: ClaimChange | null): boolean {
  if (found === null || to === null) return found === to;
  return (["holder", "fence", "state", "fingerprint", "held", "outcome"] as const).every(
    (name) => found[name] === to[name],
  );
}
