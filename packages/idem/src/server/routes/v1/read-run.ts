// GET /v1/runs/:run: one run.
import { restRun } from "../../../protocol/rest-shapes.ts";
import { runIn, v1Route } from "../../v1-route.ts";

export const readRun = v1Route({
  method: "GET",
  path: "/v1/runs/:run",
  handle: async ({ params, engine, env }) => restRun(await runIn(engine, params.run!), env),
});
