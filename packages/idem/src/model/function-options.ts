// What a function's author may configure, read and checked in one place, whether it was written in this process or arrived
// over a wire. Ignoring a limit in silence would be worse than refusing it, so what is not available yet is refused by name.
import { parseCron } from "./cron.ts";
import { parseDuration } from "./duration.ts";
import { errors } from "./errors.ts";
import { compileExpression } from "./expression.ts";
import { defaultWindowMs, isWildcard, type KeyConfig, type Trigger } from "./function-config.ts";

export const triggersMax = 10;
export const retriesDefault = 4;
export const retriesMax = 20;
export const nameCharsMax = 256;

/** Options that are known elsewhere and not here yet, as authors write them. */
export const optionsNotYet = [
  "concurrency",
  "throttle",
  "rateLimit",
  "debounce",
  "batchEvents",
  "priority",
  "singleton",
  "cancelOn",
] as const;

export function refuseOption(option: (typeof optionsNotYet)[number]): never {
  throw errors.OPTION_INVALID({ option, why: "it is not available in this version" });
}

/** `if` is the filter, whatever it was called where it came from. */
export type TriggerFields =
  | { readonly event: unknown; readonly if?: unknown }
  | { readonly cron: unknown; readonly jitter?: unknown };

export function readTriggers(triggers: readonly unknown[]): Trigger[] {
  if (triggers.length > triggersMax) {
    throw errors.OPTION_INVALID({ option: "triggers", why: `at most ${triggersMax} are allowed` });
  }
  const read = triggers.map(readTrigger);
  const seen = new Set<string>();
  for (const trigger of read) {
    const name = JSON.stringify(trigger);
    if (seen.has(name)) throw errors.OPTION_INVALID({ option: "triggers", why: `${name} stands there twice` });
    seen.add(name);
  }
  return read;
}

function readTrigger(given: unknown): Trigger {
  if (typeof given !== "object" || given === null) {
    throw errors.OPTION_INVALID({ option: "trigger", why: "it must be { event } or { cron }" });
  }
  const trigger = given as TriggerFields;
  if ("cron" in trigger) {
    parseCron(trigger.cron as string);
    throw errors.OPTION_INVALID({ option: "trigger", why: "cron triggers are not available in this version" });
  }
  const { event, if: filter } = trigger;
  if (typeof event !== "string" || event === "" || event.length > nameCharsMax) {
    throw errors.OPTION_INVALID({ option: "trigger.event", why: "it must be the name of an event" });
  }
  if (event.includes("*") && !(isWildcard(event) && event.indexOf("*") === event.length - 1)) {
    throw errors.OPTION_INVALID({
      option: "trigger.event",
      why: `"${event}": a * may only end a name, after / or .`,
    });
  }
  return filter === undefined ? { event } : { event, if: readExpression(filter, "trigger.if") };
}

export function readExpression(value: unknown, option: string): string {
  if (typeof value !== "string") throw errors.OPTION_INVALID({ option, why: "it must be a CEL expression" });
  compileExpression(value);
  return value;
}

export function readObject(value: unknown, option: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw errors.OPTION_INVALID({ option, why: "it must be an object" });
}

export function readName(name: unknown): string | null {
  if (name === undefined) return null;
  if (typeof name === "string" && name !== "" && name.length <= nameCharsMax) return name;
  throw errors.OPTION_INVALID({ option: "name", why: `it must be 1 to ${nameCharsMax} characters` });
}

export function readTimeouts(value: unknown): { startTimeoutMs: number | null; finishTimeoutMs: number | null } {
  const { start, finish } = readObject(value, "timeouts");
  return {
    startTimeoutMs: readTimeout(start, "timeouts.start"),
    finishTimeoutMs: readTimeout(finish, "timeouts.finish"),
  };
}

function readTimeout(value: unknown, option: string): number | null {
  if (value === undefined) return null;
  const ms = parseDuration(value as string | number, option);
  if (ms <= 0) throw errors.OPTION_INVALID({ option, why: "it must be longer than 0" });
  return ms;
}

export function readRetries(retries: unknown): number {
  if (retries === undefined) return retriesDefault;
  if (typeof retries !== "number" || !Number.isInteger(retries) || retries < 0 || retries > retriesMax) {
    throw errors.OPTION_INVALID({ option: "retries", why: `it must be between 0 and ${retriesMax}` });
  }
  return retries;
}

export function readIdempotency(option: unknown): KeyConfig | null {
  if (option === undefined) return null;
  const given = typeof option === "string" ? { key: option } : readObject(option, "idempotency");
  const { key, window, onFailure = "keep", onMissing = "run" } = given as Record<string, unknown>;
  const expression = readExpression(key, "idempotency.key");
  if (onFailure !== "keep" && onFailure !== "release") {
    throw errors.OPTION_INVALID({ option: "idempotency.onFailure", why: 'it must be "keep" or "release"' });
  }
  if (onMissing !== "run" && onMissing !== "reject") {
    throw errors.OPTION_INVALID({ option: "idempotency.onMissing", why: 'it must be "run" or "reject"' });
  }
  const untilFinished = window === "until-finished";
  const windowMs =
    window === undefined || untilFinished
      ? defaultWindowMs
      : parseDuration(window as string | number, "idempotency.window");
  if (windowMs <= 0) throw errors.OPTION_INVALID({ option: "idempotency.window", why: "it must be longer than 0" });
  return { key: expression, windowMs, untilFinished, onFailure, onMissing };
}
