// GET /v1/runs/:run/jobs: what is queued for a run.
import { restJobs } from "../../../protocol/rest-shapes.ts";
import { runIn, v1Route } from "../../v1-route.ts";

export const listRunJobs = v1Route({
  method: "GET",
  path: "/v1/runs/:run/jobs",
  handle: async ({ params, engine }) => restJobs(await runIn(engine, params.run!)),
});
