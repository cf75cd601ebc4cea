// Every option of a function and of what stands inside its options, by name.
import { type Foreign, refuseUnknown } from "../model/known-options.ts";
import type {
  BatchOptions,
  CancelOnOptions,
  ConcurrencyOptions,
  CronInput,
  DebounceOptions,
  EventInput,
  FunctionOptions,
  IdempotencyOptions,
  RateLimitOptions,
  SingletonOptions,
  ThrottleOptions,
  UnkeyedOptions,
} from "./create-function.ts";

// Of the `inngest` package, v3 and v4.
const foreignOptions = {
  description: "the dashboard shows a function's name",
  optimizeParallelism: "steps side by side run in one pass",
  checkpointing: "every step is kept as it ends",
  experimentalCheckpointing: "every step is kept as it ends",
};

const foreignTriggerOptions = {
  schema: "schemas are given to the client, as `events`",
  version: "an event's version is its own `v`",
};

/** The shape that tells runs from steps, beside the one with a limit. */
interface RunAndStep {
  readonly fn?: unknown;
  readonly step?: unknown;
}

export function refuseUnknownFunctionOptions(
  options: FunctionOptions,
  triggers: readonly unknown[],
  warn: Foreign["warn"],
): void {
  const where = `createFunction of "${options.id}"`;
  const inside = (option: string) => `${where}, ${option}`;
  refuseUnknown<FunctionOptions & { triggers: unknown }>(
    where,
    options,
    {
      id: true,
      name: true,
      triggers: true,
      retries: true,
      idempotency: true,
      timeouts: true,
      entries: true,
      onDiverged: true,
      backoff: true,
      onFailure: true,
      onCancel: true,
      middleware: true,
      concurrency: true,
      throttle: true,
      rateLimit: true,
      debounce: true,
      batchEvents: true,
      priority: true,
      singleton: true,
      cancelOn: true,
    },
    { options: foreignOptions, warn },
  );
  for (const trigger of triggers) {
    refuseUnknown<EventInput | CronInput>(
      inside("trigger"),
      trigger,
      { event: true, if: true, cron: true, jitter: true, missed: true },
      { options: foreignTriggerOptions, warn },
    );
    const { missed } = Object(trigger) as { readonly missed?: unknown };
    refuseUnknown<{ all: number }>(inside("trigger.missed"), missed, { all: true });
  }
  refuseUnknown<IdempotencyOptions | UnkeyedOptions>(inside("idempotency"), options.idempotency, {
    none: true,
    key: true,
    window: true,
    onFailure: true,
    onMissing: true,
  });
  refuseUnknown<NonNullable<FunctionOptions["timeouts"]>>(inside("timeouts"), options.timeouts, {
    start: true,
    finish: true,
    step: true,
  });
  refuseUnknown<NonNullable<FunctionOptions["entries"]>>(inside("entries"), options.entries, {
    max: true,
    onMax: true,
    delay: true,
  });
  refuseUnknown<NonNullable<FunctionOptions["priority"]>>(inside("priority"), options.priority, { run: true });
  refuseUnknown<ThrottleOptions>(inside("throttle"), options.throttle, {
    limit: true,
    period: true,
    burst: true,
    key: true,
  });
  refuseUnknown<RateLimitOptions>(inside("rateLimit"), options.rateLimit, { limit: true, period: true, key: true });
  refuseUnknown<DebounceOptions>(inside("debounce"), options.debounce, { period: true, timeout: true, key: true });
  refuseUnknown<BatchOptions>(inside("batchEvents"), options.batchEvents, {
    maxSize: true,
    timeout: true,
    key: true,
    if: true,
  });
  refuseUnknown<SingletonOptions>(inside("singleton"), options.singleton, { mode: true, key: true });
  for (const each of listOf(options.cancelOn)) {
    refuseUnknown<CancelOnOptions>(inside("cancelOn"), each, { event: true, if: true, match: true, timeout: true });
  }
  const limit = (each: unknown) =>
    refuseUnknown<ConcurrencyOptions>(inside("concurrency"), each, { limit: true, key: true, scope: true });
  for (const each of listOf(options.concurrency)) {
    const { fn, step } = Object(each) as RunAndStep;
    if (fn === undefined && step === undefined) limit(each);
    else {
      refuseUnknown<RunAndStep>(inside("concurrency"), each, { fn: true, step: true });
      for (const one of [...listOf(fn), ...listOf(step)]) limit(one);
    }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
