// GET /api/runs/:run/logs: what the run's code wrote through its logger.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { logLevels, readLog } from "../../../model/log-line.ts";
import { apiRoute } from "../../api/api-route.ts";

const logLine = z.object({
  id: z.string(),
  at: z.number().int(),
  level: z.enum(logLevels),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).nullable(),
  stepId: z
    .string()
    .nullable()
    .describe("The step whose body wrote it, by its id in the timeline; null for code between steps"),
  attempt: z.number().int().describe("Of the step, or of the code between steps"),
  isCut: z.boolean().describe("Something of it was too long to be kept"),
});

export const readRunLogs = apiRoute({
  method: "GET",
  path: "/api/runs/:run/logs",
  summary: "List what a run's code wrote through its logger, in the order of writing",
  tag: "runs",
  query: {
    step: z.string().min(1).max(256).optional().describe("Only what the body of this step wrote, by its id"),
    level: z.enum(logLevels).optional().describe("Only this level and those above it"),
  },
  answer: z.object({
    lines: z.array(logLine),
    droppedCount: z.number().int().describe("Lines that came too fast between two commits: counted, not kept"),
    isFull: z.boolean().describe("The run wrote more than is kept of one; what came later is missing"),
    whyNone: z
      .enum(["off", "elsewhere"])
      .nullable()
      .describe(
        "`off`: lines are not kept here. `elsewhere`: the function's app is called over HTTP, and its lines stay in its own log",
      ),
  }),
  handle: async ({ params, query, engine, env }) => {
    const runId = params.run!;
    const { reads } = engine.store;
    const [log, run] = await Promise.all([reads.runLog(env, runId), reads.run(env, runId)]);
    if (log === null || run === null) throw errors.RUN_UNKNOWN({ runId });
    const { lines, dropped } = readLog(log.parts);
    const lowest = query.level === undefined ? 0 : logLevels.indexOf(query.level);
    const wanted = lines.filter(
      ({ stepId, level }) => (query.step === undefined || stepId === query.step) && logLevels.indexOf(level) >= lowest,
    );
    const isRemote = engine.registry.get(run.fn)?.config.runtime !== undefined;
    return {
      lines: wanted.map(({ n: _, fields, ...line }) => ({
        ...line,
        fields: fields === null ? null : (JSON.parse(fields) as Record<string, unknown>),
      })),
      droppedCount: dropped,
      isFull: log.isFull,
      whyNone: lines.length > 0 ? null : isRemote ? ("elsewhere" as const) : engine.keepsLogs ? null : ("off" as const),
    };
  },
});
