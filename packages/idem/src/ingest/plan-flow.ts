// What a start has to pass beside its key, with every expression evaluated: the store compares names, counts and times.
//
// A key that is missing or fails must not put strangers together where something would be lost by it:
//   debounce, rateLimit, singleton → does not apply, and the decision says so (`false` means the same, without a word)
//   concurrency, throttle, batchEvents → all such events share one line, so the limit still holds
import { exactKey, type KeyedEvent } from "../dedup/exact-key.ts";
import { type Expressions, evaluateFilter, evaluateKey } from "../model/expression.ts";
import { type ConcurrencyLimit, type FunctionConfig, needsLane } from "../model/function-config.ts";
import { type LaneCaps, laneText } from "../model/lane.ts";
import { serializeError } from "../model/user-errors.ts";
import type { BufferRule, LaneUse, RateRule, SingletonRule, StartFlow } from "../store/flow.ts";
import { planCancels } from "./plan-cancels.ts";

// Inngest's bound on what a batch may carry.
const batchBytesMax = 10 * 1024 * 1024;
// Inngest's bound; more than that is not an order but another queue.
const prioritySecondsMax = 600;

/** No canonical JSON is this: the key of what has no key. */
const everyone = "*";

export interface FlowOf {
  readonly env: string;
  readonly fn: string;
  readonly config: FunctionConfig;
  /** The run to be started, so that one cancelled for it can say so; absent where none is. */
  readonly runId?: string;
}

export interface PlannedFlow {
  readonly flow: StartFlow | null;
  /** Options that did not apply, and why. */
  readonly reasons: readonly string[];
  /** Milliseconds by which it is put before others. */
  readonly priorityMs: number;
}

const plain: PlannedFlow = { flow: null, reasons: [], priorityMs: 0 };

/** Buffers take events; a tick and what a person asks for start at once. */
export function planFlow(of: FlowOf, event: KeyedEvent, expressions: Expressions, isBuffered: boolean): PlannedFlow {
  const { config } = of;
  if (!hasFlow(config)) return plain;
  const { payload } = event;
  const reasons: string[] = [];
  const keyOf = (option: string, key: string | null): string | null => {
    if (key === null) return everyone;
    const result = exactKey(expressions.stored(key), event);
    if (result.kind === "key") return result.key === "false" ? null : result.key;
    const why = result.kind === "lost" ? `key \`${key}\`: ${result.reason}` : result.reason;
    reasons.push(`${option}: ${why}; it did not apply`);
    return null;
  };
  const flow: StartFlow = {
    buffer: isBuffered ? bufferOf(of, payload, keyOf, expressions) : null,
    rateLimit: rateOf(of, keyOf),
    singleton: singletonOf(of, keyOf),
    lane: laneOf(of, payload, expressions),
    cancelOn: config.cancelOn === undefined ? [] : planCancels(config.cancelOn, payload, expressions),
    startWithinMs: needsLane(config) ? config.startTimeoutMs : null,
  };
  return { flow, reasons, priorityMs: priorityOf(of, payload, expressions) };
}

const hasFlow = (config: FunctionConfig): boolean =>
  config.concurrency !== undefined ||
  config.throttle !== undefined ||
  config.rateLimit !== undefined ||
  config.debounce !== undefined ||
  config.batch !== undefined ||
  config.singleton !== undefined ||
  config.priority !== undefined ||
  config.cancelOn !== undefined;

type KeyOf = (option: string, key: string | null) => string | null;

function bufferOf(of: FlowOf, payload: unknown, keyOf: KeyOf, expressions: Expressions): BufferRule | null {
  const { debounce, batch } = of.config;
  if (debounce !== undefined) {
    const key = keyOf("debounce.key", debounce.key);
    const { periodMs, timeoutMs } = debounce;
    return key === null ? null : { kind: "debounce", key, periodMs, timeoutMs };
  }
  if (batch === undefined) return null;
  if (batch.if !== null) {
    const { pass, reason, failed } = evaluateFilter(expressions.stored(batch.if), { event: payload });
    if (failed) tellFailed(of, "batchEvents.if", batch.if, reason!, expressions);
    if (!pass) return null;
  }
  const { maxSize, timeoutMs } = batch;
  const key = batch.key === null ? everyone : sharedKeyOf(of, "batchEvents.key", batch.key, payload, expressions);
  return { kind: "batch", key, maxSize, timeoutMs, bytesMax: batchBytesMax };
}

function rateOf({ fn, config: { rateLimit } }: FlowOf, keyOf: KeyOf): RateRule | null {
  if (rateLimit === undefined) return null;
  const key = keyOf("rateLimit.key", rateLimit.key);
  if (key === null) return null;
  const { limit, periodMs } = rateLimit;
  return { id: key === everyone ? fn : `${fn} ${key}`, limit, periodMs };
}

function singletonOf({ runId, config }: FlowOf, keyOf: KeyOf): SingletonRule | null {
  const { id, singleton, idempotency } = config;
  if (singleton === undefined) return null;
  const key = keyOf("singleton.key", singleton.key);
  if (key === null) return null;
  if (singleton.mode === "skip") return { key, mode: "skip" };
  const newer = runId === undefined ? "a newer run" : `run ${runId}, a newer one`;
  const reason = new Error(`cancelled by ${newer} of the singleton function "${id}"`);
  return {
    key,
    mode: "cancel",
    result: serializeError(Object.assign(reason, { name: "CancelledError", stack: undefined })),
    releaseKey: idempotency?.onFailure === "release",
  };
}

// ---------------------------------------------------------------------------------------------------- lanes

/** Where a run of this function stands in line for this event; null where it need not. */
export function laneOf(of: FlowOf, payload: unknown, expressions: Expressions): LaneUse | null {
  const { env, fn, config } = of;
  if (!needsLane(config)) return null;
  const slots = (config.concurrency ?? []).map((limit, i) => {
    const key = limit.key === null ? everyone : sharedKeyOf(of, "concurrency.key", limit.key, payload, expressions);
    return slotName(env, fn, limit, i, key);
  });
  const { throttle } = config;
  const throttleKey =
    throttle?.key == null ? everyone : sharedKeyOf(of, "throttle.key", throttle.key, payload, expressions);
  const name = { fn, slots, throttle: throttle === undefined ? null : `${fn} ${throttleKey}` };
  return { name: laneText(name), caps: capsOf(config)! };
}

/** What a function's newest configuration allows; null where it has no limits. */
export function capsOf(config: FunctionConfig): LaneCaps | null {
  if (!needsLane(config)) return null;
  const { throttle } = config;
  return {
    slots: (config.concurrency ?? []).map(({ limit }) => limit),
    throttle:
      throttle === undefined ? null : { limit: throttle.limit, periodMs: throttle.periodMs, burst: throttle.burst },
  };
}

function slotName(env: string, fn: string, { scope }: ConcurrencyLimit, position: number, key: string): string {
  if (scope === "account") return `account ${key}`;
  if (scope === "env") return `env ${env} ${key}`;
  return `fn ${env} ${fn} ${position} ${key}`;
}

/** Only where a run is being started: a mere look tells nobody. */
function tellFailed(of: FlowOf, option: string, expression: string, reason: string, expressions: Expressions): void {
  if (of.runId !== undefined) expressions.onFailed({ fn: of.fn, runId: null, option, expression, reason });
}

function sharedKeyOf(of: FlowOf, option: string, key: string, payload: unknown, expressions: Expressions): string {
  const result = evaluateKey(expressions.stored(key), { event: payload });
  if (result.kind === "key") return result.key;
  tellFailed(of, option, key, result.reason, expressions);
  return "null";
}

/** Missing and failing keys have one line together. */
export function sharedKey(key: string, payload: unknown, expressions: Expressions): string {
  const result = evaluateKey(expressions.stored(key), { event: payload });
  return result.kind === "key" ? result.key : "null";
}

function priorityOf(of: FlowOf, payload: unknown, expressions: Expressions): number {
  const { priority } = of.config;
  if (priority === undefined) return 0;
  const evaluation = expressions.stored(priority).evaluate({ event: payload });
  if (!evaluation.ok || typeof evaluation.value !== "number" || !Number.isFinite(evaluation.value)) {
    const reason = evaluation.ok
      ? `priority \`${priority}\` is no number`
      : `priority \`${priority}\`: ${evaluation.message}`;
    tellFailed(of, "priority.run", priority, reason, expressions);
    return 0;
  }
  return Math.round(Math.max(-prioritySecondsMax, Math.min(prioritySecondsMax, evaluation.value)) * 1000);
}
