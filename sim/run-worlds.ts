// Many worlds over several processes: a world is single-threaded, so cores are the only way to more of them.
import { fork } from "node:child_process";
import { join } from "node:path";
import { Counters } from "./counters.ts";
import { root } from "./engine.ts";
import type { WorldOptions } from "./plan.ts";
import type { WorldResult } from "./run-world.ts";

// A simulation takes about 120 ms. The bound is for one that never ends, on a machine however busy.
const worldSecondsMax = 180;

// A world is thousands of short-lived promises; with the default their collection is a fifth of its time. Processes share the cores, so
// threads that help collecting only take them from others: an eighth.
const roomForTheYoung = ["--max-semi-space-size=128", "--min-semi-space-size=128", "--single-threaded-gc"];

export const builtSimulator = join(root, "sim", "dist");

export interface WorldsOptions {
  readonly from: number;
  readonly worlds: number;
  readonly jobs: number;
  readonly engine: string;
  /** Another build of the simulator than this one. */
  readonly simulator?: string;
  /** Go on after a failure, to see how many seeds fail. */
  readonly keepGoing: boolean;
  readonly seeds?: readonly number[];
  /** Settings in which the world of a seed differs from what the seed says; by its place among the seeds. */
  readonly settings?: (place: number) => Omit<WorldOptions, "seed">;
  /** Then no other world begins. */
  readonly isTimeUp?: () => boolean;
  readonly onProgress?: (count: number, failed: number) => void;
  readonly onFailure?: (failure: WorldsResult["failures"][number]) => void;
}

export interface WorldsResult {
  readonly worlds: number;
  readonly failures: readonly Pick<WorldResult, "seed" | "violations" | "about">[];
  readonly counts: Readonly<Record<string, number>>;
  readonly simulatedMs: number;
}

export interface ToWorker extends Omit<WorldOptions, "off"> {
  readonly engine: string;
  readonly off: readonly string[];
}
export type FromWorker = Pick<WorldResult, "seed" | "violations" | "about" | "counts" | "simulatedMs">;

export async function runWorlds(options: WorldsOptions): Promise<WorldsResult> {
  const seeds = options.seeds ?? Array.from({ length: options.worlds }, (_, i) => options.from + i);
  const counters = new Counters();
  const failures: WorldsResult["failures"][number][] = [];
  let next = 0;
  let worlds = 0;
  let simulatedMs = 0;
  const isOver = () =>
    next >= seeds.length || (failures.length > 0 && !options.keepGoing) || options.isTimeUp?.() === true;

  const take = (result: WorldsResult["failures"][number]) => {
    worlds++;
    if (result.violations.length > 0) {
      failures.push(result);
      options.onFailure?.(result);
    }
    options.onProgress?.(worlds, failures.length);
  };

  /** One process until there is nothing left to do, or until a world in it hangs. */
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(join(options.simulator ?? builtSimulator, "worker.js"), {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
        execArgv: roomForTheYoung,
      });
      let watch: NodeJS.Timeout | undefined;
      let hangs = false;
      const give = () => {
        clearTimeout(watch);
        if (isOver()) {
          child.disconnect();
          return;
        }
        const { off = [], ...settings } = options.settings?.(next) ?? {};
        const seed = seeds[next++]!;
        child.send({ ...settings, engine: options.engine, seed, off: [...off] } satisfies ToWorker);
        watch = setTimeout(() => {
          hangs = true;
          const detail = `it did not end within ${worldSecondsMax} s`;
          take({ seed, about: "", violations: [{ check: "a world comes to its end", detail }] });
          child.kill("SIGKILL");
        }, worldSecondsMax * 1_000);
      };
      child.on("message", ({ counts, simulatedMs: lived, ...result }: FromWorker) => {
        simulatedMs += lived;
        counters.merge(counts);
        take(result);
        give();
      });
      child.on("error", reject);
      child.on("exit", (code, signal) => {
        clearTimeout(watch);
        if (hangs) resolve(isOver() ? undefined : one());
        else if (code === 0) resolve();
        else reject(new Error(`a simulating process ended with ${code ?? signal}`));
      });
      give();
    });
  await Promise.all(Array.from({ length: Math.min(options.jobs, seeds.length) }, one));
  failures.sort((a, b) => a.seed - b.seed);
  return { worlds, failures, counts: counters.counts, simulatedMs };
}
