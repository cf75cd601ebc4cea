// What a claim does about the row it found. Pure: the row, the asking and the database's time give the move; whether the move was won is
// for the statement that makes it, which repeats the guards.
//
//   row                                fingerprint   then
//   completed, window ended            any           overwrite: a new operation under an old key
//   any other                          differs       mismatch; but a dead claim past its window, where onCrash is rerun, is overwritten
//   completed                          same          duplicate: its outcome
//   parked                             same          parked, for as long as nobody resolved it
//   running, lease alive               same          fresh again for its own owner, in-flight for others
//   running, given back                same          resume
//   running, lease dead                same          by the author's choice: resume, rerun or park
import type { KeyRow } from "./key-row.ts";
import type { KeyAnswer, KeyAsk } from "./key-store.ts";
import { isSameFingerprint } from "./same-fingerprint.ts";

export type KeyMove =
  | { readonly kind: "answer"; readonly answer: KeyAnswer }
  /** Fence + 1, at the last point. */
  | { readonly kind: "resume" }
  /** Fence + 1, from the top. */
  | { readonly kind: "rerun" }
  /** Fence + 1, and nothing of the old record stays. */
  | { readonly kind: "overwrite" }
  | { readonly kind: "park" };

export function decideKey(ask: Pick<KeyAsk, "owner" | "fingerprints" | "onCrash">, row: KeyRow, now: number): KeyMove {
  const isEnded = row.endsAt <= now;
  const isDead = row.state === "running" && row.leaseUntil <= now;
  if (row.state === "completed" && isEnded) return { kind: "overwrite" };

  const ageMs = Math.max(0, now - row.createdAt);
  // Before the state: another request must neither learn of the first one's answer nor take up its work.
  if (!isSameFingerprint(row.fingerprint, ask.fingerprints)) {
    // By the record's own choice, too: another route of the same scope may have made it, and left its end to a person.
    const mayRerun = ask.onCrash === "rerun" && row.onCrash === "rerun" && row.work === null;
    if (isDead && isEnded && mayRerun) return { kind: "overwrite" };
    return answer({ kind: "mismatch", ageMs });
  }
  switch (row.state) {
    case "completed":
      return answer({
        kind: "duplicate",
        outcome: row.outcome!,
        completedAt: row.completedAt!,
        endsAt: row.endsAt,
      });
    case "parked":
      return answer({ kind: "parked", reason: row.parkedReason ?? "", ageMs });
    case "running":
      break;
    default:
      // A row nobody can read is no licence to execute.
      throw new Error(
        `the state of key ${row.about.hint} is ${JSON.stringify(row.state)}, which this version does not know`,
      );
  }
  if (!isDead) {
    // The answer of an earlier try was lost on its way.
    if (row.owner === ask.owner) return answer(freshOf(row));
    return answer({ kind: "in-flight", since: row.createdAt, leaseLeftMs: row.leaseUntil - now, ageMs });
  }
  return { kind: row.leaseUntil <= 0 ? "resume" : ask.onCrash };
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
