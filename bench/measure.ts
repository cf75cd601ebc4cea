// Takes figures: a fixed number of runs kept in flight until a total is reached, timed from send to result.
import { monitorEventLoopDelay } from "node:perf_hooks";

export interface Throughput {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs `one` `total` times, `inFlight` of them at a time. */
export async function keepInFlight(
  inFlight: number,
  total: number,
  one: (n: number) => Promise<unknown>,
): Promise<Throughput> {
  const latencies = new Float64Array(total);
  let next = 0;
  const lane = async () => {
    while (next < total) {
      const n = next++;
      const startedAt = performance.now();
      await one(n);
      latencies[n] = performance.now() - startedAt;
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: Math.min(inFlight, total) }, lane));
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort();
  return { perSecond: total / seconds, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}

/**
 * Keeps `inFlight` runs going for a time and counts those that end after the warm-up. For engines whose speeds differ by orders of
 * magnitude: each is given the same time, not the same count, and neither its start nor its last runs weigh on it.
 */
export async function keepInFlightFor(
  inFlight: number,
  { warmUpMs, windowMs }: { readonly warmUpMs: number; readonly windowMs: number },
  one: () => Promise<unknown>,
): Promise<Throughput & { readonly runs: number }> {
  const latencies: number[] = [];
  const opensAt = performance.now() + warmUpMs;
  const closesAt = opensAt + windowMs;
  const lane = async () => {
    for (;;) {
      const startedAt = performance.now();
      if (startedAt >= closesAt) return;
      await one();
      const endedAt = performance.now();
      if (endedAt >= opensAt && endedAt < closesAt) latencies.push(endedAt - startedAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const sorted = Float64Array.from(latencies).sort();
  return {
    runs: sorted.length,
    perSecond: (sorted.length / windowMs) * 1_000,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
  };
}

export const quantile = (sorted: Float64Array, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;

/** The delay of this process's own timers while the body ran. */
export async function withLoopDelay<T>(
  body: () => Promise<T>,
): Promise<{ readonly result: T; readonly loop: { readonly p99Ms: number; readonly maxMs: number } }> {
  const resolution = 5;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const result = await body();
  delay.disable();
  // The histogram counts from its own resolution on; what lies above it is delay.
  const lateMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution);
  return { result, loop: { p99Ms: lateMs(delay.percentile(99)), maxMs: lateMs(delay.max) } };
}

/** Keys as they come in life, in no order: a counter would let every B-tree grow at its edge and hide what a key costs. */
export const shuffled = (n: number): number => Math.imul(n, 0x9e3779b1) >>> 0;
