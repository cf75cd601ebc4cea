// Everything that must happen within a lease's term, as shares of it: nothing here can contradict anything else.
//
//   0 ────────── ¼ ────────── ½ ── 0.6 ───── ¾ ────────── 1
//   beat heard   next beat    │    │         │            others take over
//                is asked     │    │         its holder no longer trusts it
//                             │    a silent session is given up
//                             a lock is waited for no longer
//
// A beat that is not answered is given up after a fifth of the term and asked again: two that stay silent one after the other are over
// before the lease is no longer trusted (¼ + 2 × ⅕ < ¾).

export interface LeaseTimes {
  /** Its holder stops trusting it so long after it asked for it. */
  readonly trustMs: number;
  readonly beatEveryMs: number;
  readonly beatTimeoutMs: number;
  readonly lockWaitMs: number;
  /** A statement without an answer for this long is asked again on another session. Longer than a lock is waited for. */
  readonly queryTimeoutMs: number;
}

export const leaseTimes = (termMs: number): LeaseTimes => ({
  trustMs: termMs * 0.75,
  beatEveryMs: termMs * 0.25,
  beatTimeoutMs: termMs * 0.2,
  lockWaitMs: termMs * 0.5,
  queryTimeoutMs: termMs * 0.6,
});

/** Where others may take over: long enough for a hiccup of the network, short enough that a lost process's runs go on within 30 s. */
export const sharedLeaseTermMs = 20_000;
