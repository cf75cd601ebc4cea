// Something that is given up after a time, or when its asker has gone. One listener on the asker's signal, taken off again:
// AbortSignal.any leaves one behind for every call on a signal that lives as long as the server.
import type { Platform } from "../platform/platform.ts";

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
