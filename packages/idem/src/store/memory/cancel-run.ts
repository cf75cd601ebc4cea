// A person, or an event, ends a run from outside. A worker in the middle of it finds no job and is told that it ended.
import type { CancelAnswer, CancelInput } from "../store.ts";
import { endRun } from "./end-run.ts";
import { staleRegistration, storeEvents } from "./ingest.ts";
import type { Moment, Tables } from "./tables.ts";

export function cancelRun(tables: Tables, at: Moment, input: CancelInput): CancelAnswer {
  const run = tables.runs.get(input.runId);
  if (run === undefined) return { kind: "unknown" };
  if (run.endState !== null) return { kind: "already-ended", state: run.endState };
  const stale = staleRegistration(tables, input.ingest);
  if (stale !== null) return stale;
  const ingested = input.ingest === null ? null : storeEvents(tables, at, input.ingest, null);
  const { result, releaseKey } = input;
  const woken = endRun(tables, at, run.id, { state: "cancelled", result, releaseKey, fence: null });
  return { kind: "cancelled", woken, ingested };
}
