// A function's configuration, checked and put into one shape. This is what is registered in the store, as JSON,
// so that a process that only sends can decide for functions it does not have.

import type { FlowConfig } from "../flow/options.ts";
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
  /** For ticks whose time passed while nobody was there; `last` by default. */
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
  readonly afterFailure: "keep" | "release";
  /** Where the key is missing, null or fails: start anyway and say so, or hold the event for a person. */
  readonly onMissing: "run" | "reject";
}

/** Where a function's code lives when it is not in the process that registered it. */
export type Runtime =
  | { readonly kind: "http"; readonly url: string }
  /** Workers that called us and keep a socket open. */
  | { readonly kind: "connect" }
  /** A durable endpoint: the app's own HTTP handler, entered again by repeating the request in its event. */
  | { readonly kind: "endpoint"; readonly url: string };

export interface FunctionConfig extends FlowConfig {
  /** As it is called today. */
  readonly id: string;
  /** As its app is called today; absent where neither it nor its app was ever renamed. */
  readonly app?: string;
  /** Full names that rows have it under, the first one ever first; absent where it was never renamed (function-names.ts). */
  readonly was?: readonly string[];
  readonly name: string;
  readonly triggers: readonly Trigger[];
  readonly retries: number;
  readonly idempotency: KeyConfig | null;
  /** Why it has no key, in its author's words: events with other ids are other work. Absent where nobody said. */
  readonly unkeyed?: string;
  readonly startTimeoutMs: number | null;
  readonly finishTimeoutMs: number | null;
  /** Limit of one attempt of a step, unless the step has its own. Absent for as long as it takes. */
  readonly stepTimeoutMs?: number;
  /** Bound on entries of its code without an outcome, and what then; absent for the default. */
  readonly entries?: EntriesConfig;
  /** For a run whose code no longer asks for a step it had begun; absent for a warning and nothing more. */
  readonly onDiverged?: Exclude<OnDiverged, "warn">;
  /** Of its code, as the app that has it says; absent where nobody does. */
  readonly fingerprint?: string;
  /** Absent for a function that runs in its own process. */
  readonly runtime?: Runtime;
  /** JSON Schemas, as text, of the data of events that start it, by the event's name (data-schemas.ts). */
  readonly dataSchemas?: Readonly<Record<string, string>>;
}

export const defaultWindowMs = dayMs;

/** A trigger that reaches every event whose name begins with the part before the star. */
export const isWildcard = (name: string): boolean => name.endsWith("/*") || name.endsWith(".*");

/** `<app>-<id>`: the name a function has in its environment, on the wire and as an invoke target. */
export const functionSlug = (app: string, id: string): string => `${app}-${id}`;

/** Why it has no key: its author's words, or that what starts it comes once. Null where it has one, and where one is missing. */
export function whyNoKey({ idempotency, unkeyed, batch, triggers }: FunctionConfig): string | null {
  if (idempotency !== null) return null;
  if (unkeyed !== undefined) return unkeyed;
  if (batch !== undefined) return "an event is in one batch";
  if (triggers.some((trigger) => "event" in trigger && !/^(idem|inngest)\//.test(trigger.event))) return null;
  if (triggers.length === 0) return "what invokes it does so once";
  return triggers.some((trigger) => "cron" in trigger) ? "a tick runs once" : "Idem tells of something once";
}
