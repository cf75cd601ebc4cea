// An outcome is kept, or forgotten so that a retry executes. The whole table, and nothing else.
//
//   2xx, 3xx                                  store, always
//   400, 402, 404, 410, 422, other 4xx        store: the same request would get the same answer
//   401, 403, 408, 409, 423, 425, 429         release: another time it may get another one
//   5xx or thrown, before any effect          release
//   5xx or thrown, after                      store; a route may leave it to go on, or park it, but never release it
import type { RouteOptions, Verdict } from "./begin.ts";

export interface Outcome {
  readonly status: number;
  readonly attempt: number;
  /** A broken stream and a thrown error are failures whatever their status is. */
  readonly isFailure: boolean;
  /** Pessimistic: true from a handler's first line, and false only where the author vouched for the part that failed. */
  readonly hasEffects: boolean;
}

export interface Judged {
  readonly verdict: Verdict;
  /** The route asked to release what may have been done already. */
  readonly isRefused: boolean;
}

const passing = new Set([401, 403, 408, 409, 423, 425, 429]);

export function verdictOf(outcome: Outcome, store: RouteOptions["store"] | null): Judged {
  const { status, attempt } = outcome;
  const isFailure = outcome.isFailure || status >= 500;
  if (!isFailure && status < 400) return { verdict: "store", isRefused: false };
  const asked = store?.({ status, attempt });
  if (!isFailure) return { verdict: asked ?? (passing.has(status) ? "release" : "store"), isRefused: false };
  if (!outcome.hasEffects) return { verdict: asked ?? "release", isRefused: false };
  // Released after an effect, the retry repeats it: the double charge.
  if (asked === "release") return { verdict: "store", isRefused: true };
  return { verdict: asked ?? "store", isRefused: false };
}
