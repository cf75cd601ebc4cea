// Timelines for tests, told in a few words.
import type { RunDetail, TimelineAttempt, TimelineEntry } from "./run-data.ts";

export const attempt = (given: Partial<TimelineAttempt>): TimelineAttempt => ({
  attempt: 1,
  error: null,
  startedAt: 0,
  endedAt: 0,
  retryAt: null,
  worker: null,
  ...given,
});

export const entry = (given: Partial<TimelineEntry>): TimelineEntry => ({
  stepId: `id of ${given.name ?? "step"}`,
  name: "step",
  kind: "run",
  state: "completed",
  output: null,
  error: null,
  input: null,
  destinationKey: null,
  isKept: false,
  childRunId: null,
  startedAt: 0,
  endedAt: 0,
  waitsUntil: null,
  attempts: [],
  ...given,
});

export const run = (given: Partial<RunDetail>): RunDetail => ({
  id: "run-1",
  function: "shop-charge",
  state: "completed",
  eventId: "event-1",
  key: null,
  rerunOf: null,
  rerunFrom: null,
  previousRunId: null,
  code: null,
  createdAt: 0,
  startedAt: 10,
  endedAt: 1_000,
  dueAt: null,
  parked: null,
  lost: null,
  preview: null,
  previewStep: null,
  output: null,
  error: null,
  timeline: [],
  metadata: [],
  line: [],
  cancelOn: [],
  ...given,
});
