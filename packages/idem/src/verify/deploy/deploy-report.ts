// The report of `idem check-deploy`, for people and for programs.

import type { Change } from "./changes.ts";
import { type KeyChange, type RunFact, type RunVerdict, runVerdicts } from "./judge-replay.ts";

/** A fact, and in how many of the runs it is one. */
export interface DeployFinding extends RunFact {
  readonly key: KeyChange | null;
  readonly runs: number;
  /** The first of them. */
  readonly examples: readonly string[];
}

export interface RunCounts {
  readonly open: number;
  readonly checked: number;
  readonly goesOn: number;
  readonly again: number;
  readonly dropped: number;
  readonly stuck: number;
  readonly unproven: number;
}

export interface CheckedFunction {
  readonly id: string;
  /** In its environment. */
  readonly fn: string;
  readonly app: string;
  readonly env: string;
  readonly verdict: RunVerdict;
  readonly runs: RunCounts;
  readonly findings: readonly DeployFinding[];
  readonly changes: readonly Change[];
}

export interface DeployReport {
  readonly store: string;
  readonly functions: readonly CheckedFunction[];
  /** Open runs of apps that these modules have nothing of. */
  readonly others: { readonly apps: readonly string[]; readonly open: number };
  readonly summary: RunCounts & {
    /** Runs looked at for each function and position. */
    readonly sample: number;
    readonly tookMs: number;
  };
}

export const noRuns: RunCounts = { open: 0, checked: 0, goesOn: 0, again: 0, dropped: 0, stuck: 0, unproven: 0 };

const countOf: Readonly<Record<RunVerdict, keyof RunCounts>> = {
  STUCK: "stuck",
  AGAIN: "again",
  DROPPED: "dropped",
  UNPROVEN: "unproven",
  "GOES ON": "goesOn",
};

export const withRun = (counts: RunCounts, verdict: RunVerdict): RunCounts => ({
  ...counts,
  checked: counts.checked + 1,
  [countOf[verdict]]: counts[countOf[verdict]] + 1,
});

/** The worst that one of its runs comes to. */
export const worstOf = (counts: RunCounts): RunVerdict =>
  runVerdicts.find((each) => counts[countOf[each]] > 0) ?? "GOES ON";

export function sumOf(all: readonly RunCounts[]): RunCounts {
  const names = Object.keys(noRuns) as (keyof RunCounts)[];
  return Object.fromEntries(
    names.map((name) => [name, all.reduce((sum, each) => sum + each[name], 0)]),
  ) as unknown as RunCounts;
}

/** 0 all goes on, 1 something is done again, dropped or stuck, or may be, 2 something is unproven. 3, could not run, is the command's own. */
export function exitCodeOf({ functions }: DeployReport): 0 | 1 | 2 {
  const found = new Set(functions.map(({ verdict }) => verdict));
  if (functions.some(({ changes }) => changes.some(({ isRisk }) => isRisk))) return 1;
  if (found.has("STUCK") || found.has("AGAIN") || found.has("DROPPED")) return 1;
  return functions.some(({ runs }) => runs.unproven > 0) ? 2 : 0;
}

/** The output of `--json`, key by key as docs/deploying.md has it; files by the names that `shorten` gives them. */
export function jsonOf({ store, functions, others, summary }: DeployReport, shorten: (file: string) => string) {
  return {
    store,
    functions: functions.map(({ id, fn, app, env, verdict, runs, findings, changes }) => ({
      id,
      fn,
      app,
      env,
      verdict,
      runs,
      findings: findings.map(({ kind, step, asked, why, key, place, runs: count, examples }) => ({
        kind,
        step,
        asked,
        why,
        key,
        place: place === null ? null : { file: shorten(place.file), line: place.line },
        runs: count,
        examples,
      })),
      changes,
    })),
    others,
    summary,
  };
}
