// Reads for the API: copies of what is there now.

import { limitsOfLane, readLane } from "../../flow/lane.ts";
import { eventIdScopes } from "../../model/claim.ts";
import { type DecisionKind, isPending } from "../../model/decision.ts";
import { isEnded, openState } from "../../model/run.ts";
import { type Line, nothingOpen, type OpenSlots, pendingCountedMax, type StoreReads } from "../reads.ts";
import { limitKind } from "../settings.ts";
import { awaitedIn } from "../waits.ts";
import { memoryAlertReads } from "./alert-reads.ts";
import { newest } from "./buffers.ts";
import { memoryCountReads } from "./count-reads.ts";
import { slotUse } from "./lanes.ts";
import { memoryPages } from "./page-reads.ts";
import { memoryChannels } from "./publish-messages.ts";
import { eventOf, runOf, showEvent, showMemo, showRun } from "./show.ts";
import { memoryStepReads } from "./step-reads.ts";
import { bufferId, type Database, type FunctionRow, isDue, type Moment, type StepRow, type Tables } from "./tables.ts";
import { listWorkers } from "./workers.ts";

export function memoryReads(database: Database, moment: () => Moment): StoreReads {
  return {
    ...memoryPages(database),
    ...memoryStepReads(database),

    now: async () => moment().now,

    async functions(env) {
      const tables = database.env(env);
      const present = tables.functions.all().filter((row) => !row.archived);
      return {
        registration: tables.registration,
        functions: present.sort(by(({ fn }) => fn)).map((row) => showFunction(tables, row)),
      };
    },

    async run(env, runId) {
      const tables = database.env(env);
      const row = tables.runs.get(runId);
      return row === undefined ? null : showRun(tables, row);
    },

    async runs(env, { fn, state, eventId, before, limit }) {
      const tables = database.env(env);
      return tables.runs
        .all()
        .filter((row) => fn === undefined || row.fn === fn)
        .filter((row) => eventId === undefined || row.eventId === eventId)
        .filter((row) => before === undefined || row.id < before)
        .map((row) => showRun(tables, row))
        .filter((run) => state === undefined || run.state === state)
        .sort(by(({ id }) => id))
        .reverse()
        .slice(0, limit);
    },

    async runMemo(env, runId) {
      const tables = database.env(env);
      const row = tables.runs.get(runId);
      return row === undefined ? null : showMemo(tables, row);
    },

    async runHistory(env, runId) {
      const tables = database.env(env);
      const row = tables.runs.get(runId);
      return row === undefined ? null : showMemo(tables, row);
    },

    async event(env, eventId) {
      const row = database.env(env).events.get(eventId);
      return row === undefined ? null : showEvent(row);
    },

    async eventByCallerId(env, callerId, scope) {
      const tables = database.env(env);
      for (const each of scope === undefined ? eventIdScopes : [scope]) {
        const claim = tables.claim(each, callerId);
        const row = claim === null ? undefined : tables.events.get(claim.holder);
        if (row !== undefined) return showEvent(row);
      }
      return null;
    },

    async events(env, { name, before, limit }) {
      return database
        .env(env)
        .events.all()
        .filter((row) => name === undefined || row.name === name)
        .filter((row) => before === undefined || row.id < before)
        .sort(by(({ id }) => id))
        .reverse()
        .slice(0, limit)
        .map(showEvent);
    },

    async duplicatesOf(env, eventId, limit) {
      return database
        .env(env)
        .events.all()
        .filter((row) => row.firstEventId === eventId)
        .sort(by(({ id }) => id))
        .slice(0, limit)
        .map(showEvent);
    },

    async decisionsOfEvent(env, eventId) {
      return [...(database.env(env).decisions.get(eventId) ?? [])];
    },

    async decisionsOfEvents(env, eventIds) {
      return eventIds.map((id) => [...(database.env(env).decisions.get(id) ?? [])]);
    },

    async duplicatesOfRun(env, runId, limit, after = "") {
      return database
        .env(env)
        .decisions.all()
        .flat()
        .filter(({ runId: of, kind, eventId }) => of === runId && kind !== "started" && eventId > after)
        .sort(by((decision) => decision.eventId))
        .slice(0, limit);
    },

    async claim(env, scope, key) {
      return database.env(env).claim(scope, key);
    },

    async claimNow(env, scope, key) {
      const claim = database.env(env).claim(scope, key);
      const { now, windowNow, leaseNow } = moment();
      return { claim, now, windowNow: windowNow(claim?.takenAt ?? now), leaseNow };
    },

    async claims(env, { scope, under = "", after, limit }) {
      return database
        .env(env)
        .claims.all()
        .filter((claim) => (scope === undefined ? claim.scope.startsWith(under) : claim.scope === scope))
        .filter((claim) => after === undefined || isAfter(claim, after))
        .sort((a, b) => (isAfter(a, b) ? 1 : -1))
        .slice(0, limit);
    },

    async waitPaths(env, eventName) {
      const waits = database.env(env).findWaits((wait) => wait.eventName === eventName);
      const rules = database.env(env).cancelRules.all().flat();
      const paths = [...waits, ...rules.filter((rule) => rule.eventName === eventName)].map(({ path }) => path);
      return [...new Set(paths)].sort();
    },

    async awaitedNames(env, examinedMax) {
      const tables = database.env(env);
      const looked: StepRow[] = [];
      for (const { id } of tables.runs
        .all()
        .sort(by((run) => run.id))
        .reverse()) {
        if (looked.length < examinedMax) looked.push(...tables.stepsOf(id));
      }
      const waited = looked.flatMap(({ kind, input }) => (kind === "wait-for-event" ? awaitedIn(input) : []));
      const awaited = tables.findWaits(({ eventName }) => eventName !== null).map(({ eventName }) => eventName!);
      return [...new Set([...awaited, ...waited])].sort();
    },

    async waitCandidates(env, eventId, probes) {
      const tables = database.env(env);
      const event = tables.events.get(eventId);
      if (event === undefined) return [];
      return tables
        .findWaits((wait) => wait.eventName === event.name && wait.stamp < event.stamp)
        .filter((wait) => wait.path === "" || probes.some((p) => p.path === wait.path && p.value === wait.value))
        .map(({ runId, stepId, rest }) => ({
          runId,
          stepId,
          rest,
          event: showEvent(eventOf(tables, runOf(tables, runId).eventId)),
        }));
    },

    async cancelCandidates(env, eventId, probes) {
      const tables = database.env(env);
      const event = tables.events.get(eventId);
      if (event === undefined) return [];
      return tables.cancelRules
        .all()
        .flat()
        .filter((rule) => rule.eventName === event.name && rule.stamp < event.stamp)
        .filter(({ endsAt }) => endsAt === null || event.receivedAt < endsAt)
        .filter((rule) => rule.path === "" || probes.some((p) => p.path === rule.path && p.value === rule.value))
        .sort((a, b) => a.stamp - b.stamp)
        .map(({ runId, rest }) => ({ runId, rest, event: showEvent(eventOf(tables, runOf(tables, runId).eventId)) }));
    },

    async crons(env) {
      const rows = database.env(env).crons.all();
      return rows
        .sort(by(({ fn, cron }) => `${fn}\n${cron}`))
        .map(({ fn, cron, lastTickAt }) => ({ fn, cron, lastTickAt }));
    },

    async limitUses(env, limit) {
      const at = moment();
      const use = slotUse(database);
      const uses = new Map<string, { used: number; waiting: number }>();
      for (const job of database.env(env).jobs.all()) {
        if (job.kind !== "run" || job.lane === null || (job.leasedBy === null && !isDue(job, at))) continue;
        for (const id of limitsOfLane(readLane(job.lane))) {
          const waiting = (uses.get(id)?.waiting ?? 0) + (job.leasedBy === null ? 1 : 0);
          uses.set(id, { used: use.get(id) ?? 0, waiting });
        }
      }
      return [...uses]
        .map(([id, { used, waiting }]) => ({ id, used, waiting }))
        .sort((a, b) => b.waiting - a.waiting || b.used - a.used || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },

    async buffer(env, fn, kind, key) {
      const row = database.env(env).buffers.get(bufferId({ fn, kind, key }));
      if (row === undefined) return null;
      const newestEventId = kind === "debounce" ? newest(database.env(env), row.items).eventId : null;
      return { kind, count: row.items.length, dueAt: row.dueAt, newestEventId };
    },

    async pendingCounts(env) {
      const pending = database.env(env).decisions.all().flat().filter(isPending).slice(0, pendingCountedMax);
      const counts: Partial<Record<DecisionKind, number>> = {};
      for (const { kind } of pending) counts[kind] = (counts[kind] ?? 0) + 1;
      return counts;
    },

    async counts(env) {
      const tables = database.env(env);
      const at = moment();
      const count = { queued: 0, running: 0, waiting: 0, parked: 0 };
      for (const row of tables.runs.all()) {
        const { state } = showRun(tables, row);
        if (!isEnded(state)) count[state] += 1;
      }
      const dueByFunction: Record<string, number> = {};
      const byFunction: Record<string, { -readonly [Name in keyof OpenSlots]: number }> = {};
      for (const job of tables.jobs.all()) {
        if (job.kind !== "run") continue;
        const counts = byFunction[job.fn] ?? { ...nothingOpen };
        byFunction[job.fn] = counts;
        counts[openState({ ...job, parkedAt: job.parked?.at ?? null })] += 1;
        counts.beside1 += job.leasedBy === null ? 0 : job.beside[0];
        counts.beside2 += job.leasedBy === null ? 0 : job.beside[1];
        if (job.leasedBy !== null || !isDue(job, at)) continue;
        counts.due += 1;
        dueByFunction[job.fn] = (dueByFunction[job.fn] ?? 0) + 1;
      }
      return { ...count, dueByFunction, byFunction };
    },

    async lines(env, { fn, limit }) {
      const lines = new Map<string, Line>();
      for (const job of database.env(env).jobs.all()) {
        if (job.kind !== "run" || (job.leasedBy === null && job.dueAt !== null)) continue;
        if (fn !== undefined && job.fn !== fn) continue;
        const lane = fn === undefined ? null : job.lane;
        const place = `${job.fn}\n${lane}`;
        const before = lines.get(place) ?? { fn: job.fn, lane, ...emptyLine };
        const isQueued = job.leasedBy === null;
        lines.set(place, {
          ...before,
          queued: before.queued + (isQueued ? 1 : 0),
          running: before.running + (isQueued ? 0 : 1),
          beside1: before.beside1 + (isQueued ? 0 : job.beside[0]),
          beside2: before.beside2 + (isQueued ? 0 : job.beside[1]),
          oldestId: isQueued && (before.oldestId === null || job.id < before.oldestId) ? job.id : before.oldestId,
        });
      }
      return [...lines.values()]
        .sort((a, b) => b.queued - a.queued || b.running - a.running || (a.fn < b.fn ? -1 : 1))
        .slice(0, limit);
    },

    async oldestDue(env) {
      const at = moment();
      const due = database
        .env(env)
        .jobs.all()
        .filter((job) => job.kind === "run" && job.leasedBy === null && isDue(job, at));
      return due.length === 0 ? null : Math.min(...due.map((job) => job.dueAt ?? job.rank));
    },

    async held(env, runId) {
      const tables = database.env(env);
      const job = tables.jobs.get(runId);
      if (job === undefined || job.leasedBy === null) return null;
      const steps = tables.stepsOf(runId);
      const bytes = steps.reduce((sum, { outcome }) => sum + Buffer.byteLength(outcome.json), 0);
      const deferCount = steps.filter(({ kind }) => kind === "defer").length;
      return { worker: job.leasedBy, fence: job.fence, stepCount: steps.length, deferCount, bytes };
    },
    ...memoryChannels(database),

    async metadata(env, runId) {
      const rows = database.env(env).metadata.get(runId) ?? [];
      return [...rows].sort(by(({ stepId, kind }) => JSON.stringify([stepId, kind])));
    },
    async settings(env, kind) {
      const found = database
        .env(env)
        .settings.all()
        .filter((setting) => setting.kind === kind);
      return found.sort(by(({ name }) => name));
    },
    async auditPage(env, { limit, before, action, actor, subject, since = 0, until = Number.POSITIVE_INFINITY }) {
      const fits = (asked: string | undefined, is: string) => asked === undefined || asked === is;
      const older = database
        .env(env)
        .audit.all()
        .filter(({ id }) => before === undefined || Number(id) < Number(before))
        .filter((row) => fits(action, row.action) && fits(actor, row.actor) && fits(subject, row.subject))
        .filter(({ at }) => at >= since && at < until);
      const rows = older.sort((a, b) => Number(b.id) - Number(a.id)).slice(0, limit);
      return { rows, next: rows.length < limit ? null : rows.at(-1)!.id };
    },
    ...memoryAlertReads(database),
    ...memoryCountReads(database),

    async valuesFound(env, { word, isBeginning, limit }) {
      const tables = database.env(env);
      const found = tables.values.entries().flatMap(([eventId, values]) => {
        const { name } = tables.events.get(eventId)!;
        return values.map((each) => ({ ...each, eventId, name }));
      });
      const fitting =
        isBeginning === true
          ? found
              .filter((each) => each.word > word && each.word.startsWith(word))
              .sort((a, b) => (`${a.word}\n${a.eventId}` < `${b.word}\n${b.eventId}` ? -1 : 1))
          : found.filter((each) => each.word === word).sort((a, b) => (a.eventId < b.eventId ? 1 : -1));
      return fitting.slice(0, limit).map(({ eventId, name, path, value }) => ({ eventId, name, path, value }));
    },

    async settingEnvironments(kind) {
      return database.environmentsWith((tables) => tables.settings.all().some((row) => row.kind === kind));
    },

    async environments() {
      return database.environmentsWith((tables) => tables.functions.all().some((row) => !row.archived));
    },

    async workers(leasedIn) {
      return listWorkers(database, leasedIn);
    },
  };
}

function showFunction(tables: Tables, { fn, app, id, config, pausedAt }: FunctionRow) {
  const limits = tables.settings.get(JSON.stringify([limitKind, fn]))?.value ?? null;
  return { fn, app, id, config, pausedAt, limits };
}

// By code unit, as ids and keys are compared everywhere; never by a person's alphabet.
const by =
  <R>(text: (row: R) => string) =>
  (a: R, b: R): number => {
    const [one, other] = [text(a), text(b)];
    return one < other ? -1 : one > other ? 1 : 0;
  };

interface ScopedKey {
  readonly scope: string;
  readonly key: string;
}
const isAfter = (a: ScopedKey, b: ScopedKey): boolean => a.scope > b.scope || (a.scope === b.scope && a.key > b.key);

const emptyLine = { queued: 0, running: 0, beside1: 0, beside2: 0, oldestId: null };
