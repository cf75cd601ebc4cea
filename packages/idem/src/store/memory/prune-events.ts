// History a person no longer wants: an event with its decisions and all its runs, once nothing can ask for any of them.
import { eventIdScopes, functionScope } from "../../model/claim.ts";
import { isPending } from "../../model/decision.ts";
import { isOpen } from "../../model/window.ts";
import type { Alert } from "../alerts.ts";
import { type PruneAnswer, type PruneCounts, type PruneInput, prunedNothing } from "../prune.ts";
import type { EventRow, Moment, RunRow, Tables } from "./tables.ts";

export function pruneEvents(tables: Tables, at: Moment, input: PruneInput): PruneAnswer {
  const { before, after, max, auditBefore, turn } = input;
  const nothing = { deleted: prunedNothing, kept: 0, after, clearTo: after, reachedAt: null, othersUntil: null };
  if (turn !== undefined) {
    const held = tables.pruneTurn.get("");
    if (held !== undefined && held.by !== turn.by && held.until > at.leaseNow) {
      return { ...nothing, othersUntil: held.until };
    }
    tables.pruneTurn.put("", { by: turn.by, until: at.now + turn.ms });
  }
  if (after === "") {
    const told = pruneAlerts(tables, before, max);
    if (told.alerts + told.pairs > 0) return { ...nothing, deleted: { ...prunedNothing, ...told } };
  }
  const deleted = { ...prunedNothing };
  const old = tables.events
    .all()
    .filter((event) => event.id > after && event.receivedAt < before)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  let left = max;
  let kept = 0;
  let last = after;
  let reachedAt: number | null = null;
  const answer = (next: string | null): PruneAnswer => {
    // The first that is left, old or not.
    const stays = tables.events
      .all()
      .reduce<string | null>((first, { id }) => (id > after && (first === null || id < first) ? id : first), null);
    const clear = old.filter(({ id }) => id <= last && (stays === null || id < stays)).at(-1);
    return { ...nothing, deleted, kept, after: next, clearTo: clear?.id ?? after, reachedAt };
  };
  for (const event of old) {
    const runs = tables.runs.all().filter((run) => run.events.includes(event.id));
    if (isNeeded(tables, at, event, runs, before)) {
      kept += 1;
    } else {
      for (const { id } of runs) {
        const steps = cut(tables.steps, id, left);
        const attempts = cut(tables.attempts, id, left - steps);
        deleted.steps += steps;
        deleted.attempts += attempts;
        const logs = cut(tables.logs, id, left - steps - attempts);
        deleted.logs += logs;
        left -= steps + attempts + logs;
      }
      const decisions = tables.decisions.get(event.id)?.length ?? 0;
      const own = runs.length + decisions + 1;
      if (own > left && left < max) return answer(last);
      for (const { id } of runs) {
        tables.runs.delete(id);
        tables.metadata.delete(id);
        tables.logBytes.delete(id);
      }
      tables.decisions.delete(event.id);
      tables.events.delete(event.id);
      tables.values.delete(event.id);
      deleted.runs += runs.length;
      deleted.decisions += decisions;
      deleted.events += 1;
      left = Math.max(0, left - own);
    }
    last = event.id;
    reachedAt = event.receivedAt;
  }
  if (auditBefore === undefined) return answer(null);
  const entries = tables.audit.all().filter((entry) => entry.at < auditBefore);
  for (const { id } of entries.slice(0, left)) tables.audit.delete(id);
  deleted.audit = Math.min(entries.length, left);
  return answer(entries.length > left ? last : null);
}

/** Takes up to `max` of the rows kept under that key. */
function cut<R>(
  table: {
    get(key: string): readonly R[] | undefined;
    put(key: string, rows: readonly R[]): void;
    delete(key: string): void;
  },
  key: string,
  max: number,
): number {
  const rows = table.get(key) ?? [];
  const count = Math.min(rows.length, max);
  if (count === rows.length) table.delete(key);
  else table.put(key, rows.slice(count));
  return count;
}

function isNeeded(tables: Tables, at: Moment, event: EventRow, runs: readonly RunRow[], before: number): boolean {
  const isTaken = (scope: string, key: string | null, holder: string): boolean => {
    const claim = key === null ? null : tables.claim(scope, key);
    return claim !== null && claim.holder === holder && isOpen(claim, at.windowNow(claim.takenAt));
  };
  return (
    eventIdScopes.some((scope) => isTaken(scope, event.callerId, event.id)) ||
    tables.jobs.has(`deliver:${event.id}`) ||
    (tables.decisions.get(event.id) ?? []).some(isPending) ||
    runs.some((run) => run.endedAt === null || run.endedAt >= before || tables.jobs.has(`announce:${run.id}`)) ||
    // A batch goes with its first event, and the others after it.
    runs.some((run) => run.eventId !== event.id) ||
    runs.some((run) => run.keys.some((key) => isTaken(functionScope(run.fn), key, run.id)))
  );
}

const isOld = ({ state, lastAt, judgedAt }: Alert, before: number): boolean =>
  state === "closed" && Math.max(lastAt, judgedAt ?? 0) < before;

/** Those that nobody will look for again: closed, and old. Pairs go first; the alert goes with its last ones. */
function pruneAlerts(tables: Tables, before: number, max: number): Pick<PruneCounts, "alerts" | "pairs"> {
  const deleted = { alerts: 0, pairs: 0 };
  for (const { id } of tables.alerts.all().filter((alert) => isOld(alert, before))) {
    const left = max - deleted.alerts - deleted.pairs;
    const places = tables.alertPairs.entries().flatMap(([place, { alertId }]) => (alertId === id ? place : []));
    for (const place of places.slice(0, left)) tables.alertPairs.delete(place);
    deleted.pairs += Math.min(left, places.length);
    if (places.length >= left) return deleted;
    tables.alerts.delete(id);
    deleted.alerts += 1;
  }
  return deleted;
}
