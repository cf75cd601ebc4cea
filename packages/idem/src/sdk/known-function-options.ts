// Every option of a function and of what stands inside its options, by name.
import { refuseUnknownInFlow, writtenNames } from "../flow/options.ts";
import { type Foreign, refuseUnknown } from "../model/known-options.ts";
import type { CronInput, EventInput, FunctionOptions, IdempotencyOptions, UnkeyedOptions } from "./function-types.ts";

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
      was: true,
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
      ...writtenNames,
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
    afterFailure: true,
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
  refuseUnknownInFlow(options, inside);
}
