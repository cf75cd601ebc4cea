// A person lets a parked run go on: it is due now, and the workers it lost before no longer count.
import type { UnparkAnswer, UnparkInput } from "../runs.ts";
import { showRun } from "./show.ts";
import type { Moment, Tables } from "./tables.ts";

export function unparkRun(tables: Tables, at: Moment, { runId, byHand }: UnparkInput): UnparkAnswer {
  const run = tables.runs.get(runId);
  if (run === undefined) return { kind: "unknown" };
  const job = tables.jobs.get(runId);
  const { state, parked } = showRun(tables, run);
  if (job === undefined || state !== "parked" || parked === null) return { kind: "not-parked", state };
  const { at: _, ...released } = parked;
  tables.jobs.put(runId, { ...job, dueAt: null, rank: at.now, lost: null, enterAt: null, parked: null, released });
  if (byHand !== undefined) tables.addAudit(at, { action: "release-run", subject: runId, ...byHand });
  return { kind: "released", fn: run.fn, from: released };
}
