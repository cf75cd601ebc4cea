// Options that limit, space, gather, order and cancel runs, as an author wrote them or as they came over a wire. What cannot
// hold is refused with the option's path: a limit that is ignored in silence is worse than none.
import { parseDuration } from "./duration.ts";
import { errors } from "./errors.ts";
import type {
  BatchConfig,
  CancelConfig,
  ConcurrencyLimit,
  DebounceConfig,
  FlowConfig,
  RateLimitConfig,
  SingletonConfig,
  ThrottleConfig,
  Trigger,
} from "./function-config.ts";
import { nameCharsMax, readExpression } from "./function-options.ts";
import { isJsonObject } from "./json.ts";
import { matchExpression } from "./match-expression.ts";
import { dayMs } from "./window.ts";

export const concurrencyLimitsMax = 2;
export const cancelOnMax = 5;
export const batchSizeMax = 100;

/** By the names authors write. */
export interface FlowFields {
  readonly concurrency?: unknown;
  readonly throttle?: unknown;
  readonly rateLimit?: unknown;
  readonly debounce?: unknown;
  readonly batchEvents?: unknown;
  readonly priority?: unknown;
  readonly singleton?: unknown;
  readonly cancelOn?: unknown;
}

export interface FlowReading {
  /** What starts the function, to refuse what would never see an event. */
  readonly triggers?: readonly Trigger[];
}

/** A field nobody knows is passed over here: on a wire it may come from an SDK newer than this. Throws OPTION_INVALID, EXPRESSION_INVALID or DURATION_INVALID, each with the path of the option. */
export function readFlow(fields: FlowFields, { triggers = [] }: FlowReading = {}): FlowConfig {
  const read = <Config>(value: unknown, reader: (value: unknown) => Config) =>
    value === undefined ? undefined : reader(value);
  const flow = {
    concurrency: read(fields.concurrency, readConcurrency),
    throttle: read(fields.throttle, readThrottle),
    rateLimit: read(fields.rateLimit, readRateLimit),
    debounce: read(fields.debounce, readDebounce),
    batch: read(fields.batchEvents, readBatch),
    singleton: read(fields.singleton, readSingleton),
    priority: read(fields.priority, readPriority),
    cancelOn: read(fields.cancelOn, readCancelOn),
  };
  const present = Object.entries(flow).filter(([, config]) => config !== undefined);
  const config = Object.fromEntries(present) as FlowConfig;
  refuseTogether(config);
  refuseWithoutEvents(config, triggers);
  return config;
}

function refuseTogether({ batch, cancelOn, debounce, singleton, priority }: FlowConfig): void {
  if (batch === undefined) return;
  for (const [other, config] of Object.entries({ cancelOn, debounce, singleton, priority })) {
    if (config === undefined) continue;
    const why = `it cannot stand beside "${other}", which is decided by one event, and a batch has many; remove one of the two`;
    throw errors.OPTION_INVALID({ option: "batchEvents", why });
  }
}

function refuseWithoutEvents({ batch, debounce }: FlowConfig, triggers: readonly Trigger[]): void {
  // Without any trigger it is invoked, and an invocation is an event.
  if (triggers.length === 0 || triggers.some((trigger) => "event" in trigger)) return;
  const option = batch !== undefined ? "batchEvents" : debounce !== undefined ? "debounce" : null;
  if (option === null) return;
  const why =
    "the function has only cron triggers, and each tick starts its own run; add an event trigger or remove it";
  throw errors.OPTION_INVALID({ option, why });
}

function readConcurrency(value: unknown): ConcurrencyLimit[] | undefined {
  const option = "concurrency";
  if (typeof value === "number") return [{ limit: readAtOnce(value, option), key: null, scope: "fn" }];
  if (Array.isArray(value)) return value.length === 0 ? undefined : readLimits(value, option);
  if (!isJsonObject(value)) {
    const why = `it must be a whole number, { limit, key?, scope? } or a list of at most ${concurrencyLimitsMax} of these`;
    throw errors.OPTION_INVALID({ option, why });
  }
  if (!("fn" in value || "step" in value)) return [readLimit(value, option)];
  const limits = readRunAndStep(value);
  return limits.length === 0 ? undefined : limits;
}

/** The newer shape tells runs from steps. Here one run at work counts once, so both are limits on the same thing. */
function readRunAndStep(value: Record<string, unknown>): ConcurrencyLimit[] {
  const { fn = [], step = [] } = fieldsOf(value, "concurrency", ["fn", "step"]);
  const narrowest = new Map<string, ConcurrencyLimit>();
  for (const limit of [...readLimits(fn, "concurrency.fn"), ...readLimits(step, "concurrency.step")]) {
    const name = slotOf(limit);
    const other = narrowest.get(name);
    if (other === undefined || limit.limit < other.limit) narrowest.set(name, limit);
  }
  if (narrowest.size > concurrencyLimitsMax) throw tooManyLimits("concurrency");
  return [...narrowest.values()];
}

const tooManyLimits = (option: string) =>
  errors.OPTION_INVALID({ option, why: `at most ${concurrencyLimitsMax} limits are allowed` });

function readLimits(value: unknown, option: string): ConcurrencyLimit[] {
  if (!Array.isArray(value))
    throw errors.OPTION_INVALID({ option, why: "it must be a list of { limit, key?, scope? }" });
  if (value.length > concurrencyLimitsMax) throw tooManyLimits(option);
  const limits = value.map((each, i) => readLimit(each, `${option}[${i}]`));
  const [first, second] = limits;
  if (first !== undefined && second !== undefined && slotOf(first) === slotOf(second)) {
    const why = "two limits have the same key and scope, so only the smaller one would count; remove the other";
    throw errors.OPTION_INVALID({ option, why });
  }
  return limits;
}

const slotOf = ({ scope, key }: ConcurrencyLimit): string => JSON.stringify([scope, key]);

function readLimit(value: unknown, option: string): ConcurrencyLimit {
  const { limit, key, scope = "fn" } = fieldsOf(value, option, ["limit", "key", "scope"]);
  if (scope !== "fn" && scope !== "env" && scope !== "account") {
    throw errors.OPTION_INVALID({ option: `${option}.scope`, why: 'it must be "fn", "env" or "account"' });
  }
  if (scope !== "fn" && key === undefined) {
    const why = `scope "${scope}" needs one: it must be an expression for what the functions share, such as '"openai"'`;
    throw errors.OPTION_INVALID({ option: `${option}.key`, why });
  }
  return { limit: readAtOnce(limit, `${option}.limit`), key: readKey(key, option), scope };
}

function readAtOnce(value: unknown, option: string): number {
  if (value !== 0) return readCount(value, option, 1);
  const why = "0 would let nothing run; it must be a whole number of at least 1, or left out for no limit";
  throw errors.OPTION_INVALID({ option, why });
}

function readThrottle(value: unknown): ThrottleConfig {
  const option = "throttle";
  const { limit, period, burst = 1, key } = fieldsOf(value, option, ["limit", "period", "burst", "key"]);
  return {
    limit: readCount(limit, "throttle.limit", 1),
    periodMs: readPeriod(period, "throttle.period", sevenDays),
    burst: readCount(burst, "throttle.burst", 1),
    key: readKey(key, option),
  };
}

function readRateLimit(value: unknown): RateLimitConfig {
  const option = "rateLimit";
  const { limit, period, key } = fieldsOf(value, option, ["limit", "period", "key"]);
  return {
    limit: readCount(limit, "rateLimit.limit", 1),
    periodMs: readPeriod(period, "rateLimit.period", { ms: dayMs, name: "24 hours" }),
    key: readKey(key, option),
  };
}

function readDebounce(value: unknown): DebounceConfig {
  const option = "debounce";
  const { period, timeout, key } = fieldsOf(value, option, ["period", "timeout", "key"]);
  const periodMs = readPeriod(period, "debounce.period", sevenDays);
  const timeoutMs = timeout === undefined ? null : readPeriod(timeout, "debounce.timeout", sevenDays);
  if (timeoutMs !== null && timeoutMs < periodMs) {
    const why = "it must be at least as long as debounce.period, or no silence is ever waited for";
    throw errors.OPTION_INVALID({ option: "debounce.timeout", why });
  }
  return { periodMs, timeoutMs, key: readKey(key, option) };
}

function readBatch(value: unknown): BatchConfig {
  const option = "batchEvents";
  const { maxSize, timeout, key, if: filter } = fieldsOf(value, option, ["maxSize", "timeout", "key", "if"]);
  if (typeof maxSize === "number" && maxSize > batchSizeMax) {
    const why = `it must be a whole number from 2 to ${batchSizeMax}: a run carries every event of its batch in every call`;
    throw errors.OPTION_INVALID({ option: "batchEvents.maxSize", why });
  }
  return {
    maxSize: readCount(maxSize, "batchEvents.maxSize", 2, batchSizeMax),
    timeoutMs: readPeriod(timeout, "batchEvents.timeout", sevenDays),
    key: readKey(key, option),
    if: filter === undefined ? null : readExpression(filter, "batchEvents.if"),
  };
}

function readSingleton(value: unknown): SingletonConfig {
  const { mode, key } = fieldsOf(value, "singleton", ["mode", "key"]);
  if (mode !== "skip" && mode !== "cancel") {
    const why = 'it must be "skip", to keep the run that is open, or "cancel", to cancel it for the new one';
    throw errors.OPTION_INVALID({ option: "singleton.mode", why });
  }
  return { mode, key: readKey(key, "singleton") };
}

const readPriority = (value: unknown): string =>
  readExpression(fieldsOf(value, "priority", ["run"]).run, "priority.run");

function readCancelOn(value: unknown): CancelConfig[] | undefined {
  const option = "cancelOn";
  if (!Array.isArray(value)) {
    throw errors.OPTION_INVALID({ option, why: "it must be a list of { event, if?, match?, timeout? }" });
  }
  if (value.length > cancelOnMax) throw errors.OPTION_INVALID({ option, why: `at most ${cancelOnMax} are allowed` });
  return value.length === 0 ? undefined : value.map((each, i) => readCancel(each, `${option}[${i}]`));
}

function readCancel(value: unknown, option: string): CancelConfig {
  const { event, if: filter, match, timeout } = fieldsOf(value, option, ["event", "if", "match", "timeout"]);
  if (typeof event !== "string" || event === "" || event.length > nameCharsMax || event.includes("*")) {
    const why = "it must be the whole name of an event, without *";
    throw errors.OPTION_INVALID({ option: `${option}.event`, why });
  }
  return { event, if: readCancelIf(filter, match, option), timeoutMs: readCancelTimeout(timeout, `${option}.timeout`) };
}

function readCancelIf(filter: unknown, match: unknown, option: string): string | null {
  const written = filter === undefined ? null : readExpression(filter, `${option}.if`);
  if (match === undefined) return written;
  const matching = matchExpression(match);
  if (!matching.ok) throw errors.OPTION_INVALID({ option: `${option}.match`, why: matching.why });
  return readExpression(
    written === null ? matching.expression : `${matching.expression} && (${written})`,
    `${option}.match`,
  );
}

function readCancelTimeout(value: unknown, option: string): number | null {
  if (value === undefined) return null;
  // The SDK lets authors write a date and sends it as ISO 8601; a registration outlives any date.
  if (value instanceof Date || (typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value))) {
    const why = 'it counts from the creation of each run, so it must be a duration such as "1h", not a date';
    throw errors.OPTION_INVALID({ option, why });
  }
  const ms = parseDuration(value as string | number, option);
  if (ms <= 0) throw errors.OPTION_INVALID({ option, why: "it must be longer than 0" });
  return ms;
}

const sevenDays = { ms: 7 * dayMs, name: "7 days" };

function readPeriod(value: unknown, option: string, longest: { readonly ms: number; readonly name: string }): number {
  const why = `it must be 1 second to ${longest.name}, such as "10s" or "1h30m"`;
  if (value === undefined) throw errors.OPTION_INVALID({ option, why: `it is missing; ${why}` });
  const ms = parseDuration(value as string | number, option);
  if (ms < 1_000 || ms > longest.ms) throw errors.OPTION_INVALID({ option, why });
  return ms;
}

function readCount(value: unknown, option: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw errors.OPTION_INVALID({ option, why: `it must be a whole number ${range}` });
}

const readKey = (value: unknown, option: string): string | null =>
  value === undefined ? null : readExpression(value, `${option}.key`);

function fieldsOf<Name extends string>(
  value: unknown,
  option: string,
  known: readonly Name[],
): { readonly [N in Name]?: unknown } {
  if (!isJsonObject(value)) throw errors.OPTION_INVALID({ option, why: `it must be an object of ${known.join(", ")}` });
  return value as { readonly [N in Name]?: unknown };
}
