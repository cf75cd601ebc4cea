// One vocabulary for whoever asks to do something once, whatever it is: the words of the engine's own claims (model/claim.ts), and what is
// said besides by a tool that not only claims but does the work. All are told apart by `kind`.
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
