// The field of its events that tells the runs of a function apart, and the runs it would have made one: every identity is tried, and where
// none will do alone, every two of them together.
import type { Field } from "./fields.ts";

export interface JudgedBy {
  /** Runs of one entity that begin this close together are taken for one asking delivered twice. */
  readonly nearMs: number;
  /** The window the proposed key would have. */
  readonly windowMs: number;
  /** Expressions that a person refused for this function: the next best is proposed. */
  readonly without?: readonly string[];
}

// With four runs or more one value for all of them identifies nothing.
const constantRunsMin = 4;
// A field only some events have is not what the function is about.
const coverageMin = 0.5;
// Above this share of doubled entities the source delivers twice as a habit, and identities that are new each time belong to
// the delivery.
const habitShare = 0.2;
// Pairs of more fields than this are too many to try: those that most events have are tried.
const pairedFieldsMax = 8;
// Paths that are tried alone: as many as half of the runs can have.
const namesMax = 64;
// A key that would suppress this share of different things beside what it prevents is no suggestion.
const wrongShareMax = 0.1;

/** The remembered part of a run. */
export interface SeenRun {
  readonly runId: string;
  readonly key: string | null;
  readonly at: number;
  readonly data: string;
  readonly eventName: string;
  /** The fields that may identify what it is about. */
  readonly fields: readonly Field[];
  /** Their values as JSON, by path. */
  readonly identities: ReadonlyMap<string, string>;
}

type Seen = SeenRun;

export interface Candidate {
  /** The key's expression. */
  readonly path: string;
  /** The fields it is made of. */
  readonly paths: readonly string[];
  readonly name: string;
  readonly groups: ReadonlyMap<string, readonly Seen[]>;
  readonly present: number;
}

export function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

export function sorted(groups: Map<string, Seen[]>): Map<string, Seen[]> {
  for (const group of groups.values()) group.sort((a, b) => a.at - b.at || (a.runId < b.runId ? -1 : 1));
  return groups;
}

export function bestCandidate(
  runs: readonly Seen[],
  names: ReadonlyMap<string, string>,
  aboutNames: readonly string[],
  options: JudgedBy,
): Candidate | null {
  const singles = [...names].map(([path, name]) => candidateOf(runs, [{ path, name }]));
  const about = aboutNames.join(" ").toLowerCase();
  // A field that the event or the function is named after is the thing itself, however new each one is.
  const neverRepeats = new Set(
    singles.filter((c) => c.groups.size === c.present && !isNamedIn(about, c.name)).map((c) => c.path),
  );
  const alone = bestOf(singles, runs.length, neverRepeats, about, options);
  if (alone !== null) return alone;
  const parts = singles
    .filter((c) => c.present >= runs.length * coverageMin && !neverRepeats.has(c.path))
    .sort((a, b) => b.present - a.present || (a.path < b.path ? -1 : 1))
    .slice(0, pairedFieldsMax);
  const pairs = parts.flatMap((one, i) => parts.slice(i + 1).map((two) => candidateOf(runs, [one, two])));
  // A refused field is no better beside one that tells nothing more apart.
  const refused = singles.filter(({ path }) => options.without?.includes(path) === true);
  const finer = pairs.filter(({ paths, groups }) =>
    refused.every((one) => !paths.includes(one.path) || groups.size > one.groups.size),
  );
  return bestOf(finer, runs.length, neverRepeats, about, options);
}

/** Groups the runs by what a key made of these fields would be. */
function candidateOf(runs: readonly Seen[], parts: readonly { path: string; name: string }[]): Candidate {
  const groups = new Map<string, Seen[]>();
  let present = 0;
  for (const run of runs) {
    const values = parts.map(({ path }) => run.identities.get(path));
    if (values.includes(undefined)) continue;
    present += 1;
    push(groups, values.length === 1 ? values[0]! : JSON.stringify(values.map(asText).join("-")), run);
  }
  return {
    path: parts.map(({ path }) => path).join(" + '-' + "),
    paths: parts.map(({ path }) => path),
    name: parts.map(({ name }) => name).join(" and "),
    groups: sorted(groups),
    present,
  };
}

/** A value as concatenation in an expression writes it: strings without their quotes. */
const asText = (json: string | undefined): string => String(JSON.parse(json!));

function bestOf(
  candidates: readonly Candidate[],
  runCount: number,
  neverRepeats: ReadonlySet<string>,
  about: string,
  options: JudgedBy,
): Candidate | null {
  const scored = candidates
    .filter(({ path }) => options.without?.includes(path) !== true)
    .filter((c) => c.present >= runCount * coverageMin)
    .filter((c) => c.groups.size > 1 || c.present < constantRunsMin)
    .map((candidate) => {
      const doubled = [...candidate.groups.values()].filter((group) => nearRuns(group, options.nearMs).length > 1);
      const isHabit = doubled.length >= candidate.groups.size * habitShare;
      const tellsApart = (path: string) => !candidate.paths.includes(path) && !(isHabit && neverRepeats.has(path));
      const clean = doubled.filter(
        (group) => !hasStranger(nearRuns(group, options.nearMs), tellsApart, options.nearMs + 1),
      );
      const strangers = [...candidate.groups.values()].filter((group) =>
        hasStranger(group, tellsApart, options.windowMs),
      ).length;
      return {
        candidate,
        clean: clean.length,
        strangers,
        isNamed: isNamedIn(about, candidate.name),
        distinct: candidate.groups.size,
      };
    })
    .filter(({ clean, strangers }) => clean > 0 && strangers <= clean * wrongShareMax)
    .sort(
      (a, b) =>
        b.clean - a.clean ||
        a.strangers - b.strangers ||
        Number(b.isNamed) - Number(a.isNamed) ||
        b.distinct - a.distinct ||
        a.candidate.path.length - b.candidate.path.length ||
        (a.candidate.path < b.candidate.path ? -1 : 1),
    );
  return scored[0]?.candidate ?? null;
}

function isNamedIn(about: string, name: string): boolean {
  const stem = name.replace(/[_-]?(id|number|uuid|reference|ref|key|code)$/i, "").toLowerCase();
  return stem.length > 2 && about.includes(stem);
}

/** The runs of a sorted group that began close to another one. */
export function nearRuns(group: readonly Seen[], nearMs: number): Seen[] {
  return group.filter(
    (run, i) =>
      (i > 0 && run.at - group[i - 1]!.at <= nearMs) || (i + 1 < group.length && group[i + 1]!.at - run.at <= nearMs),
  );
}

/** Whether another identity tells neighbours apart: then they are different things with one value in common. */
function hasStranger(group: readonly Seen[], tellsApart: (path: string) => boolean, withinMs: number): boolean {
  return group.some((run, i) => {
    const before = group[i - 1];
    if (before === undefined || run.at - before.at >= withinMs) return false;
    for (const [path, value] of run.identities) {
      const other = before.identities.get(path);
      if (other !== undefined && other !== value && tellsApart(path)) return true;
    }
    return false;
  });
}

/** By path, those that most runs have. */
export function namesOf(runs: readonly Seen[]): Map<string, string> {
  const counts = new Map<string, { readonly name: string; count: number }>();
  for (const { fields } of runs) {
    for (const { path, name } of fields) {
      const known = counts.get(path);
      if (known === undefined) counts.set(path, { name, count: 1 });
      else known.count += 1;
    }
  }
  const all = [...counts];
  // In the order they were found, as long as there are no more.
  const kept = all.length <= namesMax ? all : all.sort(([, a], [, b]) => b.count - a.count).slice(0, namesMax);
  return new Map(kept.map(([path, { name }]) => [path, name]));
}

export const aboutOf = (name: string, runs: readonly Seen[]): string[] => [
  name,
  ...new Set(runs.map(({ eventName }) => eventName)),
];

export interface RefusedField {
  readonly expression: string;
  /** "too-wide": it would have suppressed different things; "too-narrow": it is new in every run. */
  readonly why: "too-wide" | "too-narrow" | "not-always-there";
}

/** Why the other identities in the events of these runs are no keys. */
export function refusedFields(runs: readonly SeenRun[], chosen: string | null, options: JudgedBy): RefusedField[] {
  const keyless = runs.filter(({ key }) => key === null);
  const singles = [...namesOf(keyless)].map(([path, name]) => candidateOf(keyless, [{ path, name }]));
  const neverRepeats = new Set(singles.filter((c) => c.groups.size === c.present).map((c) => c.path));
  const parts = new Set([...(chosen === null ? [] : chosen.split(" + '-' + ")), ...(options.without ?? [])]);
  return singles
    .filter(({ path }) => !parts.has(path))
    .flatMap(({ path, present, groups }): RefusedField[] => {
      if (present < keyless.length * coverageMin) return [{ expression: path, why: "not-always-there" }];
      if (neverRepeats.has(path)) return [{ expression: path, why: "too-narrow" }];
      const isConstant = groups.size === 1 && present >= constantRunsMin;
      const tellsApart = (other: string) => other !== path && !neverRepeats.has(other);
      const isWide = [...groups.values()].some((group) => hasStranger(group, tellsApart, options.windowMs));
      return isConstant || isWide ? [{ expression: path, why: "too-wide" }] : [];
    });
}
