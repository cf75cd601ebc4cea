// A call of a store that must come back: within a deadline, or the caller goes on without it.
import type { Platform } from "../platform/platform.ts";

export type Called<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  /** It may still come; the caller that gave up undoes it then. */
  | { readonly kind: "late"; readonly pending: Promise<T> };

export function callWithin<T>(
  platform: Pick<Platform, "timer">,
  ms: number,
  call: () => Promise<T>,
): Promise<Called<T>> {
  return new Promise((resolve) => {
    const pending = Promise.resolve().then(call);
    const timer = platform.timer(ms, () => resolve({ kind: "late", pending }));
    pending.then(
      (value) => {
        timer.cancel();
        resolve({ kind: "answer", value });
      },
      (error: unknown) => {
        timer.cancel();
        resolve({ kind: "failed", error });
      },
    );
  });
}

export const pause = (platform: Pick<Platform, "timer">, ms: number): Promise<void> =>
  new Promise((resolve) => {
    platform.timer(ms, resolve);
  });
