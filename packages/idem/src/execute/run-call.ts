// The facts of a run when its code is called, wherever that is.
import type { DestinationOf } from "../dedup/destination-key.ts";
import type { Pass } from "./pass.ts";
import type { RunPorts } from "./ports.ts";

export interface RunCall {
  readonly pass: Pass;
  readonly ports: RunPorts;
  readonly destination: DestinationOf;
  readonly limits: { readonly invokeTimeoutMs: number; readonly fetchBytesMax: number; readonly stepBytesMax: number };
  readonly runId: string;
  /** The run's own event, as user code sees it. */
  readonly event: Record<string, unknown>;
  /** All it carries, `event` first. */
  readonly events: readonly Record<string, unknown>[];
  /** Arguments that a person put in place of a step's own: JSON lists by step id. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Of the code between steps, counted from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
}
