// The Friday-night query, asked before anyone calls: which business entities were run twice, and which key would have made
// it once? For each function without a key, every identity in its events' data is tried as one; where none will do alone,
// every two of them together.
import type { Event } from "../model/event.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import {
  aboutOf,
  bestCandidate,
  type Candidate,
  type JudgedBy,
  namesOf,
  nearRuns,
  push,
  type SeenRun,
  sorted,
} from "./candidates.ts";
import { entitiesOf, type Field, fieldsOf, isDelivery, isIdentity } from "./fields.ts";
import { type Finding, instant, type Rows, span, times } from "./finding.ts";

export interface StartedRun {
  readonly runId: string;
  readonly key: string | null;
  readonly createdAt: number;
  /** It took the key of one that failed and gave it back by itself: its function is configured so. */
  readonly isAfterFailure?: boolean;
  readonly event: Pick<Event, "name" | "data">;
}

export interface DoubledOptions extends JudgedBy {
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
  /** In how many of the runs the expression had a value. */
  readonly presentCount: number;
  readonly doubled: readonly DoubledEntity[];
  readonly firstAt: number;
  readonly lastAt: number;
  /** Later runs of the same values, further apart, that a key with this window would have answered as well. */
  readonly alsoAnswered: number;
  /** Paths at which the data of runs taken for the same differed. */
  readonly differs: readonly string[];
}

export interface FoundDoubled {
  readonly byKey: Doubled | null;
  readonly byField: Doubled | null;
  readonly runCount: number;
  /** Runs of a function with a key that have none. */
  readonly missingKeyCount: number;
  readonly isCut: boolean;
}

/** The runs of one function that were the same asking twice; null when none were. `runs` may be in any order. */
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
    if (run.isAfterFailure !== true) seen.push(seeRun(run));
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
  options: JudgedBy,
): Omit<FoundDoubled, "isCut"> {
  const keys = new Map<string, SeenRun[]>();
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

// Every identity of every run is tried as a key: events of many names each would be tried for seconds.
const identitiesMax = 24;

const identitiesIn = (event: Pick<Event, "data">): Field[] =>
  fieldsOf(fromJson(event.data))
    .filter((field) => isIdentity(field) && !isDelivery(field))
    .slice(0, identitiesMax);

function entitiesNamed({ name, paths }: Candidate): string {
  if (name === "key") return "keys";
  return paths.length > 1 ? `pairs of ${name}` : entitiesOf(name);
}

const differencesLookedAt = 200;

function doubledOf(
  name: string,
  candidate: Candidate,
  runCount: number,
  options: JudgedBy,
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
      const [one, two] = near as [SeenRun, SeenRun];
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
    presentCount: candidate.present,
    doubled,
    firstAt: doubled[0]!.firstAt,
    lastAt: doubled.reduce((last, { lastAt }) => Math.max(last, lastAt), 0),
    alsoAnswered,
    differs: [...differs].sort(),
  };
}

/** "event.data.placementId was there in 146 of 146 runs" */
const presence = ({ expression, presentCount, runCount }: Pick<Doubled, "expression" | "presentCount" | "runCount">) =>
  `${expression} was there in ${presentCount === runCount ? `all ${times(runCount, "run")}` : `${presentCount} of ${times(runCount, "run")}`}`;

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
  if (!found.isConfigured) details.push(presence(found));
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
      presentCount: found.presentCount,
      firstAt: found.firstAt,
      lastAt: found.lastAt,
      alsoAnswered: found.alsoAnswered,
      differs: found.differs,
      doubled,
    },
  };
}
