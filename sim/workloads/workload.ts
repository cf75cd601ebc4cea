// A workload is a handful of small functions with a known right answer, what to send them, and the facts about them that the
// oracle needs, said a second time in plain words so that the oracle need not ask the engine.
import type { Idem } from "../engine.ts";
import type { Random } from "../random.ts";
import type { Kit } from "./kit.ts";

export type Data = Record<string, any>;

export interface FunctionFacts {
  readonly id: string;
  /** The event that triggers it; null for functions that are only invoked. */
  readonly event: string | null;
  /** Whether its filter lets this event in. */
  readonly admits?: (data: Data) => boolean;
  readonly key?: {
    readonly of: (data: Data) => unknown;
    readonly windowMs: number;
    readonly releasedOnFailure: boolean;
    /** The window stays open past its end while the run is open. */
    readonly held: boolean;
  };
  /** The slots a run takes while it is at work, and how many may have each. */
  readonly slots?: readonly {
    readonly of: (data: Data) => string;
    readonly limit: number;
    /** Steps side by side take one each. Where no slot of the function does so, its steps go one after another, and each slot has as many steps as runs. */
    readonly isOfSteps?: true;
  }[];
  readonly throttle?: {
    readonly of: (data: Data) => unknown;
    readonly limit: number;
    readonly periodMs: number;
    readonly burst: number;
  };
  readonly rateLimit?: { readonly of: (data: Data) => unknown; readonly limit: number; readonly periodMs: number };
  readonly debounce?: {
    readonly of: (data: Data) => unknown;
    readonly periodMs: number;
    readonly timeoutMs: number | null;
  };
  readonly batch?: {
    readonly of: (data: Data) => unknown;
    readonly admits?: (data: Data) => boolean;
    readonly maxSize: number;
    readonly timeoutMs: number;
  };
  readonly singleton?: { readonly of: (data: Data) => unknown; readonly mode: "skip" | "cancel" };
  /** The event that cancels it, where this is equal in both, and for how long it counts. */
  readonly cancelOn?: {
    readonly event: string;
    readonly of: (data: Data) => unknown;
    readonly lastsMs: number | null;
  };
  /** A run that has not begun after so long is cancelled. */
  readonly startWithinMs?: number;
  /** Every so many minutes of the hour. */
  readonly crons?: readonly CronFacts[];
  /** People pause it now and then. */
  readonly isPaused?: boolean;
  /** An event without this is held until a person releases it. */
  readonly needs?: (data: Data) => unknown;
  /** The end of a run for this event when nobody cancels it; "parked" is left to a person, for ever in these worlds. */
  readonly ends: (data: Data) => "completed" | "failed" | "parked";
  /** The step that ends its process each time, and how often it may be entered before the run is taken out. */
  readonly entriesMax?: { readonly step: string; readonly count: number };
  /** The steps whose values a completed run returns. */
  readonly steps: (data: Data) => readonly string[];
  /** How often each step, or the code between steps (""), fails on its way, where that is known. */
  readonly failures?: (data: Data) => Readonly<Record<string, number>>;
  /** The function that hears of its failures. */
  readonly failureHandler?: string;
  /** Only registered by newer versions of the app. */
  readonly isLate?: boolean;
}

export interface CronFacts {
  readonly cron: string;
  readonly everyMinutes: number;
  readonly jitterMs: number;
  /** The number of missed ticks that are started: the newest ones. */
  readonly startsMissed: number;
}

export interface Message {
  readonly name: string;
  readonly data: Data;
  /** The sender's own id, kept for every redelivery; null for senders that have none. */
  readonly id: string | null;
  /** When it happened, by the sender's word; absent for senders that do not say. */
  readonly ts?: number;
}

export interface Workload {
  readonly functions: readonly FunctionFacts[];
  readonly define: (idem: Idem, kit: Kit, version: number) => void;
  /** A client's messages in one call; the n-th of its world. */
  readonly messages: (random: Random, n: number) => readonly Message[];
  /** The length of its chaos; absent where the world says. */
  readonly chaosMs?: readonly [number, number];
  /** The extra time a world with it may take to come to rest. */
  readonly restMs?: number;
  /** Messages sent now and then once the world has healed, so that runs that still wait get an answer. */
  readonly closing?: (n: number) => readonly Message[];
}
