// Cases for tests of sentences: everything that is not said is nothing.
import type { Event } from "../model/event.ts";
import type { Run } from "../model/run.ts";
import type { TimelineEntry } from "../observe/timeline.ts";
import type { Case, CaseRun } from "./gather-case.ts";

export const startedAt = Date.UTC(2026, 0, 1);

export const madeUpEvent = (over: Partial<Event> = {}): Event => ({
  id: "EVENT1",
  callerId: "order-7",
  name: "order/paid",
  data: "{}",
  ts: startedAt,
  extra: null,
  receivedAt: startedAt,
  firstEventId: null,
  sourceRunId: null,
  ...over,
});

const madeUpRun: Run = {
  id: "RUN1",
  fn: "shop-charge",
  eventId: "EVENT1",
  key: null,
  subject: "EVENT1",
  generation: "g1",
  previousRunId: null,
  rerunOf: null,
  rerunFrom: null,
  code: null,
  state: "completed",
  result: "null",
  createdAt: startedAt,
  startedAt,
  endedAt: startedAt,
  dueAt: null,
  parked: null,
  lost: null,
};

const madeUpStep: TimelineEntry = {
  name: "pay",
  stepId: "pay",
  kind: "run",
  state: "completed",
  output: null,
  error: null,
  destinationKey: null,
  startedAt,
  endedAt: startedAt,
  waitsUntil: null,
  isKept: false,
  attempts: [],
};

export function caseRun(
  over: Partial<Omit<CaseRun, "run" | "timeline">> & {
    readonly run?: Partial<Run>;
    readonly timeline?: readonly Partial<TimelineEntry>[];
  } = {},
): CaseRun {
  const number = over.number ?? 1;
  const event = over.event === undefined ? madeUpEvent({ id: `EVENT${number}` }) : over.event;
  return {
    events: event === null ? [] : [event],
    decision: null,
    kind: "first",
    spared: [],
    line: [],
    cancelOn: [],
    ...over,
    event,
    number,
    run: { ...madeUpRun, id: `RUN${number}`, eventId: `EVENT${number}`, ...over.run },
    timeline: (over.timeline ?? []).map((entry) => ({ ...madeUpStep, ...entry })),
  };
}

export const madeUpCase = (over: Partial<Case>): Case => ({
  now: startedAt + 60_000,
  function: { fn: "shop-charge", name: "charge", config: null, pausedAt: null },
  nameOf: (fn) => fn.replace(/^shop-/, ""),
  runs: [],
  asked: null,
  decisions: [],
  pending: [],
  duplicates: [],
  key: null,
  claim: null,
  guess: null,
  alert: null,
  source: null,
  ...over,
});
