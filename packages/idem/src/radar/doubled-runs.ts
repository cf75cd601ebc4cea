// The Friday-night query, asked before anyone calls: which business entities were run twice, and which key would have made
// it once? For each function without a key, every identity in its events' data is tried as one; where none will do alone,
// every two of them together.
import type { Event } from "../model/event.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import { entitiesOf, type Field, fieldsOf, isDelivery, isIdentity } from "./fields.ts";
import { type Finding, instant, type Rows, span, times } from "./finding.ts";

export interface StartedRun {
  readonly runId: string;
  readonly key: string | null;
  readonly createdAt: number;
  readonly event: Event;
}

export interface DoubledOptions {
  /** Runs of one entity that begin this close together are taken for one asking delivered twice. */
  readonly nearMs: number;
  /** The window the proposed key would have. */
  readonly windowMs: number;
  /** Bounds memory: more runs than this are judged by the newest. */
  readonly runsMax: number;
}

export interface DoubledEntity {
  /** JSON text of the value. */
  readonly value: string;
  /** In the order they began. */
  readonly runIds: readonly string[];
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface Doubled {
  readonly function: string;
  /** `event.data.placementId`, or the function's own key expression. */
  readonly expression: string;
  /** Whether the function already has this key. */
  readonly isConfigured: boolean;
  readonly entities: string;
  readonly entityCount: number;
  readonly runCount: number;
  readonly doubled: readonly DoubledEntity[];
  readonly firstAt: number;
  readonly lastAt: number;
  /** Later runs of the same values, further apart, that a key with this window would have answered as well. */
  readonly alsoAnswered: number;
  /** Paths at which the data of runs taken for the same differed. */
  readonly differs: readonly string[];
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
// A key that would suppress this share of different things beside what it prevents is no suggestion.
const wrongShareMax = 0.1;

/** What is remembered of a run. */
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
type Judged = Omit<DoubledOptions, "runsMax">;

interface Candidate {
  /** The key's expression. */
  readonly path: string;
  /** What it is made of. */
  readonly paths: readonly string[];
  readonly name: string;
  readonly groups: ReadonlyMap<string, readonly Seen[]>;
  readonly present: number;
}

export interface FoundDoubled {
  readonly byKey: Doubled | null;
  readonly byField: Doubled | null;
  readonly runCount: number;
  /** Runs of a function with a key that have none. */
  readonly missingKeyCount: number;
  readonly isCut: boolean;
}

/** Which runs of one function were the same asking twice; null when none were. `runs` may be in any order. */
export async function findDoubledRuns(
  fn: { readonly name: string; readonly keyExpression: string | null },
  runs: Rows<StartedRun>,
  options: DoubledOptions,
): Promise<FoundDoubled> {
  const seen: SeenRun[] = [];
  let isCut = false;
  for await (const run of runs) {
    if (seen.length === options.runsMax) {
      isCut = true;
      break;
    }
    seen.push(seeRun(run));
  }
  return { ...judgeRuns(fn, seen, options), isCut };
}

export function seeRun({ runId, key, createdAt, event }: StartedRun): SeenRun {
  const fields = key === null ? identitiesIn(event) : [];
  const identities = new Map(fields.map(({ path, value }) => [path, JSON.stringify(value)]));
  return { runId, key, at: createdAt, data: event.data, eventName: event.name, fields, identities };
}

/** The same for runs that are remembered, in any order. */
export function judgeRuns(
  fn: { readonly name: string; readonly keyExpression: string | null },
  runs: readonly SeenRun[],
  options: Judged,
): Omit<FoundDoubled, "isCut"> {
  const keys = new Map<string, Seen[]>();
  for (const run of runs) if (run.key !== null) push(keys, run.key, run);
  const keyless = runs.filter(({ key }) => key === null);
  const keyedCount = runs.length - keyless.length;
  const byKey = doubledOf(
    fn.name,
    { path: fn.keyExpression ?? "key", paths: [], name: "key", groups: sorted(keys), present: keyedCount },
    keyedCount,
    options,
    fn.keyExpression !== null,
  );
  const best = bestCandidate(keyless, namesOf(keyless), aboutOf(fn.name, keyless), options);
  const byField = best === null ? null : doubledOf(fn.name, best, keyless.length, options, false);
  const missingKeyCount = fn.keyExpression === null ? 0 : keyless.length;
  return { byKey, byField, runCount: runs.length, missingKeyCount };
}

const namesOf = (runs: readonly Seen[]): Map<string, string> =>
  new Map(runs.flatMap(({ fields }) => fields.map(({ path, name }) => [path, name])));

const aboutOf = (name: string, runs: readonly Seen[]): string[] => [
  name,
  ...new Set(runs.map(({ eventName }) => eventName)),
];

export interface RefusedField {
  readonly expression: string;
  /** "too-wide": it would have suppressed different things; "too-narrow": it is new in every run. */
  readonly why: "too-wide" | "too-narrow" | "not-always-there";
}

/** Why the other identities in the events of these runs are no keys. */
export function refusedFields(
  runs: readonly SeenRun[],
  chosen: string | null,
  options: Pick<DoubledOptions, "nearMs" | "windowMs">,
): RefusedField[] {
  const keyless = runs.filter(({ key }) => key === null);
  const singles = [...namesOf(keyless)].map(([path, name]) => candidateOf(keyless, [{ path, name }]));
  const neverRepeats = new Set(singles.filter((c) => c.groups.size === c.present).map((c) => c.path));
  const parts = new Set(chosen === null ? [] : chosen.split(" + '-' + "));
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

const identitiesIn = (event: Event): Field[] =>
  fieldsOf(fromJson(event.data)).filter((field) => isIdentity(field) && !isDelivery(field));

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function sorted(groups: Map<string, Seen[]>): Map<string, Seen[]> {
  for (const group of groups.values()) group.sort((a, b) => a.at - b.at || (a.runId < b.runId ? -1 : 1));
  return groups;
}

function bestCandidate(
  runs: readonly Seen[],
  names: ReadonlyMap<string, string>,
  aboutNames: readonly string[],
  options: Judged,
): Candidate | null {
  const singles = [...names].map(([path, name]) => candidateOf(runs, [{ path, name }]));
  const about = aboutNames.join(" ").toLowerCase();
  // What the event or the function is named after is the thing itself, however new each one is.
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
  return bestOf(pairs, runs.length, neverRepeats, about, options);
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
  options: Judged,
): Candidate | null {
  const scored = candidates
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
function nearRuns(group: readonly Seen[], nearMs: number): Seen[] {
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

function entitiesNamed({ name, paths }: Candidate): string {
  if (name === "key") return "keys";
  return paths.length > 1 ? `pairs of ${name}` : entitiesOf(name);
}

const differencesLookedAt = 200;

function doubledOf(
  name: string,
  candidate: Candidate,
  runCount: number,
  options: Judged,
  isConfigured: boolean,
): Doubled | null {
  const doubled: DoubledEntity[] = [];
  const differs = new Set<string>();
  let alsoAnswered = 0;
  for (const [value, group] of candidate.groups) {
    const near = nearRuns(group, options.nearMs);
    const inWindow = group.filter((run, i) => i > 0 && run.at - group[0]!.at < options.windowMs).length;
    alsoAnswered += Math.max(0, inWindow - Math.max(0, near.length - 1));
    if (near.length < 2) continue;
    if (doubled.length < differencesLookedAt) {
      const [one, two] = near as [Seen, Seen];
      for (const path of differingPaths({ data: fromJson(one.data) }, { data: fromJson(two.data) }, 10))
        differs.add(path);
    }
    doubled.push({
      value,
      runIds: near.map(({ runId }) => runId),
      firstAt: near[0]!.at,
      lastAt: near.at(-1)!.at,
    });
  }
  if (doubled.length === 0) return null;
  doubled.sort((a, b) => a.firstAt - b.firstAt);
  return {
    function: name,
    expression: candidate.path,
    isConfigured,
    entities: entitiesNamed(candidate),
    entityCount: candidate.groups.size,
    runCount,
    doubled,
    firstAt: doubled[0]!.firstAt,
    lastAt: doubled.reduce((last, { lastAt }) => Math.max(last, lastAt), 0),
    alsoAnswered,
    differs: [...differs].sort(),
  };
}

export function doubledFinding(found: Doubled, options: DoubledOptions): Finding {
  const { doubled } = found;
  const most = doubled.reduce((max, { runIds }) => Math.max(max, runIds.length), 0);
  const howOften = most === 2 ? "twice" : `2 to ${most} times`;
  const examples = doubled.slice(0, 3).map(({ value, runIds }) => `${value}: ${runIds.join(", ")}`);
  const details = [
    `${doubled.length} of ${found.entityCount} ${found.entities} ran ${howOften} within ${span(options.nearMs)}; first ${instant(found.firstAt)}, last ${instant(found.lastAt)}`,
    ...examples.map((example) => `for example ${example}`),
  ];
  if (found.differs.length > 0) details.push(`their data differed only at ${found.differs.slice(0, 10).join(", ")}`);
  if (found.alsoAnswered > 0) {
    details.push(
      `the same key would also have answered ${times(found.alsoAnswered, "later run")} of the same values within ${span(options.windowMs)}: check that those were not meant`,
    );
  }
  return {
    kind: found.isConfigured ? "key-ran-again" : "doubled-runs",
    level: "problem",
    title: found.isConfigured
      ? `"${found.function}" ran ${times(doubled.length, "key")} more than once although it has a key`
      : `"${found.function}" has run the same thing twice: ${doubled.length} of ${found.entityCount} ${found.entities}`,
    details,
    next: found.isConfigured
      ? "Its window is shorter than the deliveries are apart, or keys were released by hand: idem explain --function … --key … tells which"
      : `Give the function this key: idempotency: ${JSON.stringify(found.expression)}`,
    facts: {
      function: found.function,
      expression: found.expression,
      entityCount: found.entityCount,
      doubledCount: doubled.length,
      runCount: found.runCount,
      firstAt: found.firstAt,
      lastAt: found.lastAt,
      alsoAnswered: found.alsoAnswered,
      differs: found.differs,
      doubled,
    },
  };
}
