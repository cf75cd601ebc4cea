// A step's own time limit. The body cannot be torn out: its signal aborts, and what it still comes back with is dropped.
//
//   body ─┬─ ends in time ──────────────────────────────────────────────────────▶ its outcome
//         └─ its time is over: signal aborts ─┬─ body ends, however ────────────▶ STEP_TIMED_OUT
//                                             └─ it does not, and grace is over ▶ STEP_TIMED_OUT, the body left to itself
//
// The attempt is not over before its body: the next one, here or on another node, would do the same beside it. A body that hangs for
// good must not hold its run for good either, hence the grace.
import { errors } from "../model/errors.ts";
import type { RunPorts } from "./ports.ts";

// A body that heeds its signal needs none of it. Most of those that do not are requests, and their own timeouts are shorter.
const graceMs = 30_000;

/** "never": a body that works with something taken away at the end of the attempt, a transaction say, is waited for however long. */
type Leave = "after-grace" | "never";

export interface StepLimit {
  /** Aborts when the time is over, and when the run is cancelled or lost. */
  readonly signal: () => AbortSignal;
  /** To be awaited: without a limit it gives back what the body does. */
  readonly within: <T>(body: () => T | Promise<T>, leave?: Leave) => T | Promise<T>;
}

/** Whether what a body gave back is to be waited for. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === "function";

export interface LimitedPass {
  readonly signal: AbortSignal;
  readonly closed: Promise<unknown>;
}

export function noLimit(pass: LimitedPass): StepLimit {
  return { signal: () => pass.signal, within: (body) => body() };
}

export function stepLimit(step: string, limitMs: number, pass: LimitedPass, ports: Pick<RunPorts, "timer">): StepLimit {
  const own = new AbortController();
  let both: AbortSignal | null = null;
  return {
    signal: () => {
      both ??= AbortSignal.any([own.signal, pass.signal]);
      return both;
    },
    within: (body, leave = "after-grace") =>
      new Promise((resolve, reject) => {
        let late: Error | null = null;
        let running = ports.timer(limitMs, () => {
          late = errors.STEP_TIMED_OUT({ step, afterMs: limitMs });
          own.abort(late);
          if (leave === "after-grace") running = ports.timer(graceMs, () => reject(late));
        });
        const over = (settle: () => void) => {
          running.cancel();
          settle();
        };
        void pass.closed.then(() => running.cancel());
        void (async () => body())().then(
          (value) => over(() => (late === null ? resolve(value) : reject(late))),
          (error) => over(() => reject(late ?? error)),
        );
      }),
  };
}
