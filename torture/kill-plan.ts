// When lives end. A sweep kills at exact instants, chance at all others; sometimes the next life dies before it has recovered.
import { Chance } from "./chance.ts";
import type { Crash } from "./crash-point.ts";
import { crashPoints } from "./engine.ts";

export type Kill =
  /** By itself, at the n-th visit of a crash point. */
  | { readonly at: "point"; readonly crash: Crash }
  /** So long after the engine was started. */
  | { readonly at: "any-time"; readonly ms: number }
  /** So long after the process was started, when it is likely to be recovering. */
  | { readonly at: "recovery"; readonly ms: number };

export interface PlanOptions {
  readonly seed: number;
  /** Each crash point is killed at its visits 1…n; 0 for no sweep. */
  readonly visitsMax: number;
  readonly randomKills: number;
  /** Mean gaps of random kills are drawn from this range. */
  readonly meanMs: readonly [number, number];
}

// From the first instruction to the first step of a life that has something to recover.
const recoveryMs = 450;

export function planKills({ seed, visitsMax, randomKills, meanMs }: PlanOptions): Kill[] {
  const chance = new Chance(seed, "kills");
  const sweep = crashPoints.flatMap((point) =>
    Array.from({ length: visitsMax }, (_, i): Kill => ({ at: "point", crash: { point, visit: i + 1 } })),
  );
  const [from, to] = meanMs;
  const random = Array.from({ length: randomKills }, (): Kill => {
    if (chance.happens(0.25)) return { at: "recovery", ms: chance.int(30, recoveryMs) };
    return { at: "any-time", ms: Math.min(chance.exponential(from + chance.next() * (to - from)), to * 3) };
  });
  return chance.shuffled([...sweep, ...random]);
}

export const describeKill = (kill: Kill): string =>
  kill.at === "point" ? `${kill.crash.point} ${kill.crash.visit}` : `${kill.at} ${Math.round(kill.ms)} ms`;
