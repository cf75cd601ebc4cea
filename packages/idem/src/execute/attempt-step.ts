// One attempt of one step: a value, a final error, or the time to try again. Keeps what comes back within bounds.
import { errors } from "../model/errors.ts";
import type { Outcome } from "../model/step.ts";
import { serializeError } from "../model/user-errors.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { OpIds, Ran } from "./operation.ts";
import type { RunPorts } from "./ports.ts";
import { type Backoff, nextAttempt } from "./retry.ts";

export interface PassLimits {
  readonly stepsMax: number;
  readonly stepBytesMax: number;
  readonly runBytesMax: number;
}

export type Attempted =
  | { readonly kind: "outcome"; readonly outcome: Outcome; readonly sends: readonly NewEvent[] }
  /** By a commit of its own. */
  | { readonly kind: "recorded" }
  | { readonly kind: "retry"; readonly error: string; readonly retryAt: number };

export interface AttemptOptions {
  readonly attempt: number;
  readonly unreached: number;
  readonly attemptsMax: number;
  readonly backoff: Backoff | null;
}

const noSends: readonly never[] = [];

export function succeeded({ json, sends = noSends, isRecorded }: Ran): Attempted {
  return isRecorded ? { kind: "recorded" } : { kind: "outcome", outcome: { kind: "value", json }, sends };
}

export function failed(
  error: unknown,
  { attempt, unreached, attemptsMax, backoff }: AttemptOptions,
  ports: Pick<RunPorts, "now" | "random">,
): Attempted {
  const failure = { error, attempt, unreached, attemptsMax, now: ports.now(), chance: ports.random() };
  const next = nextAttempt(failure, backoff);
  if (next.kind === "retry") return { kind: "retry", error: serializeError(error), retryAt: next.atMs };
  return { kind: "outcome", outcome: { kind: "error", json: serializeError(error) }, sends: [] };
}

/** The bytes of a value; refuses one that is too large for a step, or the one that makes the run too large. */
export function checkSize(json: string, step: OpIds, run: { id: string; bytes: number }, limits: PassLimits): number {
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.stepBytesMax) {
    throw errors.STEP_TOO_LARGE({ step: step.name, bytes, max: limits.stepBytesMax });
  }
  if (run.bytes + bytes > limits.runBytesMax) {
    throw errors.RUN_TOO_LARGE({ runId: run.id, bytes: run.bytes + bytes, max: limits.runBytesMax });
  }
  return bytes;
}
