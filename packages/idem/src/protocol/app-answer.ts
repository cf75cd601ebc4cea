// An app's answer to a call (docs/reference/wire.md#an-answer). Put together from JSON texts that are already there: a step's
// value may be megabytes, and it is written as it was checked.
import type { StepKind } from "../model/step.ts";

export interface AppAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OpIds {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
}

export interface AttemptTimes {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** One op as JSON text. */
export type OpText = string;

/** Side by side with others: the run goes on with whichever is over first, as it does in one process. */
export type Beside = { readonly race: boolean };

/** `input` is JSON text, as it is to be kept. */
interface Given {
  readonly kind: StepKind;
  readonly input?: string | null;
}

export const ranOp = (step: OpIds & AttemptTimes & Given & { readonly json: string }): OpText =>
  opText(step, "StepRun", { name: step.name, opts: givenOpts(step), data: step.json, timing: timingOf(step) });

export const plannedOp = (step: OpIds & { readonly kind: StepKind }, { race }: Beside): OpText =>
  opText(step, "StepPlanned", { name: step.name, opts: { ...optsOf(step.kind), ...mode(race) } });

export const threwOp = (step: OpIds & AttemptTimes & Given, error: string, isFinal: boolean): OpText =>
  opText(step, isFinal ? "StepFailed" : "StepError", {
    name: step.name,
    opts: givenOpts(step),
    error: serialized(error),
    timing: timingOf(step),
  });

export const sleepOp = (step: OpIds, until: string, { race }: Beside): OpText =>
  opText(step, "Sleep", { name: until, opts: mode(race) });

export const waitForEventOp = (
  step: OpIds,
  wait: { readonly event: string; readonly timeout: string; readonly if: string | null },
  { race }: Beside,
): OpText =>
  opText(step, "WaitForEvent", {
    name: wait.event,
    opts: { timeout: wait.timeout, ...(wait.if === null ? {} : { if: wait.if }), ...mode(race) },
  });

export const waitForSignalOp = (
  step: OpIds,
  wait: { readonly signal: string; readonly timeout: string; readonly replaces: boolean },
  { race }: Beside,
): OpText =>
  opText(step, "WaitForSignal", {
    name: wait.signal,
    opts: {
      signal: wait.signal,
      timeout: wait.timeout,
      conflict: wait.replaces ? "replace" : "fail",
      ...mode(race),
    },
  });

export const invokeOp = (
  step: OpIds,
  invoke: { readonly function: string; readonly data: unknown; readonly v?: unknown; readonly timeout: string },
  { race }: Beside,
): OpText =>
  opText(step, "InvokeFunction", {
    opts: {
      function_id: invoke.function,
      payload: { data: invoke.data, ...(invoke.v === undefined ? {} : { v: invoke.v }) },
      timeout: invoke.timeout,
      ...mode(race),
    },
  });

// sha1 of "complete".
const completeId = "0737c22d3bfae812339732d14d8c7dbd6dc4e09c";

export const completeOp = (json: string): OpText => `{"id":"${completeId}","op":"RunComplete","data":${json}}`;

export interface Failure {
  readonly isFinal: boolean;
  /** When to try again; null leaves it to the server. */
  readonly retryMs: number | null;
}

export const opsAnswer = (ops: readonly OpText[], failure: Failure | null = null): AppAnswer => ({
  status: 206,
  headers: failure === null ? {} : failureHeaders(failure),
  body: `[${ops.join(",")}]`,
});

export const returnedAnswer = (json: string): AppAnswer => ({ status: 200, headers: {}, body: json });

/** `error` is JSON text. */
export const threwAnswer = (error: string, failure: Failure): AppAnswer => ({
  status: failure.isFinal ? 400 : 500,
  headers: failureHeaders(failure),
  body: serialized(error),
});

export const stepNotFoundAnswer = (stepId: string, found: readonly OpIds[]): AppAnswer => ({
  status: 500,
  headers: { "x-inngest-no-retry": "false" },
  body: JSON.stringify({
    error: "The code did not come to the step it was asked for; it may have changed since the step was planned",
    requestedStep: stepId,
    foundSteps: found.slice(0, foundMax).map((step) => ({ id: step.stepId, displayName: step.name })),
    totalFoundSteps: found.length,
  }),
});
// Enough to see where the code went instead.
const foundMax = 25;

/** The server said that a newer call has taken this one's place. */
export const staleAnswer = (): AppAnswer =>
  threwAnswer('{"name":"StaleDispatchError","message":"a newer call has taken the place of this one"}', {
    isFinal: true,
    retryMs: null,
  });

/** Nothing was wrong with the author's code: the call itself did not work, and may be made again. */
export const internalAnswer = (status: number, name: string, message: string): AppAnswer => ({
  status,
  headers: {},
  body: JSON.stringify({ type: "internal", name, message }),
});

function opText(
  { stepId, name: author, repeat }: OpIds,
  op: string,
  parts: {
    readonly name?: string;
    readonly opts?: object;
    readonly data?: string;
    readonly error?: string;
    readonly timing?: string;
  },
): OpText {
  const head = JSON.stringify({
    id: stepId,
    op,
    ...(parts.name === undefined ? {} : { name: parts.name }),
    displayName: author,
    opts: parts.opts ?? {},
    userland: { id: author, ...(repeat === 0 ? {} : { index: repeat }) },
  });
  const rest = [`"data":${parts.data ?? "null"}`];
  if (parts.error !== undefined) rest.push(`"error":${parts.error}`);
  if (parts.timing !== undefined) rest.push(`"timing":${parts.timing}`);
  return `${head.slice(0, -1)},${rest.join(",")}}`;
}

// The wire has no field for a step's tool beside this one, which SDKs fill for some of them.
const typeByKind: Partial<Record<StepKind, string>> = {
  "send-event": "step.sendEvent",
  "send-signal": "step.sendSignal",
  fetch: "step.fetch",
  diverged: "step.diverged",
};

const optsOf = (kind: StepKind): object => {
  const type = typeByKind[kind];
  return type === undefined ? {} : { type };
};

const givenOpts = ({ kind, input }: Given): object =>
  input === undefined || input === null ? optsOf(kind) : { ...optsOf(kind), input: JSON.parse(input) as unknown };

const mode = (race: boolean): object => (race ? { parallelMode: "race" } : {});

const timingOf = ({ startedAt, endedAt }: AttemptTimes): string =>
  `{"a":${nanoseconds(startedAt)},"b":${nanoseconds(endedAt - startedAt)}}`;

/** As text: JavaScript's numbers cannot hold them. */
const nanoseconds = (ms: number): string => (ms >= 1 ? `${Math.round(ms)}000000` : "0");

/** Marks an error's JSON as one, which is how SDKs and servers tell it from a value. */
const serialized = (error: string): string =>
  error.startsWith("{") && error !== "{}" ? `${error.slice(0, -1)},"__serialized":true}` : error;

function failureHeaders({ isFinal, retryMs }: Failure): Record<string, string> {
  if (isFinal) return { "x-inngest-no-retry": "true" };
  const retry =
    retryMs === null
      ? {}
      : // The header is in whole seconds; an Idem server reads the other one and waits no longer than the author meant.
        { "retry-after": String(Math.ceil(retryMs / 1_000)), "x-idem-retry-after-ms": String(Math.round(retryMs)) };
  return { "x-inngest-no-retry": "false", ...retry };
}
