// What a function's author configured, checked and put into one shape. This is what is registered in the store, as JSON,
// so that a process that only sends can decide for functions it does not have.
import { dayMs } from "./window.ts";

export interface EventTrigger {
  readonly event: string;
  /** CEL over `event`; the function starts only where it is true. */
  readonly if?: string;
}

export interface CronTrigger {
  readonly cron: string;
}

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

export interface FunctionConfig {
  readonly id: string;
  readonly name: string;
  readonly triggers: readonly Trigger[];
  readonly retries: number;
  readonly idempotency: KeyConfig | null;
  readonly startTimeoutMs: number | null;
  readonly finishTimeoutMs: number | null;
  /** Absent for a function that runs in its own process. */
  readonly runtime?: Runtime;
}

export const defaultWindowMs = dayMs;

/** A trigger that reaches every event whose name begins with the part before the star. */
export const isWildcard = (name: string): boolean => name.endsWith("/*") || name.endsWith(".*");

/** `<app>-<id>`: the name a function has in its environment, on the wire and as an invoke target. */
export const functionSlug = (app: string, id: string): string => `${app}-${id}`;
