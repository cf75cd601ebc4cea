// Turns a call into the start of a pass: a run, its event, and the outcomes it already has.
import type { Event } from "../model/event.ts";
import type { FailedAttempt, Step } from "../model/step.ts";
import type { AppCall, Destination } from "../protocol/app-call.ts";
import { withoutInternals } from "../protocol/event-body.ts";
import type { RunMemo } from "../store/leases.ts";

// Nobody here did it, and nobody asks who: what counts is that an earlier pass of the code has seen it.
const worker = "the server";
// More failures than any function may have; a count from outside makes no list of its own length.
const failuresMax = 100;

export function memoOf(call: AppCall, destination: Destination, now: number): RunMemo {
  const { runId, events, memo, attempt } = call;
  const carried = events.map((event) => eventOf(event, runId, now));
  const steps = memo.steps.map(
    ({ stepId, outcome }, i): Step => ({
      stepId,
      outcome,
      name: "",
      repeat: 0,
      kind: "run",
      attempt: 1,
      startedAt: 0,
      endedAt: 0,
      stamp: i + 1,
      worker,
    }),
  );
  const failures = Array.from(
    { length: Math.min(attempt, failuresMax) },
    (_, i): FailedAttempt => ({
      stepId: "",
      name: "",
      attempt: i + 1,
      error: "{}",
      startedAt: 0,
      endedAt: 0,
      retryAt: 0,
      stamp: steps.length + 1,
      worker,
    }),
  );
  return {
    run: {
      id: runId,
      fn: destination.fn,
      eventId: "",
      key: null,
      subject: destination.subject,
      generation: destination.generation,
      previousRunId: null,
      rerunOf: null,
      rerunFrom: null,
      code: null,
      state: "running",
      result: null,
      createdAt: now,
      startedAt: now,
      endedAt: null,
      dueAt: null,
      parked: null,
      lost: null,
    },
    event: carried[0]!,
    events: carried,
    steps,
    attempts: failures,
    waits: [],
    inputs: memo.inputs,
  };
}

function eventOf(event: AppCall["events"][number], runId: string, now: number): Event {
  const { id, name, data, ts, ...rest } = event;
  const eventId = typeof id === "string" && id !== "" ? id : runId;
  return {
    id: eventId,
    callerId: eventId,
    name: String(name),
    // The invoker is for other SDKs: a function sees the same here as in the server's own process.
    data: JSON.stringify((name === "inngest/function.invoked" ? withoutInternals(data) : data) ?? {}),
    ts: typeof ts === "number" ? ts : now,
    extra: Object.keys(rest).length === 0 ? null : JSON.stringify(rest),
    receivedAt: now,
    firstEventId: null,
    sourceRunId: null,
  };
}
