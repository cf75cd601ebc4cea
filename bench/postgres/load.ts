// A child of bench/postgres.ts, whichever engine it is: told how much to keep in flight, it says when the window opens and closes, and
// then what it counted. In a process of its own, so that no engine inherits another's heap, and stopped in order, because a session
// of PostgreSQL hands in its counters when it ends.
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { keepInFlight, keepInFlightFor, shuffled, type Throughput } from "../measure.ts";

export interface Window {
  readonly inFlight: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

/** So many in flight for a time, or until so many runs have ended. */
export type Load = Window | { readonly inFlight: number; readonly total: number };

export interface LoadFigures extends Throughput {
  /** Inside the window. */
  readonly runs: number;
  /** With the warm-up: what the server's counters speak of. */
  readonly allRuns: number;
  /** Microseconds of processor time per run, inside the window. */
  readonly nodeUs: number;
  /** Share of the window in which the event loop was not waiting. */
  readonly loopBusy: number;
}

export type Said =
  | { readonly kind: "ready"; readonly versions: string }
  | { readonly kind: "opens" | "closes" }
  | { readonly kind: "figures"; readonly figures: LoadFigures };

export type Asked = { readonly kind: "load"; readonly load: Load } | { readonly kind: "stop" };

interface Engine {
  readonly versions: string;
  /** Starts run number `n`, waits for its result and returns it. Its payload is `{ n: shuffled(n) }`. */
  readonly oneRun: (n: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Runs are numbered from `first` on: processes over one database must not have keys in common. */
export async function serveLoad({ versions, oneRun, close }: Engine, first: number): Promise<never> {
  let runs = 0;
  const one = async () => {
    const n = first + runs++;
    const output = (await oneRun(n)) as { n: number; c: number };
    if (output.n !== shuffled(n) || output.c !== 3) throw new Error(`run ${n} gave ${JSON.stringify(output)}`);
  };
  // Without a parent nobody would end this.
  process.once("disconnect", () => process.exit(1));
  say({ kind: "ready", versions });
  for (;;) {
    const [asked] = (await once(process, "message")) as [Asked];
    if (asked.kind === "stop") break;
    const before = runs;
    const figures = await take(asked.load, one);
    say({ kind: "figures", figures: { ...figures, allRuns: runs - before } });
  }
  await close();
  process.exit(0);
}

async function take(load: Load, one: () => Promise<unknown>): Promise<Omit<LoadFigures, "allRuns">> {
  if ("total" in load) {
    const taken = await keepInFlight(load.inFlight, load.total, one);
    return { ...taken, runs: load.total, nodeUs: Number.NaN, loopBusy: Number.NaN };
  }
  const spent = watchWindow(load);
  const taken = await keepInFlightFor(load.inFlight, load, one);
  const { us, loopBusy } = await spent;
  return { ...taken, nodeUs: us / taken.runs, loopBusy };
}

async function watchWindow({
  warmUpMs,
  windowMs,
}: Window): Promise<{ readonly us: number; readonly loopBusy: number }> {
  await after(warmUpMs);
  const [cpu, loop] = [process.cpuUsage(), performance.eventLoopUtilization()];
  say({ kind: "opens" });
  await after(windowMs);
  say({ kind: "closes" });
  const { user, system } = process.cpuUsage(cpu);
  return { us: user + system, loopBusy: performance.eventLoopUtilization(loop).utilization };
}

function say(said: Said): void {
  process.send!(said);
}
