// Waits for something that may never end, for as long as it is worth it.
import type { Platform, Timer } from "./platform.ts";

/** Whether it ended in time; an end in failure is an end. It goes on by itself; what becomes of it then is nobody's. */
export async function waitAtMost(
  platform: Pick<Platform, "timer">,
  ms: number,
  done: Promise<unknown>,
): Promise<boolean> {
  let timer: Timer | null = null;
  const late = new Promise<false>((resolve) => {
    timer = platform.timer(ms, () => resolve(false));
  });
  const ended = done.then(
    () => true,
    () => true,
  );
  const isEnded = await Promise.race([ended, late]);
  (timer as Timer | null)?.cancel();
  return isEnded;
}

/**
 * Given up after a time, or when its asker has gone. One listener on the asker's signal, taken off again: AbortSignal.any leaves one behind
 * for every call on a signal that lives as long as the server.
 */
export async function withinTime<T>(
  platform: Pick<Platform, "timer">,
  ms: number,
  asker: AbortSignal | null,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const given = new AbortController();
  const leave = () => given.abort(asker?.reason);
  if (asker?.aborted === true) leave();
  asker?.addEventListener("abort", leave, { once: true });
  const timer = platform.timer(ms, () => given.abort(new Error("it did not answer in time")));
  try {
    return await run(given.signal).catch((error) => {
      throw given.signal.aborted ? given.signal.reason : error;
    });
  } finally {
    timer.cancel();
    asker?.removeEventListener("abort", leave);
  }
}
