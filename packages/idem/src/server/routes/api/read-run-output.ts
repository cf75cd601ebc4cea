// GET /api/runs/:run/output: what the run returned, or the error it ended with, byte for byte as it is stored.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { storedJson } from "../../api/payloads.ts";

export const readRunOutput = apiRoute({
  method: "GET",
  path: "/api/runs/:run/output",
  summary: "Read a run's output or error as it is stored; null while it is open",
  tag: "runs",
  answer: z.unknown(),
  handle: async ({ params, engine, env }) => {
    const run = await engine.store.reads.run(env, params.run!);
    if (run === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    return new RawAnswer(storedJson(run.result ?? "null"));
  },
});
