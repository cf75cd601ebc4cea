// A fact must not be lost because the store is busy or its answer got lost: wait and offer it again. Every write may be called
// twice, so what was stored after all is recognised; running the code that led to it again would not be.
import { IdemError } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";

const delayMsMax = 1_000;

/** Goes on until the store answers, or the answer is no longer needed. */
export function persist<T>(
  platform: Pick<Platform, "timer">,
  write: () => Promise<T>,
  isNeeded: () => boolean,
): Promise<T> {
  return write().catch((error) => persistAfter(error, platform, write, isNeeded));
}

/** The same, once it failed. */
export async function persistAfter<T>(
  first: unknown,
  platform: Pick<Platform, "timer">,
  write: () => Promise<T>,
  isNeeded: () => boolean,
): Promise<T> {
  let error = first;
  for (let delayMs = 10; ; delayMs = Math.min(delayMs * 2, delayMsMax)) {
    const mayHelp = error instanceof IdemError && error.retry === "later";
    if (!mayHelp || !isNeeded()) throw error;
    await new Promise<void>((resolve) => platform.timer(delayMs, resolve));
    try {
      return await write();
    } catch (again) {
      error = again;
    }
  }
}
