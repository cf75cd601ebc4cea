// The machine with a trap: the n-th visit of one crash point ends the process, in the middle of whatever else it does.
import type { CrashPoint, Platform } from "./engine.ts";

export interface Crash {
  readonly point: CrashPoint;
  readonly visit: number;
}

// Heartbeats and sweeps come every 5 s; at this pace their fifth visit is reached in about a second.
const housekeepingMs = 5_000;
const hurriedMs = 200;

export function trappedPlatform(machine: Platform, crash: Crash | null): Platform {
  let visits = 0;
  return {
    ...machine,
    timer: (ms, run, options) =>
      machine.timer(options?.background && ms === housekeepingMs ? hurriedMs : ms, run, options),
    point: (name) => {
      if (crash === null || name !== crash.point) return;
      if (++visits === crash.visit) process.kill(process.pid, "SIGKILL");
    },
  };
}
