// Runs and their timelines as /api shows them.
import { z } from "zod";
import { parkedKinds, type Run, runStates } from "../../model/run.ts";
import { stepKinds } from "../../model/step.ts";
import { lostInput } from "../../model/step-input.ts";
import { readError, type SerializedError } from "../../model/user-errors.ts";
import { invokedRun } from "../../model/wait.ts";
import { timelineOf } from "../../observe/timeline.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { Metadata } from "../../store/metadata.ts";
import { previewChars, type RunSummary } from "../../store/reads.ts";
import type { StepGiven } from "../../store/steps.ts";
import type { Preview } from "./open-previews.ts";
import { errorSchema, type PayloadBudget, payloadSchema } from "./payloads.ts";

export const previewText =
  "The first characters of its output or error, as JSON text; in a list, of an open run: of what its code made last";
export const previewStepText = "The step that made what the preview shows; null when it is the run's own";

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
  code: z
    .string()
    .nullable()
    .describe(
      "Fingerprint of the code that entered it first; code-changed in its timeline says where it went on under another",
    ),
  createdAt: z.number().int(),
  startedAt: z.number().int().nullable(),
  endedAt: z.number().int().nullable(),
  dueAt: z.number().int().nullable().describe("When a waiting run is looked at again at the latest"),
  parked: z
    .object({ kind: z.enum(parkedKinds), reason: z.string(), at: z.number().int() })
    .nullable()
    .describe("Why a parked run goes on only when a person lets it"),
  lost: z
    .object({ count: z.number().int(), worker: z.string(), at: z.number().int() })
    .nullable()
    .describe("How many workers were lost in the middle of it since it last got on, and the last of them"),
  preview: z.string().nullable().describe(previewText),
  previewStep: z.string().nullable().describe(previewStepText),
});
export type RunItem = z.infer<typeof runItem>;

export const runItemOf = (run: RunSummary, shown?: Preview): RunItem => ({
  id: run.id,
  function: run.fn,
  state: run.state,
  eventId: run.eventId,
  key: run.key,
  rerunOf: run.rerunOf,
  rerunFrom: run.rerunFrom === null ? null : { ...run.rerunFrom },
  previousRunId: run.previousRunId,
  code: run.code,
  createdAt: run.createdAt,
  startedAt: run.startedAt,
  endedAt: run.endedAt,
  dueAt: run.dueAt === null || run.dueAt >= Number.MAX_SAFE_INTEGER ? null : run.dueAt,
  parked: run.parked,
  lost: run.lost,
  preview: run.preview,
  previewStep: null,
  ...shown,
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
  input: payloadSchema
    .extend({
      isEdited: z.boolean().describe("A person put it in place of what the code gives"),
      lost: z.string().nullable().describe("Why it could not be kept, in words; its value is null then"),
    })
    .nullable()
    .describe(
      "What it was given: a list of arguments, or what the tool was asked for; whole at /api/runs/:run/steps/:step/input",
    ),
  destinationKey: z.string().nullable(),
  isKept: z.boolean().describe("Recorded in the run that this one reruns"),
  childRunId: z.string().nullable().describe("The run it invoked"),
  startedAt: z.number().int(),
  endedAt: z.number().int().nullable(),
  waitsUntil: z.number().int().nullable(),
  attempts: z.array(attempt),
});

const metadataItem = z.object({
  stepId: z.string().nullable().describe("The step it is about; null for the run itself"),
  kind: z.string().describe("`userland.…` of the app's author, `inngest.score`, `inngest.ai` …"),
  values: payloadSchema,
  changedAt: z.number().int(),
});

export const runDetail = runItem.extend({
  metadata: z
    .array(metadataItem)
    .describe("What the app says about the run and its steps: scores, what models cost, notes"),
  output: payloadSchema.nullable().describe("Of a completed run; whole at /api/runs/:run/output"),
  error: errorSchema.nullable(),
  timeline: z.array(timelineEntry),
});

/** Larger ones are read by themselves: a run may have a thousand steps. */
export const shownInputBytesMax = 8 * 1024;

export function runDetailOf(
  memo: RunMemo,
  given: readonly StepGiven[],
  said: readonly Metadata[],
  env: string,
  budget: PayloadBudget,
): z.infer<typeof runDetail> {
  const { run } = memo;
  const isCompleted = run.state === "completed";
  return {
    ...wholeRunItemOf(run),
    output: isCompleted && run.result !== null ? budget.show(run.result) : null,
    error: !isCompleted && run.result !== null ? budget.showError(readError(run.result)) : null,
    timeline: timelineOfMemo(memo, given, env, budget),
    metadata: said.map(({ stepId, kind, value, changedAt }) => ({
      stepId: stepId === "" ? null : stepId,
      kind,
      values: budget.show(value),
      changedAt,
    })),
  };
}

function timelineOfMemo(
  memo: RunMemo,
  given: readonly StepGiven[],
  env: string,
  budget: PayloadBudget,
): z.infer<typeof timelineEntry>[] {
  const givenTo = new Map(given.map((each) => [each.stepId, each]));
  const outcomes = new Map(memo.steps.map((step) => [step.stepId, step.outcome]));
  const showError = (error: SerializedError | null) => (error === null ? null : budget.showError(error));
  // Values are parsed below, and only those that are shown.
  const steps = memo.steps.map((step) =>
    step.outcome.kind === "value" ? { ...step, outcome: { kind: "value" as const, json: "null" } } : step,
  );
  return timelineOf({ ...memo, steps }, env).map((entry) => {
    const outcome = outcomes.get(entry.stepId);
    const { input = null, inputBytes = null, childRunId = null } = givenTo.get(entry.stepId) ?? {};
    const edited = memo.inputs[entry.stepId];
    return {
      ...entry,
      output: outcome?.kind === "value" ? budget.show(outcome.json) : null,
      error: showError(entry.error),
      input: inputItemOf(input ?? edited ?? null, inputBytes, edited !== undefined, budget),
      childRunId: invokedRun(childRunId),
      attempts: entry.attempts.map((each) => ({ ...each, error: showError(each.error) })),
    };
  });
}

/** `bytes` without a text: it is larger than may stand here. */
function inputItemOf(
  text: string | null,
  bytes: number | null,
  isEdited: boolean,
  budget: PayloadBudget,
): z.infer<typeof timelineEntry>["input"] {
  if (text === null) return bytes === null ? null : { value: null, bytes, isOmitted: true, isEdited, lost: null };
  const lost = lostInput(text);
  if (lost !== null) return { value: null, bytes: 0, isOmitted: false, isEdited, lost };
  return { ...budget.show(text), isEdited, lost: null };
}
