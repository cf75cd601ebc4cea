// POST /api/runs/:run/rerun: a person asks for a new run from an old one, from the start, with other data or from one of its steps. The
// fate of keys can be asked before.
import { z } from "zod";
import { judgeData } from "../../../engine/rerun-data.ts";
import { functionScope } from "../../../model/claim.ts";
import { errors } from "../../../model/errors.ts";
import { apiRoute } from "../../api/api-route.ts";

// An edited input may be as large as what a step may keep.
const bodyBytesMax = 5 * 1024 * 1024;

const otherData = z.record(z.string(), z.unknown());

export const rerunRun = apiRoute({
  method: "POST",
  path: "/api/runs/:run/rerun",
  summary: "Start a new run from this one, past its event's id and its key, with the same destination keys",
  tag: "runs",
  bodyBytesMax,
  body: {
    fromStep: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe(
        "Keep what was recorded before this step: its id as written, `id:n` for its n-th repeat, or its stepId",
      ),
    input: z.array(z.unknown()).optional().describe("With fromStep: arguments for that step's code instead of its own"),
    data: otherData
      .optional()
      .describe("Without fromStep: in place of its event's data; refused where it gives another key"),
  },
  answer: z.object({ runId: z.string() }),
  handle: async ({ params, body, engine, actor }) => ({
    runId: await engine.rerun(params.run!, {
      byHand: { actor: actor.name },
      ...(body.fromStep === undefined ? {} : { fromStep: body.fromStep }),
      ...(body.input === undefined ? {} : { input: body.input }),
      ...(body.data === undefined ? {} : { data: body.data }),
    }),
  }),
});

export const previewRerun = apiRoute({
  method: "POST",
  path: "/api/runs/:run/rerun-preview",
  summary: "Ask what would become of the run's key if it were rerun with this data; nothing is started",
  tag: "runs",
  bodyBytesMax,
  body: { data: otherData },
  answer: z.object({
    key: z
      .enum(["none", "same", "missing", "other"])
      .describe("`other`: the data is about something else, and the rerun would be refused"),
    runKey: z.string().nullable(),
    dataKey: z.string().nullable().describe("What the data gives"),
    holder: z.string().nullable().describe("The run that answers for the run's key now; null when nobody does"),
  }),
  handle: async ({ params, body, engine, env }) => {
    const { reads } = engine.store;
    const memo = await reads.runMemo(env, params.run!);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    const { key, dataKey } = await judgeData(engine, memo, body.data);
    const { fn, key: runKey } = memo.run;
    const claim = runKey === null ? null : await reads.claim(env, functionScope(fn), runKey);
    return { key, runKey, dataKey, holder: claim?.holder ?? null };
  },
});
