// The share of the families that goes in one commit, and the deleting. Steps go first: a run too large for one commit loses them over
// several, and its own row with the last. Ids are in the order of time, so what goes together are neighbours in every tree.
import { type PruneCounts, prunedNothing } from "../prune.ts";
import type { Family } from "./find-families.ts";
import { inParts, type OldEvent, type PruneRows } from "./prune-rows.ts";
import { Given, type Rule } from "./rule.ts";

/** Rows of a run that go in this commit; `isAll` when none is left. */
interface Share {
  readonly runId: string;
  /** Not counted where all of everything goes. */
  readonly count: number;
  readonly isAll: boolean;
}

/** The part of a family that goes in this commit. */
export interface Portion {
  readonly family: Family;
  /** Runs no earlier family has: a batch is of many events and goes once. */
  readonly runIds: readonly string[];
  /** In the order of `inParts`. */
  readonly shares: readonly (readonly Share[])[];
  /** False for the last one if it does not fit: only steps, attempts and logs go. */
  readonly isWhole: boolean;
}

/** The portions of the families that go within `max` rows, in the order of their events. */
export function* portionsOf(
  rows: PruneRows,
  events: readonly OldEvent[],
  families: ReadonlyMap<string, Family>,
  max: number,
): Rule<Portion[]> {
  const allIds = [...new Set([...families.values()].flatMap(({ runs }) => runs.map(({ id }) => id)))];
  const totals = allIds.length === 0 ? inParts.map(() => 0) : yield* rows.totals(allIds);
  const rowCount = totals.reduce((all, total) => all + total, 0);
  const decisionCount = [...families.values()].reduce((all, family) => all + family.decisionCount, 0);
  // Most of the time all of it fits, and nobody need know how much is whose.
  if (max < Number.POSITIVE_INFINITY && rowCount + allIds.length + decisionCount + families.size <= max) {
    return wholeOf(events, families, totals);
  }
  const counts = inParts.map(() => new Map<string, number>());
  if (rowCount > 0) {
    for (const [table, found] of (yield* rows.counts(allIds)).entries()) {
      for (const { runId, count } of found) counts[table]!.set(runId, count);
    }
  }
  const portions: Portion[] = [];
  const seen = new Set<string>();
  let left = max;
  for (const { id } of events) {
    const family = families.get(id);
    if (family === undefined) continue;
    const runIds = family.runs.map((run) => run.id).filter((runId) => !seen.has(runId));
    const shares: Share[][] = inParts.map(() => []);
    for (const runId of runIds) {
      seen.add(runId);
      for (const [table, countOf] of counts.entries()) {
        const all = countOf.get(runId) ?? 0;
        const count = Math.min(all, left);
        if (count > 0) shares[table]!.push({ runId, count, isAll: count === all });
        left -= count;
      }
    }
    const own = runIds.length + family.decisionCount + 1;
    const isWhole = own <= left || left === max;
    portions.push({ family, runIds, shares, isWhole });
    if (!isWhole) break;
    left = Math.max(0, left - own);
  }
  return portions;
}

/** Every family with all it has. */
function wholeOf(
  events: readonly OldEvent[],
  families: ReadonlyMap<string, Family>,
  totals: readonly number[],
): Portion[] {
  const seen = new Set<string>();
  return events.flatMap(({ id }) => {
    const family = families.get(id);
    if (family === undefined) return [];
    const runIds = family.runs.map((run) => run.id).filter((runId) => !seen.has(runId));
    for (const runId of runIds) seen.add(runId);
    const all = runIds.map((runId) => ({ runId, count: 0, isAll: true }));
    return { family, runIds, shares: totals.map((total) => (total === 0 ? [] : all)), isWhole: true };
  });
}

export function countPortions(portions: readonly Portion[]): PruneCounts {
  const sum = (of: (portion: Portion) => number) => portions.reduce((total, portion) => total + of(portion), 0);
  const [steps, attempts, logs] = inParts.map((_, table) =>
    sum(({ shares }) => shares[table]!.reduce((total, { count }) => total + count, 0)),
  );
  return {
    ...prunedNothing,
    events: portions.length,
    runs: sum(({ runIds }) => runIds.length),
    decisions: sum(({ family }) => family.decisionCount),
    steps: steps!,
    attempts: attempts!,
    logs: logs!,
  };
}

/** Those whose family is what it was, and whose runs all go: with them, or with an event before them. */
export function portionsStill(portions: readonly Portion[], still: ReadonlyMap<string, Family>): Portion[] {
  const going: Portion[] = [];
  const runIds = new Set<string>();
  for (const portion of portions) {
    const family = still.get(portion.family.event.id);
    if (family === undefined) continue;
    const own = new Set(portion.runIds);
    if (!family.runs.every(({ id }) => own.has(id) || runIds.has(id))) continue;
    for (const id of own) runIds.add(id);
    going.push(portion);
  }
  return going;
}

/** A statement or two for each table, however many rows go. */
export function* deletePortions(rows: PruneRows, portions: readonly Portion[]): Rule<PruneCounts> {
  if (portions.length === 0) return prunedNothing;
  const whole = portions.filter(({ isWhole }) => isWhole);
  const runIds = whole.flatMap((portion) => portion.runIds);
  const eventIds = whole.map(({ family }) => family.event.id);
  const batchIds = whole.flatMap(({ family }) =>
    family.runs.filter(({ carried }) => carried !== null).map(({ id }) => id),
  );
  // All are sent before the first is waited for. What goes in parts goes of one run at most: behind it there is no room for another.
  const parts = inParts.map((table, place) => {
    const shares = portions.flatMap((portion) => portion.shares[place]!);
    const part = shares.find(({ isAll }) => !isAll);
    const ids = shares.filter(({ isAll }) => isAll).map(({ runId }) => runId);
    return [rows.remove(table, ids), part === undefined ? nothing : rows.removeSome(table, part.runId, part.count)];
  });
  const own = [
    rows.remove("runs", runIds),
    rows.remove("decisions", eventIds),
    rows.remove("events", eventIds),
    rows.remove("metadata", runIds),
    rows.remove("event_values", eventIds),
    rows.remove("run_events", batchIds),
  ];
  const counted: number[] = [];
  for (const each of parts) counted.push((yield* each[0]!) + (yield* each[1]!));
  for (const each of own) counted.push(yield* each);
  const [steps = 0, attempts = 0, logs = 0, runs = 0, , events = 0] = counted;
  // Those that their runs told are gone with them.
  const decisions = whole.reduce((all, { family }) => all + family.decisionCount, 0);
  return { ...prunedNothing, events, runs, steps, attempts, logs, decisions };
}

const nothing = new Given(0);
