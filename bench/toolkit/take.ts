// Takes one figure of the toolkit, and makes keys to ask with.
import { keepInFlightFor, shuffled, type Throughput } from "../measure.ts";

export interface Figure extends Throughput {
  /** Microseconds of this process's processor time for one; what asks is part of it. True on a busy machine, too. */
  readonly nodeUs: number;
}

export interface Window {
  readonly warmUpMs: number;
  readonly windowMs: number;
}

export async function take(inFlight: number, window: Window, one: (n: number) => Promise<unknown>): Promise<Figure> {
  let asked = 0;
  const cpu = process.cpuUsage();
  const { perSecond, p50Ms, p99Ms } = await keepInFlightFor(inFlight, window, () => one(asked++));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond, p50Ms, p99Ms, nodeUs: (user + system) / asked };
}

/** Keys that nobody asked for before, in no order. */
export const freshKeys = (name: string): (() => string) => {
  let n = 0;
  return () => `${name}-${shuffled(n++)}`;
};
