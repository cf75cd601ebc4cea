// Groups of runs as /api shows them: one window of one key, what ran in it, and how many were answered instead of run.
import { z } from "zod";
import { runStates } from "../../model/run.ts";
import { placesInGroup } from "../groups/judge-group.ts";
import { previewStepText, previewText } from "./run-shape.ts";

export const groupedRun = z.object({
  id: z.string(),
  state: z.enum(runStates),
  kind: z
    .enum(placesInGroup)
    .describe(
      "`slipped`: it ran again though nobody asked for it; `maybe`: about the same thing, by our best guess; `rerun`: a person asked",
    ),
  eventId: z.string(),
  createdAt: z.number().int(),
  startedAt: z.number().int().nullable(),
  endedAt: z.number().int().nullable(),
  dueAt: z.number().int().nullable(),
  attempt: z
    .object({
      step: z.string(),
      number: z.number().int().describe("Of the attempt that failed last"),
      of: z.number().int(),
      error: z.string().describe("What it failed with, the first words"),
      retryAt: z.number().int(),
    })
    .nullable(),
  preview: z.string().nullable().describe(previewText),
  previewStep: z.string().nullable().describe(previewStepText),
});
export type GroupedRun = z.infer<typeof groupedRun>;

export const windowKinds = ["timed", "until-finished", "forever", "none"] as const;

export const groupItem = z.object({
  id: z.string().describe("The id of its first run"),
  function: z.string(),
  key: z.string().nullable().describe('As JSON, so that 7 and "7" differ; of a guess: the value it was guessed by'),
  label: z.string().describe('For people: "placementId 48213"'),
  isGuess: z.boolean().describe("Grouped by our best guess: the function has no key"),
  expression: z.string().nullable().describe("What the key is, or would be, made of"),
  eventName: z.string().nullable(),
  window: z.object({
    kind: z.enum(windowKinds).describe("`timed` ends at `endsAt`; `none`: there is no key"),
    startsAt: z.number().int(),
    endsAt: z.number().int().nullable(),
  }),
  runs: z.array(groupedRun).describe("At most 4: the first, those that ran again, reruns"),
  runCount: z.number().int().describe("All runs of the group"),
  counts: z.object({
    suppressed: z.number().int().describe("Duplicates that were answered with a run of the group"),
    slipped: z.number().int(),
    reruns: z.number().int(),
  }),
  gapMs: z.number().int().nullable().describe("Between the first run and the second"),
  isLoud: z.boolean(),
  tags: z.array(z.string()).describe("For people: window 2, key was missing, maybe the same, no-worker"),
});
export type GroupItem = z.infer<typeof groupItem>;
