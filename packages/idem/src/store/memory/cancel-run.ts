// A person, or an event, ends a run from outside. A worker in the middle of it finds no job and learns that it ended.
import type { CancelAnswer, CancelInput } from "../runs.ts";
import { endRun } from "./end-run.ts";
import { staleRegistration, storeEvents } from "./ingest.ts";
import { isWanted } from "./lanes.ts";
import { runOf } from "./show.ts";
import type { Moment, Tables } from "./tables.ts";

export function cancelRun(tables: Tables, at: Moment, input: CancelInput): CancelAnswer {
  const run = tables.runs.get(input.runId);
  if (run === undefined) return { kind: "unknown" };
  if (run.endState !== null) return { kind: "already-ended", state: run.endState };
  const stale = staleRegistration(tables, input.ingest);
  if (stale !== null) return stale;
  const ingested = input.ingest === null ? null : storeEvents(tables, at, input.ingest, null);
  // Gone when what it left behind started a run that took its place.
  const job = tables.jobs.get(run.id);
  const { result, releaseKey } = input;
  const isEnded = runOf(tables, run.id).endState !== null;
  const woken = isEnded ? [] : endRun(tables, at, run.id, { state: "cancelled", result, releaseKey, fence: null });
  if (input.byHand !== undefined) tables.addAudit(at, { action: "cancel-run", subject: run.id, ...input.byHand });
  const lane = job?.kind === "run" && job.leasedBy !== null ? job.lane : null;
  return { kind: "cancelled", woken, ingested, freed: isWanted(tables.database, at, lane) };
}
