// biome-ignore-all lint/suspicious/noTsIgnore: it is meant for the declarations, where there is an error only without `pg`.
import type { EndState } from "../model/run.ts";
// A step whose writes and memo are one transaction of the engine's database: exactly once, not at least once.
import type { Outcome } from "../model/step.ts";
import type { NewStep } from "./advance.ts";

/**
 * The client of `pg` that the body of `step.transaction` works with, inside a transaction that is not its own to end. A program without
 * `pg` needs no types of it either:
 * @ts-ignore */
export type TransactionClient = import("pg").ClientBase;

/** The lease under which the step runs. */
export interface TransactInput {
  readonly env: string;
  readonly worker: string;
  readonly runId: string;
  readonly jobId: string;
  readonly fence: number;
}

export type Transacted =
  /** The outcome that counts and its place among the run's others. It is an earlier one if the step had one: then what the body wrote is undone. */
  | { readonly kind: "recorded"; readonly outcome: Outcome; readonly stamp: number }
  /** Somebody else has the run. What the body wrote is undone. */
  | { readonly kind: "fenced" }
  /** The run has ended. What the body wrote is undone. */
  | { readonly kind: "ended"; readonly state: EndState };

export interface StoreTransactions {
  /**
   * Runs the body in a transaction and records the step it answers with, in one commit. Promise: what the body wrote is there exactly
   * if the step is recorded, and only by the holder of the fence. Whatever is thrown, by the body or here, nothing was written.
   * Repeat: the body runs again, and is undone where the first time was committed after all.
   */
  run(input: TransactInput, body: (tx: TransactionClient) => Promise<NewStep>): Promise<Transacted>;
}
