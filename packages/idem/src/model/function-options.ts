// The options of a function, read and checked in one place, whether they were written in this process or arrived
// over a wire. Options that limit, gather and cancel its runs are in flow/options.ts.
import { parseCron } from "./cron.ts";
import { lasting, parseDuration } from "./duration.ts";
import { type EntriesConfig, entriesDefault, entriesDelayMsMax, entriesMaxMost } from "./entries.ts";
import { errors } from "./errors.ts";
import { compileExpression } from "./expression.ts";
import {
  type CronTrigger,
  defaultWindowMs,
  type FunctionConfig,
  isWildcard,
  type KeyConfig,
  type MissedPolicy,
  type Trigger,
} from "./function-config.ts";

export const triggersMax = 10;
export const retriesDefault = 4;
export const retriesMax = 20;
export const nameCharsMax = 256;
const jitterMsMin = 1_000;
const jitterMsMax = 300_000;
/** The number of missed ticks that "all" means, the newest ones: a day of a schedule that ticks every quarter of an hour. */
const missedDefault = 100;
const missedMax = 1_000;

/** Each is `{ event, if? }` or `{ cron, jitter?, missed? }`, whatever its fields were called where it came from. */
export function readTriggers(triggers: readonly unknown[]): Trigger[] {
  if (triggers.length > triggersMax) {
    throw errors.OPTION_INVALID({ option: "triggers", why: `at most ${triggersMax} are allowed` });
  }
  const read = triggers.map(readTrigger);
  const seen = new Set<string>();
  for (const trigger of read) {
    const name = "cron" in trigger ? scheduleOf(trigger.cron) : JSON.stringify(trigger);
    if (seen.has(name)) {
      const shown = "cron" in trigger ? `cron "${trigger.cron}"` : name;
      throw errors.OPTION_INVALID({ option: "triggers", why: `${shown} stands there twice` });
    }
    seen.add(name);
  }
  return read;
}

/** The same for two spellings of one schedule, whatever else their triggers say: an instant is ticked once. */
function scheduleOf(cron: string): string {
  const { zone, fields } = parseCron(cron);
  return `${zone ?? "UTC"} ${fields.toUpperCase()}`;
}

function readTrigger(given: unknown): Trigger {
  if (typeof given !== "object" || given === null) {
    throw errors.OPTION_INVALID({ option: "trigger", why: "it must be { event } or { cron }" });
  }
  const { cron, jitter, missed, event, if: filter } = given as Record<string, unknown>;
  if (cron !== undefined) {
    if (event !== undefined) {
      throw errors.OPTION_INVALID({ option: "trigger", why: "it must be { event } or { cron }, one trigger for each" });
    }
    if (filter !== undefined) {
      throw errors.OPTION_INVALID({ option: "trigger.if", why: "a cron trigger has no event to filter; remove it" });
    }
    return readCronTrigger(cron, jitter, missed);
  }
  for (const [field, value] of Object.entries({ jitter, missed })) {
    if (value === undefined) continue;
    throw errors.OPTION_INVALID({ option: `trigger.${field}`, why: "it must stand beside a cron, not an event" });
  }
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

function readCronTrigger(cron: unknown, jitter: unknown, missed: unknown): CronTrigger {
  parseCron(cron as string);
  return {
    cron: cron as string,
    ...(jitter === undefined ? {} : { jitterMs: readJitter(jitter) }),
    ...(missed === undefined ? {} : { missed: readMissed(missed) }),
  };
}

function readJitter(value: unknown): number {
  const option = "trigger.jitter";
  const ms = parseDuration(value as string | number, option);
  if (ms < jitterMsMin || ms > jitterMsMax) {
    throw errors.OPTION_INVALID({ option, why: "it must be 1 second to 5 minutes" });
  }
  return ms;
}

function readMissed(value: unknown): MissedPolicy {
  if (value === "skip" || value === "last") return { kind: value };
  if (value === "all") return { kind: "all", max: missedDefault };
  const max = typeof value === "object" && value !== null ? (value as { all?: unknown }).all : undefined;
  if (typeof max === "number" && Number.isInteger(max) && max >= 1 && max <= missedMax) return { kind: "all", max };
  const why = `it must be "skip", "last", "all" or { all: n } with n from 1 to ${missedMax}`;
  throw errors.OPTION_INVALID({ option: "trigger.missed", why });
}

export function readExpression(value: unknown, option: string): string {
  if (typeof value !== "string") throw errors.OPTION_INVALID({ option, why: "it must be a CEL expression" });
  compileExpression(value, option);
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

export function readTimeouts(
  value: unknown,
): Pick<FunctionConfig, "startTimeoutMs" | "finishTimeoutMs" | "stepTimeoutMs"> {
  const { start, finish, step } = readObject(value, "timeouts");
  const stepTimeoutMs = readTimeout(step, "timeouts.step");
  return {
    startTimeoutMs: readTimeout(start, "timeouts.start"),
    finishTimeoutMs: readTimeout(finish, "timeouts.finish"),
    ...(stepTimeoutMs === null ? {} : { stepTimeoutMs }),
  };
}

export function readTimeout(value: unknown, option: string): number | null {
  if (value === undefined) return null;
  return lasting(parseDuration(value as string | number, option), option);
}

/** Bound on entries of its code in a row without an outcome, and what then. */
export function readEntries(value: unknown): { readonly entries?: EntriesConfig } {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw errors.OPTION_INVALID({ option: "entries", why: 'it must be { max, onMax: "park" | "fail", delay }' });
  }
  const { max = entriesDefault.max, onMax = entriesDefault.onMax, delay, ...rest } = value as Record<string, unknown>;
  for (const name of Object.keys(rest)) {
    throw errors.OPTION_INVALID({ option: `entries.${name}`, why: "only max, onMax and delay are known" });
  }
  if (!Number.isInteger(max) || (max as number) < 1 || (max as number) > entriesMaxMost) {
    throw errors.OPTION_INVALID({
      option: "entries.max",
      why: `it must be a whole number from 1 to ${entriesMaxMost}`,
    });
  }
  if (onMax !== "park" && onMax !== "fail") {
    throw errors.OPTION_INVALID({ option: "entries.onMax", why: 'it must be "park" or "fail"' });
  }
  const delayMs = delay === undefined ? entriesDefault.delayMs : parseDuration(delay as string, "entries.delay");
  if (delayMs > entriesDelayMsMax)
    throw errors.OPTION_INVALID({ option: "entries.delay", why: "it must be at most 1h" });
  return { entries: { max: max as number, onMax, delayMs } };
}

export function readOnDiverged(value: unknown): Pick<FunctionConfig, "onDiverged"> {
  if (value === undefined || value === "warn") return {};
  if (value === "park" || value === "fail") return { onDiverged: value };
  throw errors.OPTION_INVALID({ option: "onDiverged", why: 'it must be "warn", "park" or "fail"' });
}

/** As an app says it of its code; one that is none of ours is passed over. */
export const readFingerprint = (value: unknown): Pick<FunctionConfig, "fingerprint"> =>
  typeof value === "string" && /^[\w-]{10}$/.test(value) ? { fingerprint: value } : {};

export function readRetries(retries: unknown): number {
  if (retries === undefined) return retriesDefault;
  if (typeof retries !== "number" || !Number.isInteger(retries) || retries < 0 || retries > retriesMax) {
    throw errors.OPTION_INVALID({ option: "retries", why: `it must be between 0 and ${retriesMax}` });
  }
  return retries;
}

/** A key, or nothing; or the reason why there is none. */
export function readIdempotency(option: unknown): Pick<FunctionConfig, "idempotency" | "unkeyed"> {
  if (option === undefined) return { idempotency: null };
  const given = typeof option === "string" ? { key: option } : readObject(option, "idempotency");
  if (!("none" in given)) return { idempotency: readKey(given) };
  const beside = Object.keys(given).filter((name) => name !== "none");
  if (beside.length > 0) {
    const why = `it says that there is no key, so "${beside[0]!.slice(0, nameCharsMax)}" cannot stand beside it`;
    throw errors.OPTION_INVALID({ option: "idempotency.none", why });
  }
  const { none } = given as Record<string, unknown>;
  if (typeof none === "string" && none.trim() !== "" && none.length <= nameCharsMax) {
    return { idempotency: null, unkeyed: none };
  }
  const why = `it must be the reason, in 1 to ${nameCharsMax} characters: { none: "each tick is new work" }`;
  throw errors.OPTION_INVALID({ option: "idempotency.none", why });
}

function readKey(given: object): KeyConfig {
  const { key, window, afterFailure = "keep", onMissing = "run" } = given as Record<string, unknown>;
  const expression = readExpression(key, "idempotency.key");
  if (afterFailure !== "keep" && afterFailure !== "release") {
    throw errors.OPTION_INVALID({ option: "idempotency.afterFailure", why: 'it must be "keep" or "release"' });
  }
  if (onMissing !== "run" && onMissing !== "reject") {
    throw errors.OPTION_INVALID({ option: "idempotency.onMissing", why: 'it must be "run" or "reject"' });
  }
  const untilFinished = window === "until-finished";
  const option = "idempotency.window";
  const windowMs =
    window === undefined || untilFinished
      ? defaultWindowMs
      : lasting(parseDuration(window as string | number, option), option);
  return { key: expression, windowMs, untilFinished, afterFailure, onMissing };
}
