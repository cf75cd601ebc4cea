// Duplicates as they arrive. Doctor looks for them in days of rows; here they are found among the last ones of each function: the same judgement
// over a window that slides along. Time is what the rows say, so the same arrivals give the same findings.
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import { chargeCost, costPerMs, readingCost } from "../model/metered-cost.ts";
import type { Turns } from "../model/turns.ts";
import { dayMs } from "../model/window.ts";
import type { Arrival } from "../store/alerts.ts";
import type { SeenRun } from "./candidates.ts";
import type { WatchedSource } from "./close-watch.ts";
import { type Doubled, judgeRuns, seeRun } from "./doubled-runs.ts";
import { EqualEvents } from "./equal-events.ts";
import { contentOf } from "./event-ids.ts";
import { fieldsOf, isDelivery, isTime } from "./fields.ts";
import type { FoundAlert } from "./found-alert.ts";
import { RuleWatch, shorten } from "./rule-watch.ts";
import type { RadarRule } from "./rules.ts";
import { SourceWatch } from "./source-watch.ts";
import { suppressedById, suppressedByKey } from "./suppressed-alerts.ts";

const runsMax = 500;
// Of trying its identities as keys.
const judgedRunCost = 500;
// Of all functions together: some 20 MB with ordinary data, 150 at the very most.
const allRunsMax = 20_000;
// Longer ago than any rule looks.
const keepMs = 60 * 60 * 1_000;
const valuesMax = 4_000;
// Larger data is not compared by eye, and an identity is short.
const dataCharsMax = 4_096;
const identityCharsMax = 200;
// Two runs of one customer are no news; whether there are too many of them to be chance is asked this often.
const doubtMs = 10_000;

export interface WatchedFunction {
  /** Its name for people. */
  readonly name: string;
  readonly keyExpression: string | null;
}

export interface WatchContext {
  readonly functionOf: (fn: string) => WatchedFunction;
  /** Watched closely: weak signs count too. */
  readonly isNew: (fn: string) => boolean;
  /** The source of webhooks an event came from, while it is new; null for any other event. */
  readonly newSourceOf?: (event: Event) => WatchedSource | null;
  /** The default one first. */
  readonly rules: readonly RadarRule[];
}

interface Watched {
  /** By id, the oldest first. */
  readonly runs: Map<string, SeenRun>;
  /** The run that had a key, or the value of an identity, last. */
  readonly values: Map<string, string>;
  /** The run that had this content last. */
  readonly contents: Map<string, SeenRun>;
  /** Later runs of the pairs that were reported. */
  readonly told: Set<string>;
  subject: string | null;
  /** A value came back soon, with nothing that tells the two apart: the runs are to be judged. */
  isSuspect: boolean;
  /** A value came back soon, beside others that did not. */
  isDoubtful: boolean;
  judgedAt: number;
  maybe: { readonly first: SeenRun; readonly later: SeenRun }[];
}

// Nobody waits for it: behind pages, before filters that have had 100 ms.
const spentByRadar = 100 * costPerMs;

export class DuplicateWatch {
  private readonly functions = new Map<string, Watched>();
  private readonly ruleWatch = new RuleWatch();
  private readonly sourceWatch = new SourceWatch();
  private readonly equalEvents = new EqualEvents();
  private runCount = 0;

  /** Alerts found in these arrivals, in order. `firsts` are the events some were answered with. */
  async see(
    arrivals: readonly Arrival[],
    firsts: ReadonlyMap<string, Event>,
    context: WatchContext,
    turns: Turns,
  ): Promise<FoundAlert[]> {
    const found: FoundAlert[] = [];
    const own = context.rules.slice(1);
    for (const { event, decisions } of arrivals) {
      const turn = turns.next(spentByRadar);
      if (turn !== undefined) await turn;
      // Read by what looks at events, and by what looks at each run.
      chargeCost(readingCost(event.data) * 3 * (1 + decisions.length));
      // Idem's own events are about runs, and are no work that was asked for; an invoked run has a step that asked once.
      if (/^(idem|inngest)\//.test(event.name)) continue;
      if (event.firstEventId !== null) found.push(...suppressedById(event, firsts.get(event.firstEventId)));
      else {
        const source = context.newSourceOf?.(event) ?? null;
        if (source !== null) found.push(...this.sourceWatch.see(source, event, context.rules[0]));
        found.push(...this.ruleWatch.seeEvent(own, event));
      }
      for (const decision of decisions) {
        if (decision.kind === "duplicate-key") found.push(...suppressedByKey(decision, event, firsts, context));
        if (decision.kind !== "started" || decision.runId === null) continue;
        const run = rememberedOf(decision, event);
        this.note(decision.fn, run, event, context);
        found.push(...missingKey(decision, event, context));
        found.push(...this.equalEvents.see(decision, event, context.rules[0]));
        found.push(...this.ruleWatch.seeRun(own, { fn: decision.fn, key: run.key, id: run.runId, at: run.at }, event));
      }
    }
    const [rule] = context.rules;
    const now = arrivals.at(-1)?.event.receivedAt ?? 0;
    for (const [fn, watched] of this.functions) {
      const isDoubted = watched.isDoubtful && now - watched.judgedAt >= doubtMs;
      if (!watched.isSuspect && !isDoubted && watched.maybe.length === 0) continue;
      const turn = turns.next(spentByRadar);
      if (turn !== undefined) await turn;
      chargeCost(watched.runs.size * judgedRunCost);
      if (rule !== undefined && !rule.isMuted) found.push(...judge(fn, watched, rule, context));
      watched.judgedAt = now;
      watched.isSuspect = false;
      watched.isDoubtful = false;
      watched.maybe = [];
    }
    return found;
  }

  private note(fn: string, run: SeenRun, event: Event, { rules, isNew, newSourceOf }: WatchContext): void {
    const watched = this.functions.get(fn) ?? newWatched();
    // The one that ran last stands last.
    this.functions.delete(fn);
    this.functions.set(fn, watched);
    if (watched.runs.has(run.runId)) return;
    const nearMs = rules[0]?.withinMs ?? 0;
    const marks =
      run.key === null ? [...run.identities].map(([path, value]) => `${path} ${value}`) : [`key ${run.key}`];
    for (const mark of marks) {
      const before = watched.runs.get(watched.values.get(mark) ?? "");
      if (before !== undefined && run.at - before.at <= nearMs) {
        if (agree(before, run)) watched.isSuspect = true;
        else watched.isDoubtful = true;
      }
      remember(watched.values, mark, run.runId, valuesMax);
    }
    const isClose = isNew(fn) || (newSourceOf?.(event) ?? null) !== null;
    if (marks.length === 0 && isClose && hasContent(event)) {
      const content = contentOf(event.name, fromJson(event.data));
      const first = watched.contents.get(content);
      if (first !== undefined && run.at - first.at <= nearMs) watched.maybe.push({ first, later: run });
      remember(watched.contents, content, run, runsMax);
    }
    watched.runs.set(run.runId, run);
    this.runCount += 1;
    for (const [id, { at }] of watched.runs) {
      if (watched.runs.size <= runsMax && at >= run.at - keepMs) break;
      watched.runs.delete(id);
      this.runCount -= 1;
    }
    for (const [name, other] of this.functions) {
      if (this.runCount <= allRunsMax || other === watched) break;
      this.functions.delete(name);
      this.runCount -= other.runs.size;
    }
  }
}

/** A run as it is remembered: bounded, whatever its event holds. */
function rememberedOf(decision: Decision, event: Event): SeenRun {
  const run = seeRun({ runId: decision.runId!, key: decision.key, createdAt: decision.decidedAt, event });
  const isLarge = run.data.length > dataCharsMax;
  const isLong = [...run.identities.values()].some((value) => value.length > identityCharsMax);
  if (!isLarge && !isLong) return run;
  const identities = new Map([...run.identities].filter(([, value]) => value.length <= identityCharsMax));
  const fields = run.fields.filter(({ path }) => identities.has(path));
  return { ...run, data: isLarge ? "null" : run.data, identities, fields };
}

/** Whether every identity both have is the same. */
const agree = (one: SeenRun, two: SeenRun): boolean =>
  [...two.identities].every(([path, value]) => (one.identities.get(path) ?? value) === value);

const newWatched = (): Watched => ({
  runs: new Map(),
  values: new Map(),
  contents: new Map(),
  told: new Set(),
  subject: null,
  isSuspect: false,
  isDoubtful: false,
  judgedAt: 0,
  maybe: [],
});

/** The newest stand last; the oldest go when there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value!);
}

const hasContent = (event: Event): boolean =>
  fieldsOf(fromJson(event.data)).some((field) => !isTime(field) && !isDelivery(field));

function judge(fn: string, watched: Watched, rule: RadarRule, { functionOf }: WatchContext): FoundAlert[] {
  const about = functionOf(fn);
  const { byKey, byField } = judgeRuns(about, [...watched.runs.values()], { nearMs: rule.withinMs, windowMs: dayMs });
  const found: FoundAlert[] = [];
  if (byKey !== null) found.push(...doubledAlert(fn, "key-ran-again", byKey, watched, rule));
  // A function with a key gets the alert that the key was missing instead.
  if (byField !== null && about.keyExpression === null && isProven(byField, watched.runs)) {
    // The evidence points to another field now: its pairs are announced again under it, in place of the first guess.
    if (watched.subject !== null && watched.subject !== byField.expression) watched.told.clear();
    watched.subject = byField.expression;
    found.push(...doubledAlert(fn, "doubled-runs", byField, watched, rule));
  } else if (byField === null && byKey === null) {
    for (const { first, later } of watched.maybe) {
      if (watched.told.has(later.runId)) continue;
      watched.told.add(later.runId);
      found.push({
        kind: "maybe-doubled",
        fn,
        about: "",
        subject: "the whole data",
        facts: { of: "run" },
        pairs: [{ entity: shorten(later.data), firstId: first.runId, laterId: later.runId, at: later.at }],
      });
    }
  }
  return found;
}

// Two orders of one customer in a minute look like one order that came twice under two delivery ids. One or two such may be chance.
const provenEntities = 3;

/** Whether some runs taken for the same agree in every identity, or there are too many to be chance. */
function isProven({ doubled }: Doubled, runs: ReadonlyMap<string, SeenRun>): boolean {
  if (doubled.length >= provenEntities) return true;
  return doubled.some(({ runIds: [first, second] }) => agree(runs.get(first!)!, runs.get(second!)!));
}

function doubledAlert(
  fn: string,
  kind: "doubled-runs" | "key-ran-again",
  doubled: Doubled,
  watched: Watched,
  rule: RadarRule,
): FoundAlert[] {
  const times = new Map([...watched.runs].map(([id, { at }]) => [id, at]));
  const pairs = doubled.doubled.flatMap(({ value, runIds }) =>
    laterRuns(runIds, times, rule)
      .filter(({ later }) => !watched.told.has(later))
      .map(({ first, later }) => {
        watched.told.add(later);
        return { entity: shorten(value), firstId: first, laterId: later, at: times.get(later)! };
      }),
  );
  // Runs that are no longer remembered are never judged again.
  for (const id of watched.told) if (watched.told.size > runsMax && !times.has(id)) watched.told.delete(id);
  if (pairs.length === 0) return [];
  const { entities, entityCount, runCount, differs } = doubled;
  const facts = { of: "run" as const, entities, entityCount, runCount, differs: differs.slice(0, 20) };
  return [{ kind, fn, about: "", subject: doubled.expression, facts, pairs }];
}

/** Of runs in order: those that began within the rule's time of enough others, each with the one it repeats. */
function laterRuns(runIds: readonly string[], times: ReadonlyMap<string, number>, rule: RadarRule) {
  const later: { readonly first: string; readonly later: string }[] = [];
  let chain: string[] = [];
  for (const id of runIds) {
    const before = chain.at(-1);
    if (before !== undefined && times.get(id)! - times.get(before)! > rule.withinMs) chain = [];
    chain.push(id);
    if (chain.length > rule.more) later.push({ first: chain[0]!, later: id });
  }
  return later;
}

function missingKey(decision: Decision, event: Event, { functionOf }: WatchContext): FoundAlert[] {
  const { keyExpression } = functionOf(decision.fn);
  if (keyExpression === null || decision.key !== null) return [];
  const entity = JSON.stringify(event.callerId ?? event.id);
  return [
    {
      kind: "key-missing",
      fn: decision.fn,
      about: "",
      subject: keyExpression,
      facts: { of: "run" },
      pairs: [{ entity, firstId: null, laterId: decision.runId!, at: decision.decidedAt }],
    },
  ];
}
