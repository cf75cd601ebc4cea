// The last verdict of `idem verify` on each function, as it was published: the verdict, counts, places in the code, and the fingerprint of the code it was
// for. Nothing of what the worlds were played with, and nothing of what they showed, is in it.
import type { FunctionConfig } from "../model/function-config.ts";
import type { findingKinds, Verdict } from "../model/verdict.ts";
import type { Setting, SettingAnswer, SettingInput } from "../store/settings.ts";

/** The kind of setting a verdict is kept as: one for each function, by its full name. */
export const verdictKind = "verdict";

/** More of one function say no more; all of them are counted. */
export const findingsKeptMax = 20;

export interface LineOfCode {
  /** From the folder the command was given in. */
  readonly file: string;
  readonly line: number;
}

export interface VerdictFinding {
  /** The same from one run to the next while the line's text is. */
  readonly id: string;
  readonly kind: (typeof findingKinds)[number];
  readonly isAccepted: boolean;
  readonly place: LineOfCode | null;
  /** The name of what went wrong: with it the command repeats it. */
  readonly schedule: string;
}

/** A verdict to publish, on one function. */
export interface GivenVerdict {
  /** Its full name, with its app. */
  readonly function: string;
  readonly verdict: Verdict;
  readonly schedules: number;
  readonly effects: number;
  readonly findingCount: number;
  readonly findings: readonly VerdictFinding[];
  /** Where the function is defined; null where no line is known. */
  readonly place: LineOfCode | null;
  /** The fingerprint of the code that was played; null where it is unknown. */
  readonly code: string | null;
  readonly at: number;
}

export interface PublishedVerdict extends GivenVerdict {
  readonly by: string;
}

/** `older`: a newer one is there, and stays. */
export type PublishAnswer = "published" | "same" | "older";

/** Where verdicts are kept: a store, or a process that writes to it on request. */
export interface VerdictShelf {
  readonly settings: () => Promise<readonly Setting[]>;
  readonly set: (input: Omit<SettingInput, "env" | "actor">) => Promise<SettingAnswer>;
}

/** Newer wins; the same again is the same. Each is a change by itself, with an entry of its own in the audit. */
export async function publishVerdict(
  shelf: VerdictShelf,
  given: GivenVerdict,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<PublishAnswer> {
  // A clock that is ahead would keep every later verdict out.
  const verdict: PublishedVerdict = { ...given, at: Math.min(given.at, now), by };
  for (;;) {
    const known = (await shelf.settings()).find(({ name }) => name === given.function);
    const before = known === undefined ? null : readVerdict(known);
    if (before !== null && isSame(before, verdict)) return "same";
    if (before !== null && before.at > verdict.at) return "older";
    const answer = await shelf.set({
      kind: verdictKind,
      name: given.function,
      value: JSON.stringify(verdict),
      over: known?.version ?? 0,
      reason: wordsOf(verdict),
    });
    if (answer.kind === "set") return "published";
  }
}

/** But for its publisher. */
const isSame = ({ by: _, ...one }: PublishedVerdict, { by: __, ...other }: PublishedVerdict): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const wordsOf = ({ verdict, schedules, code }: PublishedVerdict): string =>
  `idem verify: ${verdict} in ${schedules} ${schedules === 1 ? "schedule" : "schedules"}${code === null ? "" : `, for code ${code}`}`;

const readVerdict = ({ value }: Pick<Setting, "value">): PublishedVerdict => JSON.parse(value) as PublishedVerdict;

/** By the function's full name. */
export const readVerdicts = (settings: readonly Setting[]): ReadonlyMap<string, PublishedVerdict> =>
  new Map(settings.map((each) => [each.name, readVerdict(each)]));

/** Whether a verdict is about the code that is registered now; unknown where nobody said what either is. */
export type VerifiedCode = "same" | "changed" | "unknown";

export const verifiedCode = ({ code }: Pick<GivenVerdict, "code">, registered: string | undefined): VerifiedCode =>
  registered === undefined || code === null ? "unknown" : registered === code ? "same" : "changed";

const endNames: readonly string[] = ["inngest/function.failed", "inngest/function.cancelled"];

/** Of a handler of another function's end: that function, whose verdict is about both. Null for every other one. */
export function verifiedWith({ triggers }: Pick<FunctionConfig, "triggers">): string | null {
  const of = triggers.map((each) =>
    "event" in each && endNames.includes(each.event)
      ? /^event\.data\.function_id == '([^']+)'/.exec(each.if ?? "")
      : null,
  );
  const [first] = of;
  return first !== undefined && first !== null && of.every((each) => each?.[1] === first[1]) ? first[1]! : null;
}
