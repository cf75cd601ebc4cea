// GET /api/runs/:run/input: the data a run was given, byte for byte as it is stored: its event's, or what a person put in its place.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { storedJson } from "../../api/payloads.ts";

export const readRunInput = apiRoute({
  method: "GET",
  path: "/api/runs/:run/input",
  summary: "Read the data a run was given, as it is stored; of a batch, that of its first event",
  tag: "runs",
  answer: z.unknown(),
  handle: async ({ params, engine, env }) => {
    const memo = await engine.store.reads.runMemo(env, params.run!);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    return new RawAnswer(storedJson(memo.event.data));
  },
});
