// Triggers and flow control as they stand in a registration (docs/reference/wire.md#a-function-on-the-wire), read and written: what is written here is read
// as the same configuration. Durations are written in milliseconds, because a configuration is kept in them.
import { errors } from "../model/errors.ts";
import { readFlow } from "../model/flow-options.ts";
import type { FlowConfig, MissedPolicy, Trigger } from "../model/function-config.ts";
import { readTriggers } from "../model/function-options.ts";
import { isJsonObject } from "../model/json.ts";

export function readWireTriggers(triggers: unknown): Trigger[] {
  if (triggers === undefined) return [];
  if (!Array.isArray(triggers)) throw errors.OPTION_INVALID({ option: "triggers", why: "it must be a list" });
  return readTriggers(
    triggers.map((trigger) => {
      if (!isJsonObject(trigger)) return trigger;
      const { event, expression, cron, jitter, missed } = withoutEmpty(trigger) as Record<string, unknown>;
      if (cron !== undefined) return { cron, jitter, missed };
      return { event, if: expression };
    }),
  );
}

/** Throws as readFlow does. A field that is not known may come from a newer SDK and is passed over. */
export function readWireFlow(fields: Readonly<Record<string, unknown>>, triggers: readonly Trigger[]): FlowConfig {
  const { concurrency, throttle, rateLimit, debounce, batchEvents, priority, singleton, cancel, idempotency } = fields;
  const given = {
    concurrency: withoutZeroLimits(concurrency),
    throttle: withoutZeroBurst(throttle),
    // Where both are given, the key is the limit. Idem's own SDK writes a key that holds beside one as an object.
    rateLimit: typeof idempotency === "string" ? undefined : rateLimit,
    debounce,
    batchEvents,
    priority: isJsonObject(priority) && (priority.run ?? "") === "" ? undefined : priority,
    singleton,
    cancelOn: cancel,
  };
  return readFlow(withoutEmpty(given) as typeof given, { triggers });
}

/** An empty key, filter or timeout is none; SDKs of other languages write it for what is not there. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isJsonObject(value)) return value;
  const present = Object.entries(value).filter(([, item]) => item !== "");
  return Object.fromEntries(present.map(([name, item]) => [name, withoutEmpty(item)]));
}

/** To the SDK's authors a concurrency of 0 "means use the maximum available concurrency" (its types), that is no limit. */
function withoutZeroLimits(concurrency: unknown): unknown {
  const limits = (list: unknown): unknown =>
    Array.isArray(list) ? list.filter((limit) => !isJsonObject(limit) || limit.limit !== 0) : list;
  if (concurrency === 0) return undefined;
  if (!isJsonObject(concurrency)) return limits(concurrency);
  const { limit, fn, step } = concurrency;
  if (fn === undefined && step === undefined) return limit === 0 ? undefined : concurrency;
  return { ...concurrency, fn: limits(fn), step: limits(step) };
}

/** SDKs of other languages write 0 for what is not there. */
const withoutZeroBurst = (throttle: unknown): unknown =>
  isJsonObject(throttle) && throttle.burst === 0 ? { ...throttle, burst: undefined } : throttle;

export function writeTrigger(trigger: Trigger): object {
  if (!("cron" in trigger)) {
    return { event: trigger.event, ...(trigger.if === undefined ? {} : { expression: trigger.if }) };
  }
  const { cron, jitterMs, missed } = trigger;
  return {
    cron,
    ...(jitterMs === undefined ? {} : { jitter: duration(jitterMs) }),
    // The wire has no word for it; only Idem reads it.
    ...(missed === undefined ? {} : { missed: writeMissed(missed) }),
  };
}

const writeMissed = (missed: MissedPolicy): unknown => (missed.kind === "all" ? { all: missed.max } : missed.kind);

export function writeFlow(flow: FlowConfig): object {
  const { concurrency, throttle, rateLimit, debounce, batch, singleton, priority, cancelOn } = flow;
  return withoutNull({
    concurrency: concurrency?.map((limit) => withoutNull(limit)) ?? null,
    throttle: throttle === undefined ? null : written(throttle),
    rateLimit: rateLimit === undefined ? null : written(rateLimit),
    debounce: debounce === undefined ? null : written(debounce),
    batchEvents: batch === undefined ? null : written(batch),
    singleton: singleton === undefined ? null : withoutNull(singleton),
    priority: priority === undefined ? null : { run: priority },
    cancel: cancelOn?.map((cancel) => written(cancel)) ?? null,
  });
}

/** `periodMs: 10_000` is `period: "10000ms"` on the wire. */
function written(config: object): object {
  const fields = Object.entries(config).map(([name, value]) =>
    name.endsWith("Ms") && typeof value === "number" ? [name.slice(0, -"Ms".length), duration(value)] : [name, value],
  );
  return withoutNull(Object.fromEntries(fields));
}

const duration = (ms: number): string => `${ms}ms`;

const withoutNull = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
