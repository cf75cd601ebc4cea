// A call as the app receives it (docs/reference/wire.md#a-call): which run, which step, and what the run already has.
import { errors } from "../model/errors.ts";
import type { Outcome } from "../model/step.ts";
import { isUlid } from "../model/ulid.ts";

export interface AppCall {
  readonly runId: string;
  /** The step that is asked for alone; null for whatever comes next. */
  readonly target: string | null;
  /** Of the stretch of code or the step that is asked for, counted from 0. */
  readonly attempt: number;
  /** Null when the server does not say; then no failure here is the last one. */
  readonly attemptsMax: number | null;
  /** Report steps that are found instead of running them. */
  readonly planOnly: boolean;
  /** Sent with checkpoints; null when the server takes none from this call. */
  readonly checkpoint: { readonly functionId: string; readonly queueItem: string } | null;
  /** Events and memo are not in the body and have to be fetched. */
  readonly isApart: boolean;
  /** One, or a batch; the first is the run's own. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly memo: AppMemo;
  /** The parts of destination keys; only an Idem server says it. */
  readonly destination: Destination | null;
  /** Steps that are begun and have no outcome yet; only an Idem server says it. */
  readonly open: readonly string[];
  readonly signed: SignedNames;
}

/** What the signed body says that the unsigned query and headers say as well. Null where the server does not say it. */
export interface SignedNames {
  /** The function's name; only an Idem server says it. */
  readonly fn: string | null;
  /** Of an Idem server the one in the query; other servers put anything here. */
  readonly stepId: string | null;
  readonly requestId: string | null;
  /** The fence of the run's lease. */
  readonly generation: number | null;
}

export interface Destination {
  readonly env: string;
  readonly fn: string;
  readonly subject: string;
  readonly generation: string;
}

export interface AppMemo {
  /** In the order they were recorded, which decides races. */
  readonly steps: readonly { readonly stepId: string; readonly outcome: Outcome }[];
  /** A person's replacement for the arguments of steps that are still to run: JSON lists by step id. */
  readonly inputs: Readonly<Record<string, string>>;
}

// A run has at most 1,000 steps here; a server that allows more is still read, an endless list is not.
const stepsMax = 20_000;
// A batch has at most 100 here.
const eventsMax = 10_000;

export function readAppCall(body: unknown, stepId: string): AppCall {
  if (!isObject(body)) throw wrong("it is not a call");
  const { event, steps, ctx } = body;
  if (!isEvent(event)) throw wrong("it has no event");
  if (!isObject(ctx) || typeof ctx.run_id !== "string" || ctx.run_id === "") throw wrong("it names no run");
  const { fn_id: functionId, qi_id: queueItem } = ctx;
  return {
    runId: ctx.run_id,
    target: stepId === "step" || stepId === "" ? null : stepId,
    attempt: isCount(ctx.attempt) ? ctx.attempt : 0,
    attemptsMax: isCount(ctx.max_attempts) && ctx.max_attempts > 0 ? ctx.max_attempts : null,
    planOnly: ctx.disable_immediate_execution === true,
    checkpoint: isText(functionId) && isText(queueItem) ? { functionId, queueItem } : null,
    isApart: ctx.use_api === true || body.use_api === true,
    events: Array.isArray(body.events) && body.events.length > 1 ? readAppEvents(body.events) : [event],
    memo: readAppMemo(steps, isObject(ctx.stack) ? ctx.stack.stack : null),
    destination: readDestination(ctx.idem),
    open: readOpen(ctx.idem),
    signed: readSigned(ctx),
  };
}

function readSigned({ idem, step_id: stepId, request_id: requestId, generation_id: generation }: Ctx): SignedNames {
  const isOurs = isObject(idem) && isText(idem.fn);
  return {
    fn: isOurs ? (idem.fn as string) : null,
    stepId: isOurs && isText(stepId) ? stepId : null,
    requestId: isText(requestId) ? requestId : null,
    generation: typeof generation === "number" && Number.isSafeInteger(generation) ? generation : null,
  };
}

/** A call's place among those of its run; null for a call of another server, which numbers them in its own way or not at all. */
export function numberOf({ runId, target, signed }: AppCall) {
  const { fn, requestId, generation } = signed;
  if (fn === null || requestId === null || !isUlid(requestId) || generation === null) return null;
  return { runId, target, requestId, generation };
}

type Ctx = Readonly<Record<string, unknown>>;

const isEvent = (event: unknown): event is Record<string, unknown> => isObject(event) && typeof event.name === "string";

export function readAppEvents(events: unknown): AppCall["events"] {
  if (Array.isArray(events) && events.length > 0 && events.length <= eventsMax && events.every(isEvent)) return events;
  throw wrong(`its events are not a list of 1 to ${eventsMax} events`);
}

/** `order` lists step ids as they were recorded; without it the order of the entries counts. */
export function readAppMemo(steps: unknown, order: unknown): AppMemo {
  if (steps !== undefined && steps !== null && !isObject(steps)) throw wrong("its steps are no object");
  const entries = new Map(Object.entries(steps ?? {}));
  if (entries.size > stepsMax) throw wrong(`it has ${entries.size} steps, more than ${stepsMax}`);
  const listed = Array.isArray(order) ? order.filter((id) => typeof id === "string" && entries.has(id)) : [];
  const inputs: Record<string, string> = Object.create(null);
  const recorded: { stepId: string; outcome: Outcome }[] = [];
  for (const stepId of new Set<string>([...listed, ...entries.keys()])) {
    const state = readState(entries.get(stepId));
    if ("input" in state) inputs[stepId] = JSON.stringify(state.input);
    else recorded.push({ stepId, outcome: state });
  }
  return { steps: recorded, inputs };
}

/** An object with the one field `data`, `error` or `input`, beside its `type`, is unwrapped; anything else is the value. */
function readState(state: unknown): Outcome | { readonly input: readonly unknown[] } {
  if (isObject(state)) {
    const keys = Object.keys(state).filter((key) => key !== "type" || !wrappings.has(String(state.type)));
    if (keys.length === 1) {
      if (keys[0] === "data") return { kind: "value", json: JSON.stringify(state.data ?? null) };
      if (keys[0] === "error") return { kind: "error", json: JSON.stringify(state.error ?? null) };
      if (keys[0] === "input" && Array.isArray(state.input)) return { input: state.input };
    }
  }
  return { kind: "value", json: JSON.stringify(state ?? null) };
}

const wrappings = new Set(["data", "error", "input"]);

function readDestination(value: unknown): Destination | null {
  if (!isObject(value)) return null;
  const { env, fn, subject, generation } = value;
  if (typeof env !== "string" || !isText(fn) || typeof subject !== "string" || typeof generation !== "string")
    return null;
  return { env, fn, subject, generation };
}

function readOpen(value: unknown): readonly string[] {
  const open = isObject(value) ? value.open : null;
  return Array.isArray(open) && open.length <= stepsMax ? open.filter((id) => isText(id)) : [];
}

const wrong = (why: string) => errors.BODY_INVALID({ why });

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1_000_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
