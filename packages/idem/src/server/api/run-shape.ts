// Runs and their timelines as /api shows them.
import { z } from "zod";
import type { Run } from "../../model/run.ts";
import { stepKinds } from "../../model/step.ts";
import { readError, type SerializedError } from "../../model/user-errors.ts";
import { timelineOf } from "../../observe/timeline.ts";
import type { RunMemo } from "../../store/leases.ts";
import { previewChars, type RunSummary } from "../../store/reads.ts";
import { errorSchema, type PayloadBudget, payloadSchema } from "./payloads.ts";

export const runStates = ["queued", "running", "waiting", "completed", "failed", "cancelled"] as const;

export const runItem = z.object({
  id: z.string(),
  function: z.string().describe("`<app>-<id>`, the function's name in its environment"),
  state: z.enum(runStates),
  eventId: z.string(),
  key: z.string().nullable().describe('As JSON, so that 7 and "7" differ'),
  rerunOf: z.string().nullable(),
  rerunFrom: z
    .object({ stepId: z.string(), name: z.string(), keptCount: z.number().int() })
    .nullable()
    .describe("Set on a rerun that began at a step: which one, and how many recorded steps it kept"),
  previousRunId: z.string().nullable().describe("The run that held the same key before this one"),
  createdAt: z.number().int(),
  startedAt: z.number().int().nullable(),
  endedAt: z.number().int().nullable(),
  dueAt: z.number().int().nullable().describe("When a waiting run is looked at again at the latest"),
  preview: z.string().nullable().describe("The first characters of its output or error, as JSON text"),
});
export type RunItem = z.infer<typeof runItem>;

export const runItemOf = (run: RunSummary): RunItem => ({
  id: run.id,
  function: run.fn,
  state: run.state,
  eventId: run.eventId,
  key: run.key,
  rerunOf: run.rerunOf,
  rerunFrom: run.rerunFrom === null ? null : { ...run.rerunFrom },
  previousRunId: run.previousRunId,
  createdAt: run.createdAt,
  startedAt: run.startedAt,
  endedAt: run.endedAt,
  dueAt: run.dueAt === null || run.dueAt >= Number.MAX_SAFE_INTEGER ? null : run.dueAt,
  preview: run.preview,
});

export const wholeRunItemOf = ({ result, ...run }: Run): RunItem =>
  runItemOf({ ...run, preview: result?.slice(0, previewChars) ?? null });

const attempt = z.object({
  attempt: z.number().int(),
  error: errorSchema.nullable(),
  startedAt: z.number().int(),
  endedAt: z.number().int(),
  retryAt: z.number().int().nullable(),
  worker: z.string().nullable(),
});

export const timelineEntry = z.object({
  stepId: z.string().describe("Unique in the run; empty for code between steps"),
  name: z.string(),
  kind: z.enum([...stepKinds, "function"]),
  state: z.enum(["completed", "failed", "retrying", "waiting"]),
  output: payloadSchema.nullable().describe("Of a completed step; whole at /api/runs/:run/steps/:step/output"),
  error: errorSchema.nullable(),
  input: z.array(z.unknown()).nullable().describe("What a person put in place of its arguments"),
  destinationKey: z.string().nullable(),
  isKept: z.boolean().describe("Recorded in the run that this one reruns"),
  childRunId: z.string().nullable().describe("The run it invoked and waits for"),
  startedAt: z.number().int(),
  endedAt: z.number().int().nullable(),
  waitsUntil: z.number().int().nullable(),
  attempts: z.array(attempt),
});

export const runDetail = runItem.extend({
  output: payloadSchema.nullable().describe("Of a completed run; whole at /api/runs/:run/output"),
  error: errorSchema.nullable(),
  timeline: z.array(timelineEntry),
});

export function runDetailOf(memo: RunMemo, env: string, budget: PayloadBudget): z.infer<typeof runDetail> {
  const { run } = memo;
  const isCompleted = run.state === "completed";
  return {
    ...wholeRunItemOf(run),
    output: isCompleted && run.result !== null ? budget.show(run.result) : null,
    error: !isCompleted && run.result !== null ? budget.showError(readError(run.result)) : null,
    timeline: timelineOfMemo(memo, env, budget),
  };
}

function timelineOfMemo(memo: RunMemo, env: string, budget: PayloadBudget): z.infer<typeof timelineEntry>[] {
  const outcomes = new Map(memo.steps.map((step) => [step.stepId, step.outcome]));
  const children = new Map(memo.waits.map((wait) => [wait.stepId, wait.childRunId]));
  const showError = (error: SerializedError | null) => (error === null ? null : budget.showError(error));
  // Values are parsed below, and only those that are shown.
  const steps = memo.steps.map((step) =>
    step.outcome.kind === "value" ? { ...step, outcome: { kind: "value" as const, json: "null" } } : step,
  );
  return timelineOf({ ...memo, steps }, env).map((entry) => {
    const outcome = outcomes.get(entry.stepId);
    const input = memo.inputs[entry.stepId];
    return {
      ...entry,
      output: outcome?.kind === "value" ? budget.show(outcome.json) : null,
      error: showError(entry.error),
      input: input === undefined ? null : (JSON.parse(input) as unknown[]),
      childRunId: children.get(entry.stepId) ?? null,
      attempts: entry.attempts.map((each) => ({ ...each, error: showError(each.error) })),
    };
  });
}
