// One page of groups, newest first. Runs are read newest first, and a group is shown where its newest run that fits stands, so each is shown
// once however many pages there are. Without an index to narrow them, runs are looked at up to a bound; a page can be short with more behind it.
import { runHasText } from "../../engine/bulk/select-runs.ts";
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import { compileRunFilter, type Expression } from "../../model/expression.ts";
import { evaluateFilter } from "../../model/expression-outcome.ts";
import { fromJson } from "../../model/json.ts";
import { chargeCost, costPerMs, readingCost, withinCost } from "../../model/metered-cost.ts";
import type { RunState } from "../../model/run.ts";
import type { Work } from "../../model/turns.ts";
import { isUlid, ulidTime } from "../../model/ulid.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import type { RunPayload, RunStart } from "../../store/counts.ts";
import type { RunPageFilter, RunSummary } from "../../store/reads.ts";
import { examinedMax } from "../api/paging.ts";
import type { RunOrder } from "../api/run-orders.ts";
import { type Gathered, gatherGroups, payloadBytesMax } from "./gather-groups.ts";
import { type LookedAt, type SortedPage, sortCursor, sortedRunPage } from "./sorted-runs.ts";
import { isWithoutWorker, type JudgedGroup, judgeAll } from "./tell-group.ts";

export interface GroupFilter {
  readonly fn?: string;
  readonly state?: RunState;
  readonly key?: string;
  /** A stored id, or the name of events. */
  readonly event?: string;
  /** Text in key, function, event name or an id. */
  readonly q?: string;
  readonly cel?: string;
  readonly show?: "doubled" | "suppressed" | "failed" | "no-worker";
  readonly since?: number;
  readonly until?: number;
  readonly endedSince?: number;
  readonly endedUntil?: number;
  readonly before?: string;
  readonly limit: number;
  /** Runs of loud groups that are shown elsewhere. */
  readonly pinned: ReadonlySet<string>;
  /** Each run for itself. */
  readonly isFlat: boolean;
  /** With `isFlat`: another order than newest first. */
  readonly order?: RunOrder;
}

export interface GroupPage {
  readonly groups: readonly JudgedGroup[];
  /** Those that ran more than once, of the runs that were looked at; the pinned ones too. */
  readonly loud: readonly JudgedGroup[];
  readonly next: string | null;
  /** It ends where the work did. */
  readonly isPartial: boolean;
  /** Where it does, and runs come newest first: when the last run that was looked at was created. */
  readonly lookedBackTo: number | null;
  /** Of another order than newest first: how far back it goes; null where it is of all runs that fit. */
  readonly lookedAt: LookedAt | null;
}

// Runs that one page may look at where rows are compared here: some 30 ms with their starts, more with payloads.
const lookedAtMax = 3_000;
const lookedInsideMax = 1_000;
// Where the store compares them, each look is at 10,000 of them at most: some 10 ms. Rare ones are found by going on.
const looksMax = 5;
const chunkMin = 50;
const chunkMax = 250;
// Where most rows are passed over.
const chunkSifted = 500;
// Payloads, of two times 64 KB, are taken over from a store's thread in one go.
const payloadsInside = 25;
// In another order each look is at 50,000 runs: so few of them.
const chunkSorted = 1_000;
// Comparing a run with the others of its group, and a text with what a row shows.
const rowCost = 25;
// For each run that is looked inside, half of what a function's own filter may cost: others wait for the loop meanwhile.
const passCostMax = 2 * costPerMs;
const idCost = 4;
// A text copied from an id: it may be that of another run of the group.
const idPattern = /^[0-9A-HJKMNP-TV-Z]{8,26}$/i;
// Runs past a chunk that are looked at with it: what was guessed to be the same and stands on both sides of its end is one group.
const aheadRuns = 30;

export async function groupPage(
  engine: Engine,
  functions: KnownFunctions,
  filter: GroupFilter,
  now: number,
  work: Work,
): Promise<GroupPage> {
  const { env } = engine;
  const { reads } = engine.store;
  const turn = filter.cel === undefined ? undefined : work.next();
  if (turn !== undefined) await turn;
  const expression = filter.cel === undefined ? null : work.do(() => compiled(filter.cel!));
  const isEventId = filter.event !== undefined && isUlid(filter.event);
  const state =
    filter.state ?? (filter.show === "failed" ? "failed" : filter.show === "no-worker" ? "queued" : undefined);
  const asked: Omit<RunPageFilter, "limit"> = {
    examinedMax,
    ...(filter.fn === undefined ? {} : { fn: filter.fn }),
    ...(state === undefined ? {} : { state }),
    ...(filter.key === undefined ? {} : { key: filter.key }),
    ...(isEventId ? { eventId: filter.event! } : {}),
    ...(filter.since === undefined ? {} : { since: filter.since }),
    ...(filter.until === undefined ? {} : { until: filter.until }),
    ...(filter.endedSince === undefined ? {} : { endedSince: filter.endedSince }),
    ...(filter.endedUntil === undefined ? {} : { endedUntil: filter.endedUntil }),
  };
  const fits = (run: RunSummary): boolean =>
    (state === undefined || run.state === state) &&
    (filter.endedSince === undefined || (run.endedAt ?? 0) >= filter.endedSince) &&
    (filter.endedUntil === undefined || (run.endedAt ?? filter.endedUntil) < filter.endedUntil) &&
    run.createdAt >= (filter.since ?? 0) &&
    run.createdAt < (filter.until ?? Number.MAX_SAFE_INTEGER);
  const naming = { fullName: (fn: string) => engine.registry.fullName(fn) };
  const needsNames = filter.q !== undefined || (filter.event !== undefined && !isEventId);
  const needsCounts = filter.show === "suppressed";
  const isSifted = needsNames || needsCounts || expression !== null;
  const bound = expression === null ? lookedAtMax : lookedInsideMax;
  const found = new Map<string, JudgedGroup>();
  const loud = new Map<string, JudgedGroup>();
  const from = filter.before === undefined ? null : readCursor(filter.before);
  // Told, or shown elsewhere; what was guessed is known by this alone once its newer run is out of sight.
  const seen = new Map<string, JudgedGroup | null>(from?.told.map((id) => [id, null]));
  let before = from?.before;
  let lookedAt = 0;
  let looks = 0;
  let sorted: SortedPage | null = null;
  const cursorOf = (run: RunSummary): string =>
    filter.order === undefined ? run.id : sortCursor(run, filter.order, sorted!.asOf);
  while (found.size < filter.limit && lookedAt < bound && looks < looksMax) {
    const plain = Math.min(chunkMax, Math.max(chunkMin, filter.limit * 2));
    const chunk = !isSifted ? plain : filter.order === undefined ? chunkSifted : chunkSorted;
    const limit = Math.min(chunk, bound - lookedAt);
    const ahead = filter.isFlat ? 0 : aheadRuns;
    const range = { ...asked, limit: limit + ahead, ...(before === undefined ? {} : { before }) };
    if (filter.order !== undefined) sorted = await sortedRunPage(reads, env, range, filter.order, now);
    const page = sorted ?? (await reads.runPage(env, range));
    const rows = page.rows.slice(0, limit);
    lookedAt += rows.length;
    if (page.rows.length < limit + ahead) looks += 1;
    const sifted = isSifted ? await sift(rows) : { runs: rows, startOf: noStarts, last: rows.at(-1) ?? null };
    const groups = await groupsOf(sifted.runs, page.rows);
    let last = sifted.last;
    for (const run of sifted.runs) {
      const turn = work.next();
      if (turn !== undefined) await turn;
      work.do(() => look(run, groups.get(run.id), sifted.startOf(run)));
      // Sifted runs have cost their share already: spent work ends a page only where nothing is sifted.
      if (found.size < filter.limit && (isSifted || !work.isSpent)) continue;
      last = run;
      break;
    }
    const isWhole = last === (rows.at(-1) ?? null);
    const next = rows.length < page.rows.length ? cursorOf(rows.at(-1)!) : page.next;
    before = isWhole ? (next ?? undefined) : cursorOf(last!);
    if (isWhole && next === null) return told(null);
    if (work.isSpent) break;
  }
  return told(before === undefined ? null : writeCursor(before, seen));

  function told(next: string | null): GroupPage {
    const isPartial = next !== null && found.size < filter.limit;
    return {
      groups: [...found.values()],
      loud: [...loud.values()],
      next,
      isPartial,
      lookedBackTo: isPartial && filter.order === undefined ? ulidTime(before!) : null,
      lookedAt: sorted?.lookedAt ?? null,
    };
  }

  /** Those of the rows that may be asked for: read before their groups are, for most rows are none. It ends where the work does. */
  async function sift(rows: readonly RunSummary[]): Promise<Sifted> {
    const starts = needsCounts ? await reads.runStarts(env, rows) : [];
    const eventIds = [...new Set(rows.map(({ eventId }) => eventId))];
    const names = needsNames ? await reads.eventNames(env, eventIds) : [];
    const suppressedOf = new Map(starts.map(({ runId, suppressed }) => [runId, suppressed]));
    const namesOf = new Map(names.map((each) => [each.eventId, each]));
    const startOf = ({ id, eventId }: RunSummary): Started => {
      const { eventName = null, callerId = null } = namesOf.get(eventId) ?? {};
      return { eventName, callerId, suppressed: suppressedOf.get(id) ?? 0 };
    };
    const runs: RunSummary[] = [];
    let last: RunSummary | null = null;
    for (let i = 0; i < rows.length; i += payloadsInside) {
      const turn = work.next();
      if (turn !== undefined) await turn;
      const piece = rows.slice(i, i + payloadsInside);
      const some = work.do(() => {
        chargeCost(piece.length * rowCost);
        return piece.filter((run) => mayBe(run, startOf(run)));
      });
      const ids = expression === null ? [] : some.map(({ id }) => id);
      const payloads = ids.length === 0 ? [] : await reads.runPayloads(env, ids, payloadBytesMax);
      const payloadOf = new Map(payloads.map((payload) => [payload.runId, payload]));
      for (const run of some) {
        const turn = work.next();
        if (turn !== undefined) await turn;
        last = run;
        const isIn = expression === null || work.do(() => passes(expression, payloadOf.get(run.id)));
        if (isIn) runs.push(run);
        if (work.isSpent) return { runs, startOf, last };
      }
      last = piece.at(-1)!;
    }
    return { runs, startOf, last };
  }

  /** By run. Guesses at the same thing are made from the others of its function at hand as well. */
  async function groupsOf(
    runs: readonly RunSummary[],
    atHand: readonly RunSummary[],
  ): Promise<ReadonlyMap<string, Gathered>> {
    if (filter.isFlat) return new Map(runs.map((run) => [run.id, aloneIn(run)]));
    const guessed = new Set(runs.flatMap((run) => (isKeyless(run) ? run.fn : [])));
    const wanted = isSifted ? [...runs, ...atHand.filter((run) => isKeyless(run) && guessed.has(run.fn))] : atHand;
    const ids = new Set(wanted.map(({ id }) => id));
    const groups = await gatherGroups({ reads, env, functions, work }, [...ids]);
    return new Map(groups.flatMap((group) => group.runs.map((run) => [run.id, group] as const)));
  }

  function look(run: RunSummary, group: Gathered | undefined, start: Started | undefined): void {
    if (group === undefined || seen.has(group.id)) return;
    chargeCost(rowCost + group.runs.length);
    // A newer run of the group that fits has shown it, on this page or on one before.
    if (group.runs.some((other) => other.id > run.id && fits(other)) && expression === null) return;
    if (!mayBe(run, start) || !hasText(run, group, start)) return;
    const [judged] = judgeAll([group], functions);
    seen.set(group.id, judged!);
    if (judged!.judged.isLoud) loud.set(group.id, judged!);
    if (filter.show === "doubled" && !judged!.judged.isLoud) return;
    if (judged!.judged.isLoud && group.runs.some(({ id }) => filter.pinned.has(id))) return;
    found.set(group.id, judged!);
  }

  function isKeyless(run: RunSummary): boolean {
    return run.key === null && functions.of(run.fn).key === null;
  }

  /** As far as it can be said without the others of its group: what it was guessed to be about, and their ids. */
  function mayBe(run: RunSummary, start: Started | undefined): boolean {
    if (!fits(run)) return false;
    if (filter.show === "no-worker" && !isWithoutWorker(run, engine, now)) return false;
    if (filter.show === "suppressed" && (start?.suppressed ?? 0) === 0) return false;
    if (filter.event !== undefined && !isEventId && start?.eventName !== filter.event) return false;
    if (filter.q === undefined || (!filter.isFlat && (isKeyless(run) || idPattern.test(filter.q)))) return true;
    return runHasText(filter.q, run, start, naming);
  }

  function hasText(run: RunSummary, group: Gathered, start: Started | undefined): boolean {
    if (filter.q === undefined) return true;
    chargeCost(group.runs.length * idCost);
    const others = [group.guess?.entity, ...group.runs.flatMap(({ id, eventId }) => [id, eventId])];
    return runHasText(filter.q, run, start, naming, others);
  }
}

/** As far as the filter needs it. */
type Started = Pick<RunStart, "eventName" | "callerId" | "suppressed">;

interface Sifted {
  readonly runs: readonly RunSummary[];
  readonly startOf: (run: RunSummary) => Started | undefined;
  /** The last of the rows that was looked at. */
  readonly last: RunSummary | null;
}

const noStarts = (): undefined => undefined;

// The run to go on before, and the guessed groups that were shown and have older runs still to come.
const cursorMark = "~";

function readCursor(text: string): { readonly before: string; readonly told: readonly string[] } {
  const [before, ...told] = text.split(cursorMark);
  return { before: before!, told };
}

function writeCursor(before: string, seen: ReadonlyMap<string, JudgedGroup | null>): string {
  // A guessed group has the id of its first run: it is known from then on.
  const open = [...seen].flatMap(([id, told]) =>
    (told === null || told.group.guess !== null) && id < before ? id : [],
  );
  return [before, ...open].join(cursorMark);
}

// An expression of 500 nodes, or patterns as large as they may be.
const compileCost = 3 * costPerMs;

function compiled(text: string): Expression {
  chargeCost(compileCost);
  try {
    return compileRunFilter(text);
  } catch (error) {
    const { why } = (error as { facts: { why: string } }).facts;
    throw errors.REQUEST_INVALID({ why: `query parameter "cel", ${why}` });
  }
}

function passes(expression: Expression, payload: RunPayload | undefined): boolean {
  if (payload === undefined || payload.data === null) return false;
  chargeCost(readingCost(payload.data) + readingCost(payload.result));
  const output = payload.result === null ? null : fromJson(payload.result);
  const scope = { event: { data: fromJson(payload.data) }, output };
  return withinCost(passCostMax, () => evaluateFilter(expression, scope)).pass;
}

export const aloneIn = (run: RunSummary): Gathered => ({
  id: run.id,
  fn: run.fn,
  runs: [run],
  guess: null,
  dataOf: () => null,
  isAfterFailure: () => false,
});
