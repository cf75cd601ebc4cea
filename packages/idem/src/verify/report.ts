// What the verifier answers, for people and for programs.
import type { Verdict } from "./judge.ts";
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

export interface Finding {
  readonly verdict: Exclude<Verdict, "HELD">;
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
  /** How many were played in which all of it happened; clean runs are none. */
  readonly schedules: number;
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
  /** What started it; null for a tick of a clock, or for nothing. */
  readonly event: { readonly name: string; readonly from: string } | null;
  readonly findings: readonly (Finding & {
    /** The command that plays it again. */
    readonly repeat: string;
  })[];
}

export interface VerifyReport {
  readonly functions: readonly VerifiedFunction[];
  readonly summary: {
    readonly verdicts: Readonly<Partial<Record<Verdict, number>>>;
    readonly schedules: number;
    readonly tookMs: number;
    /** What is wrong with what was accepted: entries that are over, or that nothing is found for. */
    readonly problems: readonly string[];
  };
}

/** What `--reporter json` prints, key by key as docs/verify.md has it; files by the names that `shorten` gives them. */
export function jsonOf({ functions, summary }: VerifyReport, shorten: (file: string) => string) {
  return {
    functions: functions.map(({ id, verdict, schedules, effects, commits, event, notes, outdated, findings }) => ({
      id,
      verdict,
      schedules,
      effects,
      commits,
      event,
      notes,
      outdated,
      findings: findings.map(({ place, mend, ...finding }) => ({
        verdict: finding.verdict,
        thing: finding.thing,
        effect: finding.effect,
        step: finding.step,
        place: place === null ? null : { file: shorten(place.file), line: place.line },
        schedule: finding.schedule,
        event: finding.event,
        timeline: finding.timeline,
        mend:
          mend === null ? null : { ...mend, edits: mend.edits.map((each) => ({ ...each, file: shorten(each.file) })) },
        because: finding.because,
        repeat: finding.repeat,
      })),
    })),
    summary,
  };
}

export function summarise(
  functions: readonly VerifiedFunction[],
  tookMs: number,
  problems: readonly string[],
): VerifyReport {
  const verdicts: Partial<Record<Verdict, number>> = {};
  for (const { verdict } of functions) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  const schedules = functions.reduce((sum, each) => sum + each.schedules, 0);
  return { functions, summary: { verdicts, schedules, tookMs, problems } };
}

/** 0 held, 1 something is wrong (also beside unproven), 2 something is unproven. 3, could not run, is the command's own. */
export function exitCodeOf({ functions, summary }: VerifyReport): 0 | 1 | 2 {
  const found = new Set(functions.map(({ verdict }) => verdict));
  if (summary.problems.length > 0) return 1;
  if (["DOUBLED", "LOST", "HALF", "DIVERGED"].some((verdict) => found.has(verdict as Verdict))) return 1;
  return found.has("UNPROVEN") ? 2 : 0;
}
