// Triggers and flow control as they stand in a registration (docs/reference/wire.md#a-function-on-the-wire), read and written: what is written here is read
// as the same configuration. Durations are written in milliseconds, because a configuration is kept in them.
import { type FlowConfig, flowOptions, readFlow } from "../flow/options.ts";
import { errors } from "../model/errors.ts";
import type { MissedPolicy, Trigger } from "../model/function-config.ts";
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
  const given = flowOptions.map(([, { written, onWire = written, fromWire }]) => {
    const value = fields[onWire];
    return [written, fromWire === undefined ? value : fromWire(value, fields)];
  });
  return readFlow(withoutEmpty(Object.fromEntries(given)) as object, { triggers });
}

/** An empty key, filter or timeout is none; SDKs of other languages write it for what is not there. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isJsonObject(value)) return value;
  const present = Object.entries(value).filter(([, item]) => item !== "");
  return Object.fromEntries(present.map(([name, item]) => [name, withoutEmpty(item)]));
}

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

export function writeFlow(config: FlowConfig): object {
  const fields = flowOptions.flatMap(([name, { written, onWire = written, toWire = writeFields }]) =>
    config[name] === undefined ? [] : [[onWire, toWire(config[name])]],
  );
  return Object.fromEntries(fields);
}

/** `periodMs: 10_000` is `period: "10000ms"` on the wire. */
function writeFields(config: unknown): unknown {
  if (Array.isArray(config)) return config.map(writeFields);
  const fields = Object.entries(config as object).map(([name, value]) =>
    name.endsWith("Ms") && typeof value === "number" ? [name.slice(0, -"Ms".length), duration(value)] : [name, value],
  );
  return Object.fromEntries(fields.filter(([, value]) => value !== null));
}

const duration = (ms: number): string => `${ms}ms`;
