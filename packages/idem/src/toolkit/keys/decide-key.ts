// Decides about a key's record that a claim found: the claim's own table (claim/decide-claim.ts), in the words of keys.
import { timingSafeEqual } from "node:crypto";
import { decideClaim, type FoundClaim } from "../claim/decide-claim.ts";
import type { KeyRow } from "./key-row.ts";
import type { Fingerprint, KeyAnswer, KeyAsk } from "./key-store.ts";

export type KeyMove =
  | { readonly kind: "answer"; readonly answer: KeyAnswer }
  /** Fence + 1, at the last point. */
  | { readonly kind: "resume" }
  /** Fence + 1, from the top. */
  | { readonly kind: "rerun" }
  /** Fence + 1, and nothing of the old record stays. */
  | { readonly kind: "overwrite" }
  | { readonly kind: "park" };

const stateOf: Readonly<Record<KeyRow["state"], FoundClaim["state"]>> = {
  running: "in-flight",
  completed: "settled",
  parked: "parked",
};

export function decideKey(ask: Pick<KeyAsk, "owner" | "fingerprints" | "onCrash">, row: KeyRow, now: number): KeyMove {
  const state = stateOf[row.state];
  if (state === undefined) {
    // A row nobody can read is no licence to execute.
    throw new Error(
      `the state of key ${row.about.hint} is ${JSON.stringify(row.state)}, which this version does not know`,
    );
  }
  const ageMs = Math.max(0, now - row.createdAt);
  const isSame = isSameFingerprint(row.fingerprint, ask.fingerprints);
  // By the record's own choice, too: another route of the same scope may have made it, and left its end to a person.
  const mayJustRerun = ask.onCrash === "rerun" && row.onCrash === "rerun" && row.work === null;
  const { owner, leaseUntil, endsAt } = row;
  const step = decideClaim(ask, { state, owner, leaseUntil, endsAt, isSame, mayJustRerun }, now);
  switch (step) {
    case "duplicate":
      return answer({ kind: step, outcome: row.outcome!, completedAt: row.completedAt!, endsAt: row.endsAt });
    case "parked":
      return answer({ kind: step, reason: row.parkedReason ?? "", ageMs });
    case "mismatch":
      return answer({ kind: step, ageMs });
    case "in-flight":
      return answer({ kind: step, since: row.createdAt, leaseLeftMs: row.leaseUntil - now, ageMs });
    case "again":
      return answer(freshOf(row));
    default:
      return { kind: step };
  }
}

export const freshOf = ({ fence, attempts, point }: Pick<KeyRow, "fence" | "attempts" | "point">): KeyAnswer => ({
  kind: "fresh",
  fence,
  attempt: attempts,
  point,
});

const answer = (given: KeyAnswer): KeyMove => ({ kind: "answer", answer: given });

/** Kept while it runs: long enough that a dead claim is still known when its asker comes back. */
export const runningWindowMs = ({ windowMs, leaseMs }: Pick<KeyAsk, "windowMs" | "leaseMs">): number =>
  Math.max(windowMs, 10 * leaseMs);

export const diedReason = "Its claimant died in the middle, and whether it had an effect is unknown";

/** By the algorithm the first one was written with. One that is not known here cannot be compared, and is another request: to tell a stranger somebody's answer is worse than to refuse. */
export function isSameFingerprint(written: Fingerprint | undefined, asked: readonly Fingerprint[]): boolean {
  const same = asked.find(({ version }) => version === written?.version);
  if (same === undefined || typeof written?.value !== "string") return false;
  const [a, b] = [Buffer.from(written.value), Buffer.from(same.value)];
  return a.length === b.length && timingSafeEqual(a, b);
}
