// Findings that were there before verifying began: they do not fail, what is new does. A file that is committed; it is written only when that was asked
// for. Pure.
import type { Kind, VerifiedFunction, VerifyReport } from "./report.ts";

export interface KnownFinding {
  readonly id: string;
  /** The function's full name, with its app. */
  readonly function: string;
  readonly kind: Kind;
  /** For readers of the file: the effect, or what is wrong. */
  readonly what: string;
  /** The file it was in, as the project calls it; null where no line is known. */
  readonly file: string | null;
}

export interface Baseline {
  readonly findings: readonly KnownFinding[];
}

const kinds: readonly string[] = ["DOUBLED", "LOST", "HALF", "DIVERGED", "UNPROVEN"] satisfies Kind[];

const isKnownFinding = (value: unknown): value is KnownFinding => {
  if (typeof value !== "object" || value === null) return false;
  const { id, function: fn, kind, what, file } = value as Readonly<Record<string, unknown>>;
  const areTexts = [id, fn, kind, what].every((each) => typeof each === "string" && each !== "");
  return areTexts && kinds.includes(kind as string) && (file === null || typeof file === "string");
};

/** The baseline, or what is wrong with it. */
export function readBaseline(written: unknown): Baseline | string {
  const { version, findings } = (written ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== 1 || !Array.isArray(findings)) return "it is no baseline of version 1";
  const strange = findings.findIndex((each) => !isKnownFinding(each));
  if (strange !== -1)
    return `its finding ${strange + 1} lacks its id, function, kind, what or file: write it again with --write-baseline`;
  return { findings: findings as KnownFinding[] };
}

const byName = (a: KnownFinding, b: KnownFinding): number =>
  a.function < b.function ? -1 : a.function > b.function ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0;

/** The same findings, the same text: whatever order they were found in. */
export const writeBaseline = ({ findings }: Baseline): string =>
  `${JSON.stringify({ version: 1, findings: findings.toSorted(byName) }, null, 2)}\n`;

/** The extent of a verification: only what was looked at can be gone. */
export interface Looked {
  readonly verified: readonly VerifiedFunction[];
  /** Every schedule was played, not some that were named. */
  readonly isWhole: boolean;
  /** Full names of all functions that the program has. */
  readonly functions: readonly string[];
}

/** Known findings that are no longer there. What was not looked at, or could not be seen, is not gone. */
export function goneFrom({ findings }: Baseline, { verified, isWhole, functions }: Looked): KnownFinding[] {
  const found = new Set(verified.flatMap((each) => each.findings.map(({ id }) => id)));
  return findings.filter((known) => {
    if (found.has(known.id)) return false;
    if (!functions.includes(known.function)) return true;
    const now = verified.filter(({ fn }) => fn === known.function);
    if (now.length === 0 || !isWhole) return false;
    // A function that cannot be played to its end shows nothing of what it does.
    return known.kind === "UNPROVEN" || !now.some((each) => each.findings.some(({ kind }) => kind === "UNPROVEN"));
  });
}

/** The current findings, and the known ones that are not gone. Accepted ones are left out: their reasons are kept elsewhere. */
export function renewed(before: Baseline, looked: Looked, shorten: (file: string) => string): Baseline {
  const now = looked.verified.flatMap(({ fn, findings }) =>
    findings
      .filter(({ verdict }) => verdict !== "ACCEPTED")
      .map(({ id, kind, effect, thing, place }): KnownFinding => {
        const file = place === null ? null : shorten(place.file);
        return { id, function: fn, kind, what: effect ?? thing, file };
      }),
  );
  const ids = new Set(looked.verified.flatMap(({ findings }) => findings.map(({ id }) => id)));
  const gone = new Set(goneFrom(before, looked));
  return { findings: [...now, ...before.findings.filter((known) => !ids.has(known.id) && !gone.has(known))] };
}

/** The report, with what is known marked as known. */
export function against(report: VerifyReport, baseline: Baseline, looked: Looked): VerifyReport {
  const ids = new Set(baseline.findings.map(({ id }) => id));
  const functions = report.functions.map((verified) => ({
    ...verified,
    findings: verified.findings.map((finding) => ({ ...finding, isKnown: ids.has(finding.id) })),
  }));
  const found = functions.flatMap(({ findings }) => findings.filter(({ verdict }) => verdict !== "ACCEPTED"));
  const known = found.filter(({ isKnown }) => isKnown).length;
  const compared = { known, fresh: found.length - known, gone: goneFrom(baseline, looked) };
  return { ...report, functions, summary: { ...report.summary, baseline: compared } };
}
