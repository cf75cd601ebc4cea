// The body of a call to an app (docs/reference/wire.md#a-call). Put together from JSON texts that are already there: it is on the path
// of every step, and a run's memo may be megabytes.
import { isLazy, type RecordedStep, statesOf } from "./memo-state.ts";

export interface CallRequest {
  /** JSON texts of the events as user code sees them: one, or a batch. */
  readonly events: readonly string[];
  /** In the order they were recorded, which decides races. */
  readonly steps: readonly RecordedStep[];
  /** Edited inputs, JSON lists by step id. */
  readonly inputs: Readonly<Record<string, string>>;
  /** -1 until the app has said which it speaks. */
  readonly version: number;
  readonly runId: string;
  /** Sent with checkpoints; null for an app that is to go step by step. */
  readonly functionId: string | null;
  readonly env: string;
  readonly stepId: string;
  /** Counted from 0. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly requestId: string;
  readonly generation: number;
  readonly jobId: string;
  /** Report steps that are found instead of running them. */
  readonly planOnly: boolean;
  /** Steps that are begun and have no outcome yet; read by Idem's own SDK. */
  readonly open: readonly string[];
  /** The parts of destination keys; read by Idem's own SDK. */
  readonly destination: {
    readonly env: string;
    readonly fn: string;
    readonly subject: string;
    readonly generation: string;
  };
}

// Above this the app fetches events and memo itself.
const bodyCharsMax = 4 * 1024 * 1024;

export function writeCallRequest(call: CallRequest): string {
  const steps = statesOf(call.steps, call.inputs);
  const isLarge = steps.length + charsOf(call.events) > bodyCharsMax;
  // The run's own event is sent in any case: it is not among what the app takes from what it fetched.
  const events = isLarge ? call.events[0]! : call.events.join(",");
  const stack = call.steps.filter(({ kind }) => !isLazy(kind)).map(({ stepId }) => stepId);
  const ctx = {
    run_id: call.runId,
    // Left out where it is not defined.
    fn_id: call.functionId === null || hasPendingInput(call) ? undefined : call.functionId,
    env: call.env,
    step_id: call.stepId,
    attempt: call.attempt,
    max_attempts: call.maxAttempts,
    qi_id: queueItemOf(call),
    request_id: call.requestId,
    generation_id: call.generation,
    job_id: call.jobId,
    disable_immediate_execution: call.planOnly,
    use_api: isLarge,
    stack: { stack, current: stack.length },
    idem: call.open.length === 0 ? call.destination : { ...call.destination, open: call.open },
  };
  return `{"event":${call.events[0]},"events":[${events}],"steps":${isLarge ? "{}" : steps},"defers":${defersOf(call.steps)},"version":${call.version},"use_api":${isLarge},"ctx":${JSON.stringify(ctx)}}`;
}

/**
 * SDK 4.24 with checkpointing takes an edited input for an outcome: the step resolves to null and its code is never entered.
 * Without `fn_id` the app goes step by step, which handles it, until the step is recorded.
 */
function hasPendingInput({ steps, inputs }: CallRequest): boolean {
  const edited = Object.keys(inputs);
  return edited.length > 0 && edited.some((id) => !steps.some(({ stepId }) => stepId === id));
}

/** JSON text of what was deferred, and whether it can still be called off. */
function defersOf(steps: readonly RecordedStep[]): string {
  const defers = steps.filter(({ kind }) => kind === "defer");
  if (defers.length === 0) return "{}";
  const aborted = new Set(steps.filter(({ kind }) => kind === "defer-abort").map(abortedDefer));
  return JSON.stringify(Object.fromEntries(defers.map(({ stepId }) => [stepId, { abortable: !aborted.has(stepId) }])));
}

const charsOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

const abortedDefer = ({ outcome }: RecordedStep): string => String(JSON.parse(outcome.json)?.target ?? "");

/** Every SDK says it again with its checkpoints, workers that connect as well, which say no generation. */
const queueItemOf = ({ jobId, generation }: CallRequest): string => `${jobId}:${generation}`;

/** The fence of the lease a checkpoint's call was made under; null when it does not say. */
export function generationOf({ generation_id: said, qi_id: item }: Readonly<Record<string, unknown>>): number | null {
  if (typeof said === "number") return said;
  const [, fence] = /:(\d{1,15})$/.exec(typeof item === "string" ? item : "") ?? [];
  return fence === undefined ? null : Number(fence);
}
