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
  /** How a run for this event ends when nobody cancels it. */
  readonly ends: (data: Data) => "completed" | "failed";
  /** The steps whose values a completed run returns. */
  readonly steps: (data: Data) => readonly string[];
  /** How often each step, or the code between steps (""), fails on its way, where that is known. */
  readonly failures?: (data: Data) => Readonly<Record<string, number>>;
  /** The function that hears of its failures. */
  readonly failureHandler?: string;
  /** Only registered by newer versions of the app. */
  readonly isLate?: boolean;
}

export interface Message {
  readonly name: string;
  readonly data: Data;
  /** The sender's own id, kept for every redelivery; null for senders that have none. */
  readonly id: string | null;
}

export interface Workload {
  readonly functions: readonly FunctionFacts[];
  readonly define: (idem: Idem, kit: Kit, version: number) => void;
  /** What a client sends in one call; the n-th of its world. */
  readonly messages: (random: Random, n: number) => readonly Message[];
  /** What is sent now and then once the world has healed, so that whoever still waits gets an answer. */
  readonly closing?: (n: number) => readonly Message[];
}
