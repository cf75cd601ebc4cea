// The real machine.
import { randomFillSync } from "node:crypto";
import { hostname } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { readBounded } from "./bounded-body.ts";
import { nodeLocalSockets } from "./node-local-sockets.ts";
import { steadyMs } from "./node-thread.ts";
import { registeredTelemetry } from "./open-telemetry.ts";
import { builtFile } from "./package-files.ts";
import type { Platform, Thread, Timer } from "./platform.ts";

// Fine enough for a pause a person would notice; a sample every 20 ms costs nothing that shows.
const loopResolutionMs = 20;

// Node fires timers above 2^31-1 ms after 1 ms, with a warning; longer ones are made of pieces.
const timerMsMax = 2 ** 30;

/** A timer of a world that is played knows work from housekeeping, which nobody waits for. */
type WorldTimer = NodeJS.Timeout & { inBackground?(): void };

function startTimer(ms: number, run: () => void, options?: { readonly background: boolean }): Timer {
  let handle: WorldTimer;
  const startedAt = performance.now();
  const arm = () => {
    const leftMs = ms - (performance.now() - startedAt);
    handle = leftMs > timerMsMax ? setTimeout(arm, timerMsMax) : setTimeout(run, Math.max(0, Math.ceil(leftMs)));
    if (options?.background === true) handle.inBackground?.();
  };
  arm();
  return { cancel: () => clearTimeout(handle) };
}

/** Features of Node that a thread needs and that are off by default. */
const threadFlags: Readonly<Record<string, readonly string[]>> = {
  "verify/worker/thread": ["--experimental-vm-modules"],
};

/**
 * How many MB a thread has for what was just made. V8 lets it grow to 48, two halves and what they are copied to, and never gives it back. What the store's thread
 * makes of a batch is gone with the batch (docs/performance.md#what-sleeping-runs-hold).
 */
const youngMb: Readonly<Record<string, number>> = {
  "store/sqlite/thread.cjs": 12,
  "store/sqlite/read-thread.cjs": 12,
};

/** Null where none are needed, or the process has arguments that a thread cannot be given by name: it can do without. */
function withFlags(file: string, options: WorkerOptions): Worker | null {
  const flags = threadFlags[file];
  if (flags === undefined) return null;
  try {
    return new Worker(builtFile(file), {
      ...options,
      execArgv: [...(options.execArgv ?? process.execArgv), ...flags],
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_WORKER_INVALID_EXEC_ARGV") return null;
    throw error;
  }
}

function startWorker(file: string, input: unknown): Thread {
  // A process that was given its code as text says what kind it is; a thread has a file, and refuses to start with it. A thread that is given
  // arguments by name refuses those of V8 too (--max-old-space-size), which one that inherits them does not.
  const isText = process.execArgv.some((argument) => argument.startsWith("--input-type"));
  const options: WorkerOptions = { workerData: input, stdout: false, stderr: false };
  if (isText) options.execArgv = [];
  const young = youngMb[file];
  if (young !== undefined) options.resourceLimits = { maxYoungGenerationSizeMb: young };
  const worker = withFlags(file, options) ?? new Worker(builtFile(file), options);
  let failure: Error | null = null;
  worker.on("error", (error) => {
    failure = error as Error;
  });
  return {
    post: (message) => worker.postMessage(message),
    onMessage: (take) => {
      worker.on("message", take);
    },
    onEnd: (take) => {
      worker.on("exit", () => take(failure));
    },
    terminate: async () => {
      await worker.terminate();
    },
    ref: (keepAlive) => (keepAlive ? worker.ref() : worker.unref()),
  };
}

export const nodePlatform: Platform = {
  wallMs: () => Date.now(),
  monoMs: steadyMs,
  randomBytes: (count) => randomFillSync(new Uint8Array(count)),
  timer: startTimer,
  soon: (run) => {
    setImmediate(run);
  },
  fetch: async (request) => {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: request.signal,
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await readBounded(response, request.bodyBytesMax),
    };
  },
  startThread: startWorker,
  local: nodeLocalSockets,
  openTelemetry: registeredTelemetry,
  watchLoop: () => {
    const histogram = monitorEventLoopDelay({ resolution: loopResolutionMs });
    histogram.enable();
    // The measure is the time between two samples; a loop that is never late shows the resolution itself.
    const lateMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - loopResolutionMs);
    return {
      read: () => {
        const read =
          histogram.count === 0
            ? { p50Ms: 0, p99Ms: 0, maxMs: 0 }
            : {
                p50Ms: lateMs(histogram.percentile(50)),
                p99Ms: lateMs(histogram.percentile(99)),
                maxMs: lateMs(histogram.max),
              };
        histogram.reset();
        return read;
      },
      stop: () => histogram.disable(),
    };
  },
  point: () => {},
};

/** This process's name to others. */
export const processName = (): string => `process ${process.pid} on ${hostname()}`;

/** The audit's name for people who give commands on this machine. */
export const cliName = (): string => `cli on ${hostname()}`;

/** Values a client may take from its surroundings when the caller gave none. */
export const environmentVariable = (name: string): string | undefined => process.env[name];
