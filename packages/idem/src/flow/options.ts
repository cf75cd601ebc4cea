// Every option that says how a function's runs may begin, once as authors write it, once as it is kept, once in the list that everything
// which goes over all of them reads: definition, registration, the wire. An option is a folder beside this file.
import { errors } from "../model/errors.ts";
import type { Trigger } from "../model/function-config.ts";
import type { KnownOptions } from "../model/known-options.ts";
import { type BatchConfig, type BatchOptions, batch } from "./batch/config.ts";
import { type CancelConfig, type CancelOnOptions, cancelOn } from "./cancel-on/config.ts";
import { type ConcurrencyLimit, type ConcurrencyOptions, concurrency } from "./concurrency/config.ts";
import { type DebounceConfig, type DebounceOptions, debounce } from "./debounce/config.ts";
import type { FlowOption } from "./option.ts";
import { type PriorityOptions, priority } from "./priority/config.ts";
import { type RateLimitConfig, type RateLimitOptions, rateLimit } from "./rate-limit/config.ts";
import { type SingletonConfig, type SingletonOptions, singleton } from "./singleton/config.ts";
import { type ThrottleConfig, type ThrottleOptions, throttle } from "./throttle/config.ts";

/** As authors write them. */
export interface FlowWritten {
  /**
   * Bounds the runs at work at once; two limits at most. Sleeping and waiting runs do not count. With `parallelSteps: true` a limit bounds
   * their steps.
   *
   * @example { id: "draft-invoice", concurrency: { limit: 5, key: "event.data.accountId" } }
   */
  readonly concurrency?: number | ConcurrencyOptions | readonly ConcurrencyOptions[];
  /**
   * Spaces the starts of runs; those too early wait in line.
   *
   * @example { id: "sync-contact", throttle: { limit: 10, period: "1m" } }
   */
  readonly throttle?: ThrottleOptions;
  /**
   * Starts no more runs than this; events beyond are kept, with a decision that says so.
   *
   * @example { id: "remind", rateLimit: { limit: 1, period: "24h", key: "event.data.userId" } }
   */
  readonly rateLimit?: RateLimitOptions;
  /**
   * One run for the last of many events, once no more come.
   *
   * @example { id: "reindex", debounce: { period: "30s", key: "event.data.documentId" } }
   */
  readonly debounce?: DebounceOptions;
  /**
   * One run for many events, in `events`. Not beside cancelOn, debounce, singleton or priority.
   *
   * @example { id: "load-warehouse", batchEvents: { maxSize: 100, timeout: "5s" } }
   */
  readonly batchEvents?: BatchOptions;
  /**
   * CEL over `event`: seconds by which a run is put before others of its function, or behind them.
   *
   * @example { id: "transcode", priority: { run: "event.data.plan == 'pro' ? 60 : 0" } }
   */
  readonly priority?: PriorityOptions;
  /**
   * At most one open run.
   *
   * @example { id: "import", singleton: { mode: "skip", key: "event.data.accountId" } }
   */
  readonly singleton?: SingletonOptions;
  /**
   * Events that cancel a run; five at most.
   *
   * @example { id: "remind", cancelOn: [{ event: "order/paid", match: "data.orderId" }] }
   */
  readonly cancelOn?: readonly CancelOnOptions[];
}

/** As they are kept, checked. An option that is not configured is absent, so that the text of a plain function stays what it was. */
export interface FlowConfig {
  readonly concurrency?: readonly ConcurrencyLimit[];
  readonly throttle?: ThrottleConfig;
  readonly rateLimit?: RateLimitConfig;
  readonly debounce?: DebounceConfig;
  readonly batch?: BatchConfig;
  readonly singleton?: SingletonConfig;
  /** CEL over `event`: seconds by which a run is put before others of its function, or behind them. */
  readonly priority?: string;
  readonly cancelOn?: readonly CancelConfig[];
}

type Options = { readonly [Name in keyof FlowConfig]-?: FlowOption<NonNullable<FlowConfig[Name]>> };

// In the order in which a configuration is kept: its text is compared.
const options: Options = { concurrency, throttle, rateLimit, debounce, batch, singleton, priority, cancelOn };

/** By the name under which it is kept. */
export const flowOptions = Object.entries(options) as readonly [keyof FlowConfig, FlowOption<unknown>][];

/** Every name authors may write. */
export const writtenNames = Object.fromEntries(
  flowOptions.map(([, { written }]) => [written, true]),
) as KnownOptions<FlowWritten>;

export interface FlowReading {
  /** Triggers of the function, to refuse an option that would never see an event. */
  readonly triggers?: readonly Trigger[];
}

/** By the names authors write. Throws as an option's own `read` does. */
export function readFlow(
  fields: { readonly [Name in keyof FlowWritten]?: unknown },
  { triggers = [] }: FlowReading = {},
): FlowConfig {
  const config: Partial<Record<keyof FlowConfig, unknown>> = {};
  for (const [name, option] of flowOptions) {
    const value = fields[option.written];
    const read = value === undefined ? undefined : option.read(value);
    if (read !== undefined) config[name] = read;
  }
  const present = flowOptions.flatMap(([name, option]) => (config[name] === undefined ? [] : [option]));
  refuseTogether(present);
  refuseWithoutEvents(present, triggers);
  return config as FlowConfig;
}

function refuseTogether(present: readonly FlowOption<unknown>[]): void {
  const many = present.find(({ manyEvents }) => manyEvents);
  const other = present.find(({ byOneEvent }) => byOneEvent);
  if (many === undefined || other === undefined) return;
  const why = `it cannot stand beside "${other.written}", which is decided by one event, and a batch has many; remove one of the two`;
  throw errors.OPTION_INVALID({ option: many.written, why });
}

function refuseWithoutEvents(present: readonly FlowOption<unknown>[], triggers: readonly Trigger[]): void {
  // Without any trigger it is invoked, and an invocation is an event.
  if (triggers.length === 0 || triggers.some((trigger) => "event" in trigger)) return;
  const gathering = present.find(({ gathers }) => gathers);
  if (gathering === undefined) return;
  const why =
    "the function has only cron triggers, and each tick starts its own run; add an event trigger or remove it";
  throw errors.OPTION_INVALID({ option: gathering.written, why });
}

/** Throws OPTION_UNKNOWN for what stands inside an option. */
export function refuseUnknownInFlow(written: FlowWritten, inside: (option: string) => string): void {
  for (const [, option] of flowOptions) option.refuseUnknown(inside(option.written), written[option.written]);
}

export const hasFlow = (config: FlowConfig): boolean => flowOptions.some(([name]) => config[name] !== undefined);

/** One of its runs may answer for several events. */
export const gathersEvents = (config: FlowConfig): boolean =>
  flowOptions.some(([name, { gathers }]) => gathers && config[name] !== undefined);

/** Only how its runs may begin. */
export function flowOf(config: FlowConfig): FlowConfig {
  const present = flowOptions.filter(([name]) => config[name] !== undefined);
  return Object.fromEntries(present.map(([name]) => [name, config[name]]));
}
