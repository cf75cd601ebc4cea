// The threads in which a test's worlds are played: opened with the first, kept warm for those after it, and no reason for the process not to end.
import { programThreads } from "../cli/load-program.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import type { PlayingThreads } from "../verify/playing-threads.ts";

// A runner has other tests to run beside.
const threadsMax = 1;

let threads: PlayingThreads | null = null;
let asking = 0;

export async function withThreads<T>(body: (threads: PlayingThreads) => Promise<T>): Promise<T> {
  threads ??= programThreads({ io: { platform: nodePlatform } }, threadsMax);
  asking++;
  threads.keepAlive(true);
  try {
    return await body(threads);
  } finally {
    asking--;
    if (asking === 0) threads.keepAlive(false);
  }
}
