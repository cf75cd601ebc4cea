// Verdicts of `idem verify` on a function (docs/verify.md has what each means).

/** The worst first. */
export const verdicts = ["DOUBLED", "LOST", "HALF", "DIVERGED", "UNPROVEN", "ACCEPTED", "HELD"] as const;
export type Verdict = (typeof verdicts)[number];

/** Kinds of faults, accepted or not. */
export const findingKinds = ["DOUBLED", "LOST", "HALF", "DIVERGED", "UNPROVEN"] as const satisfies readonly Verdict[];
