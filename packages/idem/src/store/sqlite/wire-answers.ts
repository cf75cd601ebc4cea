// Answers on their way between the threads: parts that repeat their call are not sent back but taken from it (wire.ts).
import type { Decision } from "../../model/decision.ts";
import type { Advanced, AdvanceInput } from "../advance.ts";
import type { Ticked, TickInput } from "../flow.ts";
import type { Ingested, IngestInput, NewEvent, StartPair } from "../ingest.ts";
import type { LeasedJob } from "../leases.ts";
import type { Call, CallAnswer } from "./calls.ts";
import { type Flat, none } from "./wire.ts";

/** A number: the step is saved or the run ended, at that time (below zero: and a slot was given back) · a list: what was accepted · an object: anything else */
export function packAnswer(call: Call, answer: CallAnswer): unknown {
  if (!answer.ok) return answer;
  if (call.name === "ingest") {
    const ingested = answer.value as Ingested | { kind: "stale-registration" };
    if (ingested.kind !== "ingested" || !bornHere(ingested, call.input[0] as IngestInput)) return answer;
    return packIngested(ingested);
  }
  if (call.name === "tick") {
    const ticked = answer.value as Ticked | { kind: "stale-registration" };
    if (ticked.kind !== "ticked" || !bornHere(ticked, givenTicks(call))) return answer;
    return [...packIngested(ticked), ticked.fired];
  }
  if (call.name === "advance" && isPlain(answer.value as Advanced, call.input[0] as AdvanceInput)) {
    const { now, freed } = answer.value as Advanced;
    return freed ? -now : now;
  }
  return answer;
}

export function unpackAnswer(call: Call, packed: unknown): CallAnswer {
  if (typeof packed === "number") {
    const { steps, seen, next, ingest } = call.input[0] as AdvanceInput;
    const now = Math.abs(packed);
    const value: Advanced = {
      kind: "advanced",
      now,
      outcomes: steps.length === 0 ? none : steps.map((step) => step.outcome),
      ingested: ingest === null ? null : nothingIngested(now),
      seen,
      news: none,
      stamps: null,
      leased: next.kind !== "end",
      woken: none,
      freed: packed < 0,
    };
    return { ok: true, value };
  }
  if (Array.isArray(packed) && call.name === "tick") {
    const value: Ticked = { ...unpackIngested(givenTicks(call), packed), kind: "ticked", fired: packed[6] as number[] };
    return { ok: true, value };
  }
  if (Array.isArray(packed)) return { ok: true, value: unpackIngested(call.input[0] as IngestInput, packed) };
  return packed as CallAnswer;
}

type Answered = Omit<Ingested, "kind">;
type Given = Pick<IngestInput, "events" | "pairs">;

/** Ticks as if their events had been sent together. */
function givenTicks(call: Call): Given {
  const { ticks } = call.input[0] as TickInput;
  return { events: ticks.map(({ event }) => event), pairs: ticks.map(({ pair }, event) => ({ ...pair, event })) };
}

const nothingIngested = (now: number): Ingested => ({
  kind: "ingested",
  now,
  events: none,
  decisions: none,
  firsts: none,
  leased: none,
  queued: false,
  cancelled: none,
  dueAt: null,
});

/** Whether the answer follows from its call but for the time. */
function isPlain(value: Advanced, { steps, seen, next, ingest }: AdvanceInput): boolean {
  return (
    value.kind === "advanced" &&
    value.beside === undefined &&
    value.news.length === 0 &&
    value.stamps === null &&
    value.woken.length === 0 &&
    value.seen === seen &&
    value.leased === (next.kind !== "end") &&
    value.outcomes.every((outcome, i) => outcome === steps[i]!.outcome) &&
    // A repeated end ingests nothing again, whatever its call brings.
    (value.ingested === null ? ingest === null : isEmpty(value.ingested))
  );
}

const isEmpty = ({ events, decisions, leased, queued, cancelled, dueAt }: Ingested): boolean =>
  events.length === 0 &&
  decisions.length === 0 &&
  leased.length === 0 &&
  !queued &&
  cancelled.length === 0 &&
  dueAt === null;

/** Runs that were leased must have been born in this very call, so that the other side can put them together. */
function bornHere({ leased, now, cancelled, dueAt, redecided }: Answered, { pairs, events }: Given): boolean {
  if (cancelled.length > 0 || dueAt !== null || redecided !== undefined) return false;
  return leased.every((job) => {
    if (job.kind === "announce") return false;
    if (job.kind === "deliver") return job.event.receivedAt === now && events.some(({ id }) => id === job.event.id);
    if (job.memo.run.createdAt !== now || job.memo.steps.length > 0 || job.lostWorkers > 0) return false;
    return pairs.some((pair) => pair.kind === "start" && pair.runId === job.jobId);
  });
}

const decisionWidth = 9;

function packIngested({ now, queued, events, decisions, firsts, leased }: Answered): Flat {
  const flatEvents: unknown[] = [];
  for (const { id, firstEventId } of events) flatEvents.push(id, firstEventId);
  const flatDecisions: unknown[] = [];
  for (const { eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt } of decisions) {
    flatDecisions.push(eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt);
  }
  const flatLeased: unknown[] = [];
  for (const job of leased) {
    if (job.kind === "deliver") flatLeased.push(null, job.event.id, job.fence, null, null);
    else if (job.kind === "run")
      flatLeased.push(job.jobId, null, job.fence, job.memo.run.generation, job.memo.run.previousRunId);
  }
  return [now, queued, flatEvents, flatDecisions, flatLeased, firsts];
}

function unpackIngested(input: Given, flat: Flat): Ingested {
  const now = flat[0] as number;
  const events: Ingested["events"][number][] = [];
  const given = flat[2] as readonly (string | null)[];
  for (let i = 0; i < given.length; i += 2) events.push({ id: given[i]!, firstEventId: given[i + 1]! });
  return {
    kind: "ingested",
    now,
    queued: flat[1] as boolean,
    events,
    decisions: unpackDecisions(flat[3] as Flat),
    firsts: flat[5] as Ingested["firsts"],
    leased: unpackLeased(input, flat[4] as Flat, now),
    cancelled: none,
    dueAt: null,
  };
}

function unpackDecisions(flat: Flat): Decision[] {
  const decisions: Decision[] = [];
  for (let i = 0; i < flat.length; i += decisionWidth) {
    decisions.push({
      eventId: flat[i] as string,
      fn: flat[i + 1] as string,
      kind: flat[i + 2] as Decision["kind"],
      reason: flat[i + 3] as string | null,
      runId: flat[i + 4] as string | null,
      key: flat[i + 5] as string | null,
      windowEndsAt: flat[i + 6] as number | null,
      firstEventId: flat[i + 7] as string | null,
      decidedAt: flat[i + 8] as number,
    });
  }
  return decisions;
}

function unpackLeased(input: Given, flat: Flat, now: number): LeasedJob[] {
  const leased: LeasedJob[] = [];
  const eventOf = ({ id, callerId, name, data, ts, extra, sourceRunId }: NewEvent) => ({
    id,
    callerId,
    name,
    data,
    ts,
    extra,
    receivedAt: now,
    firstEventId: null,
    sourceRunId,
  });
  for (let i = 0; i < flat.length; i += 5) {
    const runId = flat[i] as string | null;
    const fence = flat[i + 2] as number;
    if (runId === null) {
      const event = eventOf(input.events.find(({ id }) => id === flat[i + 1])!);
      leased.push({ kind: "deliver", jobId: `deliver:${event.id}`, fence, event });
      continue;
    }
    const pair = input.pairs.find((each): each is StartPair => each.kind === "start" && each.runId === runId)!;
    const event = eventOf(input.events[pair.event]!);
    const run = {
      id: pair.runId,
      fn: pair.fn,
      eventId: event.id,
      key: pair.key,
      subject: pair.subject,
      generation: flat[i + 3] as string,
      previousRunId: flat[i + 4] as string | null,
      rerunOf: null,
      rerunFrom: null,
      code: pair.code ?? null,
      state: "running",
      result: null,
      createdAt: now,
      startedAt: now,
      endedAt: null,
      dueAt: null,
      parked: null,
      lost: null,
    } as const;
    const memo = { run, event, events: [event], steps: [], attempts: [], waits: [], inputs: {} };
    leased.push({ kind: "run", jobId: pair.runId, fence, lostWorkers: 0, memo });
  }
  return leased;
}
