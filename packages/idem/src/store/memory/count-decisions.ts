// Decisions are counted by hour, behind a cursor, and the runs among them that slipped through are noted.
import { functionScope } from "../../model/claim.ts";
import { type Decision, isGatheredKind } from "../../model/decision.ts";
import { bufferedHoldMs, type CountAnswer, type CountInput, hourMs, hoursKeptMs } from "../counts.ts";
import { leastIdAt } from "../id-times.ts";
import type { RunRow, Tables } from "./tables.ts";

// No name of an event holds a line break.
const placeOf = ({ eventId, fn }: Pick<Decision, "eventId" | "fn">): string => `${eventId}\n${fn}`;

export const isSuppressed = ({ kind }: Decision): boolean => kind === "duplicate-event" || kind === "duplicate-key";

/** The events of a batch are all decided to have started its run; the run is its first event's. */
export const isStart = (tables: Tables, { kind, runId, eventId }: Decision): boolean =>
  kind === "started" && runId !== null && tables.runs.get(runId)?.eventId === eventId;

export const inOrder = (tables: Tables): Decision[] =>
  tables.decisions
    .all()
    .flat()
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));

/** Whether it took the key of a run that failed or was cancelled and gave it back by itself, and no hand released it meanwhile. */
export function isAfterFailure(tables: Tables, { fn, key, events, generation, id, previousRunId, createdAt }: RunRow) {
  const before =
    key === null || events.length > 1 || generation === id ? undefined : tables.runs.get(previousRunId ?? "");
  if (before === undefined || before.endedAt === null || before.endedAt > createdAt) return false;
  if (before.endState !== "failed" && before.endState !== "cancelled") return false;
  return !tables.audit
    .all()
    .some(
      ({ action, subject, at }) =>
        action === "release-key" &&
        subject === `${functionScope(fn)} ${key}` &&
        at >= before.createdAt &&
        at <= createdAt,
    );
}

export function countDecisions(tables: Tables, { until, max }: CountInput): CountAnswer {
  const from = tables.countedTo.get("") ?? "";
  const [floor, last] = [leastIdAt(until - bufferedHoldMs), leastIdAt(until)];
  const held = inOrder(tables).find(
    ({ kind, runId, eventId }) =>
      runId === null && isGatheredKind(kind) && eventId >= floor && eventId >= from.split("\n")[0]!,
  );
  const end = held !== undefined && held.eventId < last ? held.eventId : last;
  const waiting = inOrder(tables).filter((decision) => placeOf(decision) > from && decision.eventId < end);
  const counted = waiting.slice(0, max);
  if (counted.length === 0) return { isAll: true };
  for (const decision of counted) {
    const started = isStart(tables, decision) ? 1 : 0;
    const suppressed = isSuppressed(decision) ? 1 : 0;
    if (decision.kind !== "started" && suppressed === 0) continue;
    const at = Math.floor(decision.decidedAt / hourMs) * hourMs;
    const id = `${at}\n${decision.fn}`;
    const before = tables.hourCounts.get(id);
    tables.hourCounts.put(id, {
      at,
      fn: decision.fn,
      started: (before?.started ?? 0) + started,
      suppressed: (before?.suppressed ?? 0) + suppressed,
    });
    const run = started === 1 ? tables.runs.get(decision.runId!)! : null;
    if (run === null || run.key === null || run.events.length > 1 || run.generation === run.id) continue;
    const slip = { runId: run.id, generation: run.generation, fn: run.fn, at: run.createdAt };
    tables.slips.put(run.id, { ...slip, isAfterFailure: isAfterFailure(tables, run) });
  }
  tables.countedTo.put("", placeOf(counted.at(-1)!));
  for (const [id, { at }] of tables.hourCounts.entries()) if (at < until - hoursKeptMs) tables.hourCounts.delete(id);
  for (const { runId } of tables.slips.all()) if (runId < leastIdAt(until - hoursKeptMs)) tables.slips.delete(runId);
  return { isAll: waiting.length <= max };
}
