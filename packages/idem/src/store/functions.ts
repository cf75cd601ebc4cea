// Inputs and answers of register and pause.
import type { Audited } from "./audit.ts";

export interface RegisteredFunction {
  /** `<app>-<id>`: unique in the environment, and what others name it by. */
  readonly fn: string;
  readonly app: string;
  readonly id: string;
  /** JSON text the engine gave; the store never reads it. */
  readonly config: string;
  readonly pausedAt: number | null;
  /** Its temporary limits, those that have ended too: JSON text of `flow/concurrency/temporary.ts`; null for none. */
  readonly limits: string | null;
}

export interface PauseInput extends Audited {
  readonly env: string;
  readonly fn: string;
  /** False lets it start runs again. */
  readonly paused: boolean;
  /** Why, for the audit; "" when nobody said. */
  readonly reason: string;
}

export type PauseAnswer =
  | {
      readonly kind: "set";
      readonly registration: number;
      /** Since when it is paused; null once it is not. */
      readonly pausedAt: number | null;
      readonly changed: boolean;
    }
  | { readonly kind: "unknown" };

export interface RegisterInput {
  readonly env: string;
  readonly app: string;
  readonly functions: readonly {
    readonly fn: string;
    readonly id: string;
    readonly config: string;
    /** Its schedules. One that is new here begins now; one that is no longer named is forgotten. */
    readonly crons: readonly string[];
  }[];
}

export type RegisterAnswer =
  | { readonly kind: "registered"; readonly registration: number; readonly changed: boolean }
  /** Another app of this environment has a function of that name. */
  | { readonly kind: "taken"; readonly fn: string; readonly app: string };
