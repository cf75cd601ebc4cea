// Reads behind headlines, charts and groups of runs.
import { type DecisionCount, type GroupRun, hourMs, type Slip, suppressedCountedMax } from "../counts.ts";
import { floorTo } from "../ends.ts";
import { firstIdAt } from "../id-times.ts";
import { previewChars, type RunSummary, type StoreReads } from "../reads.ts";
import { inOrder, isAfterFailure, isStart, isSuppressed } from "./count-decisions.ts";
import { showRun } from "./show.ts";
import type { Database, RunRow, Tables } from "./tables.ts";

type CountReads = Pick<
  StoreReads,
  | "hourCounts"
  | "endCounts"
  | "liveCounts"
  | "slips"
  | "groupRuns"
  | "runStarts"
  | "eventNames"
  | "runPayloads"
  | "lastFailures"
>;

export function memoryCountReads(database: Database): CountReads {
  return {
    async hourCounts(env, { since, until, fn }) {
      const tables = database.env(env);
      const from = Math.floor(since / hourMs) * hourMs;
      const counts = tables.hourCounts
        .all()
        .filter((count) => count.at >= from && count.at < until && (fn === undefined || count.fn === fn));
      return { counts, countedTo: (tables.countedTo.get("") ?? "").split("\n")[0]! };
    },

    async endCounts(env, { since, until, stepMs, fn }) {
      return database
        .env(env)
        .endCounts.all()
        .filter(({ step, at }) => step === stepMs && at >= floorTo(since, stepMs) && at < until)
        .filter((count) => fn === undefined || count.fn === fn)
        .map(({ step: _, ...count }) => count);
    },

    async liveCounts(env, { since, until, fn, after, stepMs, examinedMax, isWhole }) {
      const tables = database.env(env);
      const low = firstIdAt(since);
      const waiting = inOrder(tables).filter(({ eventId }) => eventId > after && eventId > low);
      if (isWhole === true && waiting.length >= examinedMax) return { counts: [], slips: [], isAll: false };
      const counts = new Map<string, DecisionCount>();
      const slips: Slip[] = [];
      for (const decision of waiting.slice(0, examinedMax)) {
        const { decidedAt } = decision;
        const started = isStart(tables, decision) ? 1 : 0;
        const suppressed = isSuppressed(decision) ? 1 : 0;
        if (started + suppressed === 0 || decidedAt < since || decidedAt >= until) continue;
        if (fn !== undefined && decision.fn !== fn) continue;
        const run = started === 1 ? tables.runs.get(decision.runId!)! : null;
        if (run !== null && isSlip(run) && !isAfterFailure(tables, run))
          slips.push({ runId: run.id, generation: run.generation, fn: run.fn, at: run.createdAt });
        const at = Math.floor(decidedAt / stepMs) * stepMs;
        const before = counts.get(`${at}\n${decision.fn}`);
        counts.set(`${at}\n${decision.fn}`, {
          at,
          fn: decision.fn,
          started: (before?.started ?? 0) + started,
          suppressed: (before?.suppressed ?? 0) + suppressed,
        });
      }
      return { counts: [...counts.values()], slips, isAll: waiting.length < examinedMax };
    },

    async slips(env, { since = 0, until = Number.MAX_SAFE_INTEGER, fn, before, limit }) {
      return database
        .env(env)
        .slips.all()
        .filter(({ at, isAfterFailure: isAsked }) => at >= since && at < until && !isAsked)
        .filter((slip) => (fn === undefined || slip.fn === fn) && (before === undefined || slip.runId < before))
        .sort((a, b) => (a.runId < b.runId ? 1 : -1))
        .slice(0, limit)
        .map(({ isAfterFailure: _, ...slip }) => slip);
    },

    async groupRuns(env, runIds, limit) {
      const tables = database.env(env);
      const every = tables.runs.all();
      const found = new Map<string, GroupRun>();
      for (const runId of runIds) {
        const asked = tables.runs.get(runId);
        if (asked === undefined) continue;
        const group = rootOf(asked);
        const opened = [
          group,
          runId,
          ...tables.slips.all().flatMap((slip) => (slip.generation === group ? slip.runId : [])),
        ];
        const reruns = every.filter((run) => run.rerunOf !== null && opened.includes(run.rootRunId));
        for (const id of [...opened, ...reruns.map((run) => run.id)]) {
          const run = tables.runs.get(id);
          if (run === undefined) continue;
          const isAsked = tables.slips.get(id)?.isAfterFailure ?? isAfterFailure(tables, run);
          found.set(`${group}\n${id}`, { group, run: summaryOf(tables, run), isAfterFailure: isAsked });
        }
      }
      return [...found.values()].sort((a, b) => (a.run.id < b.run.id ? -1 : 1)).slice(0, limit);
    },

    async runStarts(env, runs) {
      const tables = database.env(env);
      const decisions = tables.decisions.all().flat();
      return runs.map(({ id, eventId, fn }) => {
        const event = tables.events.get(eventId);
        const decision = tables.decision(eventId, fn);
        return {
          runId: id,
          eventName: event?.name ?? null,
          callerId: event?.callerId ?? null,
          reason: decision?.reason ?? null,
          windowEndsAt: decision?.windowEndsAt ?? null,
          suppressed: Math.min(
            suppressedCountedMax,
            decisions.filter((each) => each.runId === id && isSuppressed(each)).length,
          ),
        };
      });
    },

    async eventNames(env, eventIds) {
      const { events } = database.env(env);
      return eventIds.flatMap((eventId) => {
        const event = events.get(eventId);
        return event === undefined ? [] : { eventId, eventName: event.name, callerId: event.callerId };
      });
    },

    async runPayloads(env, runIds, bytesMax) {
      const tables = database.env(env);
      const within = (text: string | null | undefined) =>
        text === undefined || text === null || Buffer.byteLength(text) > bytesMax ? null : text;
      return runIds.flatMap((runId) => {
        const run = tables.runs.get(runId);
        if (run === undefined) return [];
        const event = tables.events.get(run.eventId);
        return { runId, eventName: event?.name ?? null, data: within(event?.data), result: within(run.result) };
      });
    },

    async lastFailures(env, runIds) {
      const tables = database.env(env);
      return runIds.flatMap((runId) => {
        const last = tables.attempts.get(runId)?.at(-1);
        if (last === undefined) return [];
        return {
          runId,
          step: last.name,
          attempt: last.attempt,
          error: last.error.slice(0, 300),
          retryAt: last.retryAt,
        };
      });
    },
  };
}

const isSlip = ({ id, key, events, generation }: RunRow): boolean =>
  key !== null && events.length < 2 && generation !== id;

/** The window's name is the id of the run that opened it; a batch takes many keys, and stands alone. */
const rootOf = (run: RunRow): string => (run.key !== null && run.events.length < 2 ? run.generation : run.rootRunId);

function summaryOf(tables: Tables, row: RunRow): RunSummary {
  const { result, ...run } = showRun(tables, row);
  return { ...run, preview: result?.slice(0, previewChars) ?? null };
}
