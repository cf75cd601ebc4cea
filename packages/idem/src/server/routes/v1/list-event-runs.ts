// GET /v1/events/:event/runs: the documented way to wait for a result. For a duplicate these are the runs that answer for it:
// asking again gives the first one's outcome, also here.
import type { Run } from "../../../model/run.ts";
import { restRun } from "../../../protocol/rest-shapes.ts";
import { eventIn, v1Route } from "../../v1-route.ts";

const runsMax = 100;

export const listEventRuns = v1Route({
  method: "GET",
  path: "/v1/events/:event/runs",
  handle: async ({ params, engine, env }) => {
    const { reads } = engine.store;
    const event = await eventIn(engine, params.event!);
    const runs = new Map<string, Run>();
    for (const run of await reads.runs(env, { eventId: event.id, limit: runsMax })) runs.set(run.id, run);
    for (const { runId } of await reads.decisionsOfEvent(env, event.id)) {
      if (runId === null || runs.has(runId)) continue;
      const run = await reads.run(env, runId);
      if (run !== null) runs.set(runId, run);
    }
    return [...runs.values()].map((run) => restRun(run, env));
  },
});
