// How calls and answers cross between the threads. The hot shapes (accept an event, save a step, end a run) go as flat lists of
// strings and numbers: for a saved step 0.96 µs instead of 5.6 both ways, its answer 0.2 instead of 2.4. Everything else is
// cloned as it is. What an answer repeats of its call is not sent back but taken from the call.
import type { Decision } from "../../model/decision.ts";
import type {
  Advanced,
  AdvanceInput,
  DecidedPair,
  Ingested,
  IngestInput,
  LeasedJob,
  NestedIngest,
  NewEvent,
  NewPair,
  StartPair,
} from "../store.ts";
import type { Call, CallAnswer } from "./core.ts";

type Flat = readonly unknown[];

// ---------------------------------------------------------------------------------------------------- calls

/** [0, …] saves one step · [1, …] accepts events · [2, …] ends a run · [3, name, input] anything else */
export function packCall(call: Call): Flat {
  if (call.name === "ingest") {
    const { env, registration, leaseTo, events, pairs } = call.input[0] as IngestInput;
    return [1, env, registration, leaseTo, packEvents(events), packPairs(pairs)];
  }
  if (call.name === "advance") {
    const input = call.input[0] as AdvanceInput;
    const { env, worker, runId, jobId, fence, seen, next } = input;
    const alone = input.attempts.length === 0 && input.waits.length === 0;
    if (alone && input.ingest === null && input.steps.length === 1 && next.kind === "continue" && !next.collect) {
      const { stepId, name, repeat, kind, outcome, attempt, startedAt, endedAt } = input.steps[0]!;
      const step = [stepId, name, repeat, kind, outcome.kind, outcome.json, attempt, startedAt, endedAt];
      return [0, env, worker, runId, jobId, fence, seen, ...step];
    }
    if (alone && input.steps.length === 0 && next.kind === "end") {
      const nested = input.ingest === null ? null : packNested(input.ingest);
      return [2, env, worker, runId, jobId, fence, seen, next.state, next.result, next.releaseKey, nested];
    }
  }
  return [3, call.name, call.input];
}

export function unpackCall(flat: Flat): Call {
  switch (flat[0]) {
    case 0: {
      const [
        ,
        env,
        worker,
        runId,
        jobId,
        fence,
        seen,
        stepId,
        name,
        repeat,
        kind,
        outcome,
        json,
        attempt,
        startedAt,
        endedAt,
      ] = flat;
      const step = { stepId, name, repeat, kind, outcome: { kind: outcome, json }, attempt, startedAt, endedAt };
      const next = { kind: "continue", collect: false };
      return advance({ env, worker, runId, jobId, fence, seen, next, steps: [step], ingest: null });
    }
    case 1: {
      const [, env, registration, leaseTo, events, pairs] = flat;
      const input = {
        env,
        registration,
        leaseTo,
        events: unpackEvents(events as Flat),
        pairs: unpackPairs(pairs as Flat),
      };
      return { name: "ingest", input: [input] };
    }
    case 2: {
      const [, env, worker, runId, jobId, fence, seen, state, result, releaseKey, nested] = flat;
      const next = { kind: "end", state, result, releaseKey };
      const ingest = nested === null ? null : unpackNested(nested as Flat);
      return advance({ env, worker, runId, jobId, fence, seen, next, steps: [], ingest });
    }
    default:
      return { name: flat[1] as Call["name"], input: flat[2] as Call["input"] };
  }
}

const advance = (input: Record<string, unknown>): Call => ({
  name: "advance",
  input: [{ ...input, attempts: [], waits: [] }],
});

const eventWidth = 8;

function packEvents(events: readonly NewEvent[]): Flat {
  const flat: unknown[] = [];
  for (const { id, callerId, windowMs, name, data, ts, extra, sourceRunId } of events) {
    flat.push(id, callerId, windowMs, name, data, ts, extra, sourceRunId);
  }
  return flat;
}

function unpackEvents(flat: Flat): NewEvent[] {
  const events: NewEvent[] = [];
  for (let i = 0; i < flat.length; i += eventWidth) {
    events.push({
      id: flat[i] as string,
      callerId: flat[i + 1] as string | null,
      windowMs: flat[i + 2] as number,
      name: flat[i + 3] as string,
      data: flat[i + 4] as string,
      ts: flat[i + 5] as number,
      extra: flat[i + 6] as string | null,
      sourceRunId: flat[i + 7] as string | null,
    });
  }
  return events;
}

function packPairs(pairs: readonly NewPair[]): Flat {
  return pairs.map((pair) => {
    if (pair.kind !== "start") return [pair.kind, pair.event, pair.fn, pair.reason];
    const { event, fn, runId, key, windowMs, hold, subject, generation, rank, dueAt, leaseTo, reason } = pair;
    return ["start", event, fn, runId, key, windowMs, hold, subject, generation, rank, dueAt, leaseTo, reason];
  });
}

function unpackPairs(flat: Flat): NewPair[] {
  return (flat as readonly Flat[]).map((each) => {
    if (each[0] !== "start") {
      const [kind, event, fn, reason] = each;
      return { kind, event, fn, reason } as DecidedPair;
    }
    const [kind, event, fn, runId, key, windowMs, hold, subject, generation, rank, dueAt, leaseTo, reason] = each;
    return {
      kind,
      event,
      fn,
      runId,
      key,
      windowMs,
      hold,
      subject,
      generation,
      rank,
      dueAt,
      leaseTo,
      reason,
    } as StartPair;
  });
}

function packNested({ registration, events, pairs }: NestedIngest): Flat {
  return [registration, packEvents(events), events.map(({ ifAwaited }) => ifAwaited ?? null), packPairs(pairs)];
}

function unpackNested([registration, events, awaited, pairs]: Flat): NestedIngest {
  return {
    registration: registration as number | null,
    events: unpackEvents(events as Flat).map((event, i) => {
      const ifAwaited = (awaited as Flat)[i] as boolean | null;
      return ifAwaited === null ? event : { ...event, ifAwaited };
    }),
    pairs: unpackPairs(pairs as Flat),
  };
}

// ---------------------------------------------------------------------------------------------------- answers

/** A number: the step is saved or the run ended, at that time · a list: what was accepted · an object: anything else */
export function packAnswer(call: Call, answer: CallAnswer): unknown {
  if (!answer.ok) return answer;
  if (call.name === "ingest") {
    const ingested = answer.value as Ingested | { kind: "stale-registration" };
    return ingested.kind === "ingested" && bornHere(ingested, call) ? packIngested(ingested) : answer;
  }
  if (call.name === "advance" && isPlain(answer.value as Advanced, call.input[0] as AdvanceInput)) {
    return (answer.value as Advanced).now;
  }
  return answer;
}

export function unpackAnswer(call: Call, packed: unknown): CallAnswer {
  if (typeof packed === "number") {
    const { steps, seen, next, ingest } = call.input[0] as AdvanceInput;
    const nothing: Ingested = {
      kind: "ingested",
      now: packed,
      events: [],
      decisions: [],
      firsts: [],
      leased: [],
      queued: false,
    };
    const value: Advanced = {
      kind: "advanced",
      now: packed,
      outcomes: steps.map((step) => step.outcome),
      ingested: ingest === null ? null : nothing,
      seen,
      news: [],
      stamps: null,
      leased: next.kind !== "end",
      woken: [],
    };
    return { ok: true, value };
  }
  if (Array.isArray(packed)) return { ok: true, value: unpackIngested(call, packed) };
  return packed as CallAnswer;
}

/** Whether the answer follows from its call but for the time. */
function isPlain(value: Advanced, { steps, seen, next }: AdvanceInput): boolean {
  return (
    value.kind === "advanced" &&
    value.news.length === 0 &&
    value.stamps === null &&
    value.woken.length === 0 &&
    value.seen === seen &&
    value.leased === (next.kind !== "end") &&
    value.outcomes.every((outcome, i) => outcome === steps[i]!.outcome) &&
    (value.ingested === null || isEmpty(value.ingested))
  );
}

const isEmpty = ({ events, decisions, leased, queued }: Ingested): boolean =>
  events.length === 0 && decisions.length === 0 && leased.length === 0 && !queued;

/** Runs that were leased must have been born in this very call, so that the other side can put them together. */
function bornHere({ leased, now }: Ingested, call: Call): boolean {
  const { pairs, events } = call.input[0] as IngestInput;
  return leased.every((job) => {
    if (job.kind === "deliver") return job.event.receivedAt === now && events.some(({ id }) => id === job.event.id);
    if (job.memo.run.createdAt !== now || job.memo.steps.length > 0 || job.lostWorkers > 0) return false;
    return pairs.some((pair) => pair.kind === "start" && pair.runId === job.jobId);
  });
}

const decisionWidth = 9;

function packIngested({ now, queued, events, decisions, firsts, leased }: Ingested): Flat {
  const flatEvents: unknown[] = [];
  for (const { id, firstEventId } of events) flatEvents.push(id, firstEventId);
  const flatDecisions: unknown[] = [];
  for (const { eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt } of decisions) {
    flatDecisions.push(eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt);
  }
  const flatLeased: unknown[] = [];
  for (const job of leased) {
    if (job.kind === "deliver") flatLeased.push(null, job.event.id, job.fence, null, null);
    else flatLeased.push(job.jobId, null, job.fence, job.memo.run.generation, job.memo.run.previousRunId);
  }
  return [now, queued, flatEvents, flatDecisions, flatLeased, firsts];
}

function unpackIngested(call: Call, [now, queued, flatEvents, flatDecisions, flatLeased, firsts]: Flat): Ingested {
  const input = call.input[0] as IngestInput;
  const at = now as number;
  const events: Ingested["events"][number][] = [];
  const given = flatEvents as readonly (string | null)[];
  for (let i = 0; i < given.length; i += 2) events.push({ id: given[i]!, firstEventId: given[i + 1]! });
  return {
    kind: "ingested",
    now: at,
    queued: queued as boolean,
    events,
    decisions: unpackDecisions(flatDecisions as Flat),
    firsts: firsts as Ingested["firsts"],
    leased: unpackLeased(input, flatLeased as Flat, at),
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

function unpackLeased(input: IngestInput, flat: Flat, now: number): LeasedJob[] {
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
    const [runId, eventId, fence, generation, previousRunId] = flat.slice(i, i + 5);
    if (runId === null) {
      const event = eventOf(input.events.find(({ id }) => id === eventId)!);
      leased.push({ kind: "deliver", jobId: `deliver:${event.id}`, fence: fence as number, event });
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
      generation: generation as string,
      previousRunId: previousRunId as string | null,
      rerunOf: null,
      rerunFrom: null,
      state: "running",
      result: null,
      createdAt: now,
      startedAt: now,
      endedAt: null,
      dueAt: null,
    } as const;
    const memo = { run, event, steps: [], attempts: [], waits: [], inputs: {} };
    leased.push({ kind: "run", jobId: pair.runId, fence: fence as number, lostWorkers: 0, memo });
  }
  return leased;
}
