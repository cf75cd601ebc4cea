// Messages between the torturer and a node.
import type { MadeCall } from "./make-call.ts";

/** The length of leases and the pace of looking after them; shorter than in service where a test has no time to wait. */
export interface LeasePace {
  readonly leaseTermSharedMs: number;
  readonly heartbeatMs: number;
  readonly sweepMs: number;
}

export interface NodeLife {
  readonly folder: string;
  readonly engine: string;
  readonly seed: number;
  /** Also its name as a speaker at the ledger. */
  readonly node: string;
  readonly life: number;
  readonly store: string;
  readonly pace: LeasePace;
  /** It is not started: it sweeps, and is idle between. */
  readonly sweeps: boolean;
}

export type ToNode =
  | { readonly kind: "call"; readonly call: number }
  | { readonly kind: "watch"; readonly runId: string; readonly call: number; readonly index: number }
  /** Nothing new comes: pause the schedule, see every open run to its end. */
  | { readonly kind: "finish" }
  | { readonly kind: "stop" };

export type FromNode =
  | { readonly kind: "started" }
  | ({ readonly kind: "answered"; readonly call: number } & MadeCall)
  /** The store could not be reached for long; nobody knows whether the call was stored. */
  | { readonly kind: "failed"; readonly call: number }
  | { readonly kind: "ended"; readonly runId: string }
  | { readonly kind: "finished" }
  /** So many runs are in the middle of work that takes its time and has no limits. */
  | { readonly kind: "working"; readonly count: number }
  /** The engine said that the store cannot be reached, as it should while it cannot. */
  | { readonly kind: "away" }
  /** The engine said anything else. */
  | { readonly kind: "complains"; readonly text: string };
