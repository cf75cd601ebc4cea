// A function's configuration, checked and put into one shape. This is what is registered in the store, as JSON,
// so that a process that only sends can decide for functions it does not have.

import type { OnDiverged } from "./divergence.ts";
import type { EntriesConfig } from "./entries.ts";
import { dayMs } from "./window.ts";

export interface EventTrigger {
  readonly event: string;
  /** CEL over `event`; the function starts only where it is true. */
  readonly if?: string;
}

export interface CronTrigger {
  readonly cron: string;
  /** The start of each tick's run is put off by up to this much, the same for a tick in every process. */
  readonly jitterMs?: number;
  /** What becomes of ticks whose time passed while nobody was there; `last` by default. */
  readonly missed?: MissedPolicy;
}

/** `skip`: none is started · `last`: the newest one · `all`: the newest `max` of them, in order. Each leaves a decision. */
export type MissedPolicy =
  | { readonly kind: "skip" }
  | { readonly kind: "last" }
  | { readonly kind: "all"; readonly max: number };

export type Trigger = EventTrigger | CronTrigger;

export interface KeyConfig {
  /** CEL over `event`. */
  readonly key: string;
  readonly windowMs: number;
  /** Keep the key taken past its window while the run is open. */
  readonly untilFinished: boolean;
  /** Whether a failed or cancelled run gives its key back. */
  readonly onFailure: "keep" | "release";
  /** What to do when the key is missing, null or fails: start anyway and say so, or hold the event for a person. */
  readonly onMissing: "run" | "reject";
}

/** Where a function's code lives when it is not in the process that registered it. */
export type Runtime =
  | { readonly kind: "http"; readonly url: string }
  /** Workers that called us and keep a socket open. */
  | { readonly kind: "connect" }
  /** A durable endpoint: the app's own HTTP handler, entered again by repeating the request in its event. */
  | { readonly kind: "endpoint"; readonly url: string };

export interface ConcurrencyLimit {
  readonly limit: number;
  /** CEL over `event`; null for one limit on the whole function. */
  readonly key: string | null;
  /** Whose runs share the limit: this function's, or those of all functions of the environment or of the store with an equal key. */
  readonly scope: "fn" | "env" | "account";
}

export interface ThrottleConfig {
  readonly limit: number;
  readonly periodMs: number;
  readonly burst: number;
  readonly key: string | null;
}

export interface RateLimitConfig {
  readonly limit: number;
  readonly periodMs: number;
  readonly key: string | null;
}

export interface DebounceConfig {
  readonly periodMs: number;
  readonly timeoutMs: number | null;
  readonly key: string | null;
}

export interface BatchConfig {
  readonly maxSize: number;
  readonly timeoutMs: number;
  readonly key: string | null;
  /** CEL over `event`: where it is not true, the event starts a run of its own. */
  readonly if: string | null;
}

export interface SingletonConfig {
  readonly mode: "skip" | "cancel";
  readonly key: string | null;
}

export interface CancelConfig {
  readonly event: string;
  /** CEL over `event` (the run's own) and `async` (the arriving one); null for any. A `match` is written out here. */
  readonly if: string | null;
  /** How long after the run's creation it counts. */
  readonly timeoutMs: number | null;
}

/** What is not configured is absent, so that the text of a plain function stays what it was. */
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

export interface FunctionConfig extends FlowConfig {
  readonly id: string;
  readonly name: string;
  readonly triggers: readonly Trigger[];
  readonly retries: number;
  readonly idempotency: KeyConfig | null;
  /** Why it has no key, in its author's words: events with other ids are other work. Absent where nobody said. */
  readonly unkeyed?: string;
  readonly startTimeoutMs: number | null;
  readonly finishTimeoutMs: number | null;
  /** How long one attempt of a step may take, unless the step says so itself. Absent for as long as it takes. */
  readonly stepTimeoutMs?: number;
  /** How often its code is entered without an outcome, and what then; absent for the default. */
  readonly entries?: EntriesConfig;
  /** What becomes of a run whose code no longer asks for a step it had begun; absent for a warning and nothing more. */
  readonly onDiverged?: Exclude<OnDiverged, "warn">;
  /** Absent for a function that runs in its own process. */
  readonly runtime?: Runtime;
  /** JSON Schemas, as text, of the data of events that start it, by the event's name (data-schemas.ts). */
  readonly dataSchemas?: Readonly<Record<string, string>>;
}

/** Only how its runs may begin. */
export function flowOf(config: FlowConfig): FlowConfig {
  const { concurrency, throttle, rateLimit, debounce, batch, singleton, priority, cancelOn } = config;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(throttle === undefined ? {} : { throttle }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(debounce === undefined ? {} : { debounce }),
    ...(batch === undefined ? {} : { batch }),
    ...(singleton === undefined ? {} : { singleton }),
    ...(priority === undefined ? {} : { priority }),
    ...(cancelOn === undefined ? {} : { cancelOn }),
  };
}

export const defaultWindowMs = dayMs;

/** A trigger that reaches every event whose name begins with the part before the star. */
export const isWildcard = (name: string): boolean => name.endsWith("/*") || name.endsWith(".*");

/** `<app>-<id>`: the name a function has in its environment, on the wire and as an invoke target. */
export const functionSlug = (app: string, id: string): string => `${app}-${id}`;

/** Its runs wait in line for a slot or an instant, where others start at once. */
export const needsLane = ({ concurrency, throttle }: FunctionConfig): boolean =>
  concurrency !== undefined || throttle !== undefined;

/** Why it has no key: its author's words, or that what starts it comes once. Null where it has one, and where one is missing. */
export function whyNoKey({ idempotency, unkeyed, batch, triggers }: FunctionConfig): string | null {
  if (idempotency !== null) return null;
  if (unkeyed !== undefined) return unkeyed;
  if (batch !== undefined) return "an event is in one batch";
  // Idem itself tells of something once.
  if (triggers.some((trigger) => "event" in trigger && !/^(idem|inngest)\//.test(trigger.event))) return null;
  return triggers.some((trigger) => "cron" in trigger) ? "a tick runs once" : "what invokes it does so once";
}
