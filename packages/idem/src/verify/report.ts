// The verifier's report, for people and for programs.
import type { findingKinds, Verdict } from "../model/verdict.ts";
import type { KnownFinding } from "./baseline.ts";
import type { Json, Moment, Place } from "./thing.ts";

/** One line of the user's source. */
export interface Edit {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** A change that makes the finding go away: it was tried. */
export interface Mend {
  /** For a person: "Pass the step's own key". */
  readonly text: string;
  /** The same as lines of the source, where the edit is certain. */
  readonly edits: readonly Edit[];
}

/** The kind of fault, accepted or not. */
export type Kind = (typeof findingKinds)[number];

export interface Finding {
  readonly verdict: Exclude<Verdict, "HELD">;
  readonly kind: Kind;
  /** "two of api.stripe.com/v1/invoices". */
  readonly thing: string;
  readonly place: Place | null;
  /** "POST api.stripe.com/v1/invoices". */
  readonly effect: string | null;
  readonly step: string | null;
  readonly schedule: string;
  readonly seed: number;
  readonly timeline: readonly Moment[];
  /** The least data of the event that shows it; null where no event starts the function. */
  readonly event: { readonly name: string; readonly data: Json } | null;
  readonly mend: Mend | null;
  /** Why it is accepted. */
  readonly because: string | null;
}

export interface FunctionReport {
  readonly id: string;
  readonly verdict: Verdict;
  /** Schedules played in which all of it happened; clean runs are not counted. */
  readonly schedules: number;
  /** Those there would have been time for in a larger budget. */
  readonly unplayed: number;
  /** Of one clean run. */
  readonly effects: number;
  readonly commits: number;
  readonly notes: readonly string[];
  readonly findings: readonly Finding[];
  /** Of the remembered schedules: those that can no longer happen to it. */
  readonly outdated: readonly string[];
}

/** A function's, as the command shows it. */
export interface VerifiedFunction extends FunctionReport {
  /** Its full name, with its app. */
  readonly fn: string;
  /** Where it is defined; null where no line of the user's was seen. */
  readonly place: Place | null;
  /** The event that started it; null for a tick of a clock, or for nothing. */
  readonly event: { readonly name: string; readonly from: string } | null;
  readonly tookMs: number;
  readonly findings: readonly ShownFinding[];
}

export interface ShownFinding extends Finding {
  /** The same from one run to the next (finding-id.ts). */
  readonly id: string;
  /** It stands in the baseline: it does not fail. */
  readonly isKnown: boolean;
  /** The command that plays it again. */
  readonly repeat: string;
}

/** A function that was not verified. */
export interface LeftOut {
  readonly id: string;
  readonly fn: string;
  readonly place: Place | null;
  readonly why: string;
}

export interface VerifyReport {
  readonly functions: readonly VerifiedFunction[];
  readonly leftOut: readonly LeftOut[];
  readonly summary: {
    readonly verdicts: Readonly<Partial<Record<Verdict, number>>>;
    readonly schedules: number;
    readonly tookMs: number;
    /** Faults of the accepted entries: they are over, or nothing is found for them. */
    readonly problems: readonly string[];
    /** Null where none was given. */
    readonly baseline: {
      readonly known: number;
      readonly fresh: number;
      /** Known, and not there any more. */
      readonly gone: readonly KnownFinding[];
    } | null;
  };
}

type Shorten = (file: string) => string;

const shortPlace = (place: Place | null, shorten: Shorten) =>
  place === null ? null : { file: shorten(place.file), line: place.line };

/** The output of `--reporter json`, key by key as docs/verify.md has it; files by the names that `shorten` gives them. */
export function jsonOf({ functions, leftOut, summary }: VerifyReport, shorten: Shorten) {
  return {
    functions: functions.map(
      ({ id, verdict, schedules, unplayed, effects, commits, event, notes, outdated, ...rest }) => ({
        id,
        verdict,
        place: shortPlace(rest.place, shorten),
        schedules,
        unplayed,
        effects,
        commits,
        tookMs: rest.tookMs,
        event,
        notes,
        outdated,
        findings: rest.findings.map(({ place, mend, ...finding }) => ({
          id: finding.id,
          verdict: finding.verdict,
          kind: finding.kind,
          isKnown: finding.isKnown,
          thing: finding.thing,
          effect: finding.effect,
          step: finding.step,
          place: shortPlace(place, shorten),
          schedule: finding.schedule,
          event: finding.event,
          timeline: finding.timeline,
          mend:
            mend === null
              ? null
              : { ...mend, edits: mend.edits.map((each) => ({ ...each, file: shorten(each.file) })) },
          because: finding.because,
          repeat: finding.repeat,
        })),
      }),
    ),
    leftOut: leftOut.map(({ id, why }) => ({ id, why })),
    summary,
  };
}

export function summarise(
  functions: readonly VerifiedFunction[],
  { leftOut, tookMs, problems }: Pick<VerifyReport, "leftOut"> & Pick<VerifyReport["summary"], "tookMs" | "problems">,
): VerifyReport {
  const verdicts: Partial<Record<Verdict, number>> = {};
  for (const { verdict } of functions) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  const schedules = functions.reduce((sum, each) => sum + each.schedules, 0);
  return { functions, leftOut, summary: { verdicts, schedules, tookMs, problems, baseline: null } };
}

/** Neither accepted by a person nor in the baseline. */
export const failsBy = ({ findings }: VerifiedFunction): ShownFinding[] =>
  findings.filter(({ verdict, isKnown }) => verdict !== "ACCEPTED" && !isKnown);

/** 0 held, 1 something is wrong (also beside unproven), 2 something is unproven. 3, could not run, is the command's own. */
export function exitCodeOf({ functions, summary }: VerifyReport): 0 | 1 | 2 {
  const found = functions.flatMap(failsBy);
  if (summary.problems.length > 0 || found.some(({ kind }) => kind !== "UNPROVEN")) return 1;
  return found.length > 0 ? 2 : 0;
}
