// The platform of a store on a real server: the test's own clock, and the machine's timers. Waiting for a server cannot be hurried.
import { nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";

type StorePlatform = Pick<Platform, "monoMs" | "soon" | "randomBytes" | "timer">;

/** A clock has no random bytes: all its ids are zero, which is enough for one node. */
export function withRealTimers(
  source: Pick<Platform, "monoMs"> & Partial<Pick<Platform, "randomBytes">>,
): StorePlatform {
  return {
    monoMs: () => source.monoMs(),
    soon: (run) => setImmediate(run),
    randomBytes: (count) => source.randomBytes?.(count) ?? new Uint8Array(count),
    timer: nodePlatform.timer,
  };
}
