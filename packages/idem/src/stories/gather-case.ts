// Everything a story is told from: the runs that are about one thing, the events that asked for it, and what was decided for each.
import type { Engine } from "../engine/engine.ts";
import { outlookOf } from "../engine/outlook.ts";
import { type Claim, functionScope } from "../model/claim.ts";
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import type { Run } from "../model/run.ts";
import { ifOpens } from "../model/seal.ts";
import { dayMs } from "../model/window.ts";
import { type ExplainedDecision, type ExplainedPending, pendingOf, withDifferences } from "../observe/explain.ts";
import type { CancelOutlook, LimitInLine } from "../observe/outlook.ts";
import { type Timeline, timelineOf } from "../observe/timeline.ts";
import { watchedSourceKind } from "../radar/close-watch.ts";
import { knownFunctions } from "../radar/functions-known.ts";
import { guessEntities, isSameApart, nearMs } from "../radar/guess-entities.ts";
import type { RunSummary } from "../store/reads.ts";

export interface CaseFunction {
  readonly fn: string;
  readonly name: string;
  readonly config: FunctionConfig | null;
  readonly pausedAt: number | null;
}

export interface CaseRun {
  readonly run: Run;
  /** From 1, in the order they began. */
  readonly number: number;
  readonly event: Event | null;
  /** All that it carries, `event` first: more than one only in a batch. */
  readonly events: readonly Event[];
  readonly timeline: Timeline;
  /** The decision that began it; null when that is no longer known. */
  readonly decision: Decision | null;
  readonly kind: "first" | "slipped" | "maybe" | "rerun";
  /** Decisions that were answered with it. */
  readonly spared: readonly ExplainedDecision[];
  /** The limits it has to pass; empty for one that does not stand in line. */
  readonly line: readonly LimitInLine[];
  /** The events that would cancel it; empty once it has ended. */
  readonly cancelOn: readonly CancelOutlook[];
}

export interface Case {
  /** The time of asking. */
  readonly now: number;
  readonly function: CaseFunction | null;
  readonly nameOf: (fn: string) => string;
  readonly runs: readonly CaseRun[];
  /** The event that was asked about; null when it was a run or a key. */
  readonly asked: Event | null;
  /** Decisions on the event that was asked about, or on those that began the runs. */
  readonly decisions: readonly Decision[];
  /** The functions that have not decided the event yet that was asked about. */
  readonly pending: readonly ExplainedPending[];
  /** Events that came again under an id of one of these, in order. */
  readonly duplicates: readonly Event[];
  /** Canonical JSON; null for a function without one, and where it was missing. */
  readonly key: string | null;
  readonly claim: Claim | null;
  /** The value that took them together, where there is no key. */
  readonly guess: { readonly expression: string; readonly entity: string } | null;
  /** The alert that has these runs among its pairs, and when the later of them was seen. */
  readonly alert: { readonly id: string; readonly at: number } | null;
  /** The webhook source it came from, and the paths that make two of its deliveries the same. */
  readonly source: {
    readonly name: string;
    readonly key: readonly string[] | null;
    /** Why its setting cannot be read here, where this process has no key to its secrets. */
    readonly shut: string | null;
  } | null;
}

// More runs for one thing than anybody reads; the Runs page lists them.
const runsMax = 12;
const duplicatesMax = 100;
// Of a hot key's askers: whether the first of them meant something else is what a person wants to know.
const comparedMax = 20;
// The runs looked through for others about the same thing.
export const peersMax = 200;
const dataBytesMax = 16 * 1024;
const examinedMax = 10_000;

/** The names of functions for people: their id, or their whole name where two apps have one of that id. */
export async function namesIn({ store, env }: Engine): Promise<(fn: string) => string> {
  const { functions } = await store.reads.functions(env);
  const counts = new Map<string, number>();
  for (const { id } of functions) counts.set(id, (counts.get(id) ?? 0) + 1);
  const names = new Map(functions.map(({ fn, id }) => [fn, counts.get(id) === 1 ? id : fn]));
  return (fn) => names.get(fn) ?? fn;
}

export async function functionOf(engine: Engine, fn: string): Promise<CaseFunction> {
  const { store, env } = engine;
  const registered = (await store.reads.functions(env)).functions.find((each) => each.fn === fn);
  const config = registered === undefined ? null : (JSON.parse(registered.config) as FunctionConfig);
  return { fn, name: (await namesIn(engine))(fn), config, pausedAt: registered?.pausedAt ?? null };
}

export async function caseOfRun(engine: Engine, run: Run, asked: Event | null = null): Promise<Case> {
  const { store, env } = engine;
  const fn = await functionOf(engine, run.fn);
  const grouped = await store.reads.groupRuns(env, [run.id], runsMax);
  const shared = grouped.map(({ run: each }) => each);
  const allowed = new Set(grouped.flatMap(({ run: each, isAfterFailure }) => (isAfterFailure ? each.id : [])));
  const guessed = run.key === null && fn.config?.idempotency == null ? await peersOf(engine, run) : null;
  const ids = new Set([run.id, ...shared.map(({ id }) => id), ...(guessed?.ids ?? [])]);
  const inOrder = [...ids].sort().slice(0, runsMax);
  const runs: CaseRun[] = [];
  for (const id of inOrder) {
    const found = await caseRun(engine, id, runs, allowed);
    if (found !== null) runs.push(found);
  }
  const duplicates = await duplicatesOf(engine, runs, asked);
  const decisions =
    asked === null ? runs.flatMap(({ decision }) => decision ?? []) : await store.reads.decisionsOfEvent(env, asked.id);
  const claim = run.key === null ? null : await store.reads.claim(env, functionScope(run.fn), run.key);
  return {
    now: engine.now(),
    function: fn,
    nameOf: await namesIn(engine),
    runs,
    asked,
    decisions,
    pending: asked === null ? [] : await pendingOf(asked, decisions, outlookOf(engine)),
    duplicates,
    key: run.key,
    claim,
    guess: guessed?.guess ?? null,
    alert: await alertOf(engine, run.fn, inOrder),
    source: await sourceOf(engine, asked ?? runs[0]?.event ?? null),
  };
}

/** An event that started no run, or whose run is no longer there. */
export async function caseOfEvent(engine: Engine, event: Event, decision: Decision | null): Promise<Case> {
  const { store, env } = engine;
  const decisions = await store.reads.decisionsOfEvent(env, event.id);
  return {
    now: engine.now(),
    function: decision === null ? null : await functionOf(engine, decision.fn),
    nameOf: await namesIn(engine),
    runs: [],
    asked: event,
    decisions,
    pending: await pendingOf(event, decisions, outlookOf(engine)),
    duplicates: await store.reads.duplicatesOf(env, event.id, duplicatesMax),
    key: decision?.key ?? null,
    claim: null,
    guess: null,
    alert: null,
    source: await sourceOf(engine, event),
  };
}

/** A key that no run is known of. */
export const caseOfFreeKey = async (engine: Engine, fn: string, key: string): Promise<Case> => ({
  now: engine.now(),
  function: await functionOf(engine, fn),
  nameOf: await namesIn(engine),
  runs: [],
  asked: null,
  decisions: [],
  pending: [],
  duplicates: [],
  key,
  claim: await engine.store.reads.claim(engine.env, functionScope(fn), key),
  guess: null,
  alert: null,
  source: null,
});

async function caseRun(
  engine: Engine,
  id: string,
  before: readonly CaseRun[],
  allowed: ReadonlySet<string>,
): Promise<CaseRun | null> {
  const { store, env } = engine;
  const memo = await store.reads.runMemo(env, id);
  if (memo === null) return null;
  const { run, event, events } = memo;
  const outlook = outlookOf(engine);
  const [spared, decisions, line, cancelOn] = await Promise.all([
    store.reads.duplicatesOfRun(env, id, duplicatesMax),
    store.reads.decisionsOfEvent(env, run.eventId),
    outlook.line(run, event),
    outlook.cancels(run),
  ]);
  const inOrder = [...spared].sort((a, b) => a.decidedAt - b.decidedAt || (a.eventId < b.eventId ? -1 : 1));
  const compared = await withDifferences(store.reads, env, inOrder.slice(0, comparedMax));
  return {
    run,
    number: before.length + 1,
    event,
    events,
    timeline: timelineOf(memo, env),
    decision: run.rerunOf === null ? (decisions.find((each) => each.fn === run.fn && each.runId === id) ?? null) : null,
    kind: allowed.has(id) ? "first" : kindOf(run, event, before),
    spared: [...compared, ...inOrder.slice(comparedMax).map((each) => ({ ...each, differs: [] }))],
    line,
    cancelOn,
  };
}

function kindOf(run: Run, event: Event, before: readonly CaseRun[]): CaseRun["kind"] {
  if (run.rerunOf !== null) return "rerun";
  const first = before.find(({ kind }) => kind === "first");
  if (first === undefined) return "first";
  if (run.key !== null || run.createdAt - before.at(-1)!.run.createdAt <= nearMs) return "slipped";
  return first.event !== null && isSameApart(first.event.data, event.data) ? "slipped" : "maybe";
}

async function peersOf(engine: Engine, run: Run): Promise<{ ids: string[]; guess: NonNullable<Case["guess"]> } | null> {
  const found = await guessesOf(engine, run.fn, run.createdAt + dayMs);
  const guess = found.guesses.get(run.id);
  if (guess === undefined) return null;
  const ids = found.runs.filter((each) => {
    const same = found.guesses.get(each.id);
    return same?.entity === guess.entity && Math.abs(each.createdAt - run.createdAt) < dayMs;
  });
  return { ids: ids.map(({ id }) => id), guess };
}

/** The subjects of the newest runs of a function without a key, by our best guess. */
export async function guessesOf(engine: Engine, fn: string, until?: number) {
  const { store, env } = engine;
  const filter = { fn, limit: peersMax, examinedMax, ...(until === undefined ? {} : { until }) };
  const { rows } = await store.reads.runPage(env, filter);
  const runs: readonly RunSummary[] = rows.filter(({ key, rerunOf }) => key === null && rerunOf === null);
  const payloads = await store.reads.runPayloads(
    env,
    runs.map(({ id }) => id),
    dataBytesMax,
  );
  const data = new Map(payloads.map((each) => [each.runId, each.data]));
  const dataOf = (id: string) => data.get(id) ?? null;
  const functions = await knownFunctions(store.reads, env);
  return { runs, dataOf, guesses: await guessEntities(runs, dataOf, functions, engine.work()) };
}

async function duplicatesOf({ store, env }: Engine, runs: readonly CaseRun[], asked: Event | null): Promise<Event[]> {
  const ids = new Set(runs.flatMap(({ event }) => (event === null ? [] : [event.id])));
  const found: Event[] = [];
  for (const id of ids) found.push(...(await store.reads.duplicatesOf(env, id, duplicatesMax)));
  if (asked?.firstEventId != null && !found.some(({ id }) => id === asked.id)) found.push(asked);
  return found.sort((a, b) => a.receivedAt - b.receivedAt);
}

// Pairs looked through for these runs.
const pairsMax = 500;

async function alertOf({ store, env }: Engine, fn: string, runIds: readonly string[]): Promise<Case["alert"]> {
  for (const alert of await store.reads.alerts(env, { fn, limit: 10 })) {
    if (alert.state === "closed") continue;
    const pairs = await store.reads.alertPairs(env, alert.id, { limit: pairsMax });
    const pair = pairs.find(({ laterId }) => runIds.includes(laterId));
    if (pair !== undefined) return { id: alert.id, at: pair.at };
  }
  return null;
}

/** A delivery's event says where it came from. */
export function deliveredBy(
  event: Pick<Event, "extra"> | null,
): { readonly source: string; readonly id: string } | null {
  if (event?.extra == null) return null;
  const { meta } = JSON.parse(event.extra) as { meta?: { webhook?: { source?: unknown; id?: unknown } } };
  const { source, id } = meta?.webhook ?? {};
  return typeof source === "string" && typeof id === "string" ? { source, id } : null;
}

async function sourceOf({ store, env }: Engine, event: Event | null): Promise<Case["source"]> {
  const delivered = deliveredBy(event);
  if (delivered === null) return null;
  let shut: string | null = null;
  for (const setting of await store.reads.settings(env, watchedSourceKind)) {
    const { name } = setting;
    const value = ifOpens(
      () => setting.value,
      (why) => {
        shut ??= why.message;
      },
    );
    if (value === null) continue;
    // Of settings that hold secrets, only these parts are looked at.
    const { config } = JSON.parse(value) as { config?: { events?: string; key?: readonly string[] } };
    if ((config?.events ?? name) === delivered.source) return { name, key: config?.key ?? null, shut: null };
  }
  // One of those that are shut, or a receiver in code: the event says its name, its key is not known.
  return shut === null ? null : { name: delivered.source, key: null, shut };
}
