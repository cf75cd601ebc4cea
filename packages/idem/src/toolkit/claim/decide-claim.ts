// Decides about a claim that has a row already: one table, whatever the claim is for. Pure: the row, the asking and the
// database's time give the step; whether it was won is for the statement that makes it, which repeats what was decided by.
//
//   row                        fingerprint   then
//   settled, window over       any           overwrite: a new window under an old key
//   any other                  differs       mismatch; but a dead claim past its window that may simply run again is overwritten
//   settled                    same          duplicate: its outcome
//   parked                     same          parked, for as long as nobody resolved it
//   released                   same          resume
//   in flight, lease alive     same          again for its own owner, in-flight for others
//   in flight, given back      same          resume: nobody died
//   in flight, lease dead      same          by the author's choice: resume, rerun or park

// The vocabulary is that of the engine's own claims (model/claim.ts), for anything to be done once, and what is said
// besides by a tool that not only claims but does the work. All are told apart by `kind`.
//
//   fresh       nobody has: go on, you are the one          (a claim)
//   done        by this call                                (a tool)
//   duplicate   by an earlier one, and what came of it
//   in-flight   somebody else is at it
//   mismatch    the key is taken by something else
//   parked      nobody knows how far it came, and a person decides
//   lost        this call was overtaken; what somebody else does counts

export interface InFlight {
  readonly kind: "in-flight";
  /** By the database's clock, when it was asked. */
  readonly leaseLeftMs: number;
}

/** Of a holder's write: it was made, or somebody else has the claim. */
export type Held = "held" | "lost";

export interface FoundClaim {
  readonly state: "in-flight" | "settled" | "parked" | "released";
  readonly owner: string;
  /** Given back on purpose when it is not positive. */
  readonly leaseUntil: number;
  /** Null: never. */
  readonly endsAt: number | null;
  /** Whether it was taken for what is asked for now. */
  readonly isSame?: boolean;
  /** Whether it may run again for somebody else once it is dead and past its window. */
  readonly mayJustRerun?: boolean;
}

export type ClaimStep =
  /** The answer of an earlier try of the same asking was lost on its way. */
  | "again"
  | "duplicate"
  | "in-flight"
  | "mismatch"
  | "parked"
  /** Taken: fence + 1, one attempt more; or from the top; or anew, and nothing of the old one stays. */
  | "resume"
  | "rerun"
  | "overwrite"
  | "park";

export function decideClaim<Choice extends "resume" | "rerun" | "park">(
  { owner, onCrash }: { readonly owner: string; readonly onCrash: Choice },
  { state, isSame = true, mayJustRerun = false, owner: holder, leaseUntil, endsAt }: FoundClaim,
  now: number,
): Exclude<ClaimStep, "resume" | "rerun" | "park"> | "resume" | Choice {
  const isEnded = endsAt !== null && endsAt <= now;
  const isDead = state === "in-flight" && leaseUntil <= now;
  if (state === "settled" && isEnded) return "overwrite";
  // Before the state: another asking must neither learn of the first one's outcome nor take up its work.
  if (!isSame) return isDead && isEnded && mayJustRerun ? "overwrite" : "mismatch";
  switch (state) {
    case "settled":
      return "duplicate";
    case "parked":
      return "parked";
    case "released":
      return "resume";
    case "in-flight":
      if (!isDead) return holder === owner ? "again" : "in-flight";
      return leaseUntil <= 0 ? "resume" : onCrash;
  }
}
