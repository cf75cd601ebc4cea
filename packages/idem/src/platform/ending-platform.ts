// The same machine for something that ends: what it still waits for when it is over is not waited for, or a process that has nothing left
// to do would live on until then. A pending timer keeps a process alive.
import type { Platform, Timer } from "./platform.ts";

export interface EndingPlatform {
  readonly platform: Platform;
  /** Cancels every timer that is left; those that are set from now on never ring. */
  end(): void;
}

export function endingPlatform(of: Platform): EndingPlatform {
  const pending = new Set<Timer>();
  let isOver = false;
  const timer: Platform["timer"] = (ms, run, options) => {
    if (isOver) return { cancel() {} };
    const rings = () => {
      pending.delete(timer);
      run();
    };
    const set = of.timer(ms, rings, options);
    const timer: Timer = {
      cancel: () => {
        pending.delete(timer);
        set.cancel();
      },
    };
    pending.add(timer);
    return timer;
  };
  // Called on the machine itself: one that counts, or draws its chance from a seed, must not be two.
  const platform: Platform = {
    wallMs: () => of.wallMs(),
    monoMs: () => of.monoMs(),
    randomBytes: (count) => of.randomBytes(count),
    timer,
    soon: (run) => of.soon(run),
    fetch: (request) => of.fetch(request),
    startThread: (file, input) => of.startThread(file, input),
    point: (name) => of.point(name),
    ...(of.local === undefined ? {} : { local: of.local }),
    ...(of.openTelemetry === undefined ? {} : { openTelemetry: () => of.openTelemetry!() }),
    ...(of.watchLoop === undefined ? {} : { watchLoop: () => of.watchLoop!() }),
  };
  return {
    platform,
    end: () => {
      isOver = true;
      for (const each of pending) each.cancel();
    },
  };
}
