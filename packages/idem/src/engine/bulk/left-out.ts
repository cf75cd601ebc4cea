// Why a run that fits the filter of bulk work is left out of it: nothing is done twice, and nothing that others are doing.

export const bulkActions = ["rerun", "cancel", "release", "release-keys"] as const;

/** `release` lets parked runs go on; `release-keys` gives back the function keys that ended runs still hold. */
export type BulkAction = (typeof bulkActions)[number];

export const leftOutReasons = [
  "done-later",
  "at-work-later",
  "ended-later",
  "ended",
  "not-parked",
  "open",
  "no-key",
  "key-elsewhere",
] as const;

export type LeftOutReason = (typeof leftOutReasons)[number];

/** After "6": "are left out: a later run of the same key is completed". */
const words: Readonly<Record<LeftOutReason, string>> = {
  "done-later": "a later run of the same key is completed",
  "at-work-later": "a later run of the same key is at work",
  "ended-later": "a later run of the same key ended too, and stands for it",
  ended: "it has ended",
  "not-parked": "it is not parked",
  open: "it has not ended, and holds its key while it works",
  "no-key": "it has no key",
  "key-elsewhere": "its key is free, or held by another run",
};

export const leftOutWords = (why: LeftOutReason): string => words[why];

/** The number left out for one reason, and the first of them. */
export interface LeftOut {
  readonly why: LeftOutReason;
  readonly count: number;
  readonly runIds: readonly string[];
}

// As many as a person reads through.
const idsShown = 50;

/** Those of before with more of one reason. */
export function withLeftOut(before: readonly LeftOut[], { why, count, runIds }: LeftOut): readonly LeftOut[] {
  const known = before.find((each) => each.why === why);
  if (known === undefined) return [...before, { why, count, runIds }];
  const joined = [...known.runIds, ...runIds.slice(0, idsShown - known.runIds.length)];
  return before.map((each) => (each === known ? { why, count: known.count + count, runIds: joined } : each));
}

export const oneLeftOut = (why: LeftOutReason, runId: string): LeftOut => ({ why, count: 1, runIds: [runId] });
