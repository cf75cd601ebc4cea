// The meaning of a seed: the way to be behind a key, the database, the points at which the process dies, and who asks meanwhile and afterwards.
import { Chance } from "../chance.ts";
import { type Mode, modes } from "./shop.ts";

export interface CrashPlan {
  readonly seed: number;
  readonly mode: Mode;
  readonly dialect: "sqlite" | "postgres";
  /** One for each life that is killed: how far into its request, from 0 to 1. */
  readonly deaths: readonly number[];
  /** The number of askers with the same key at the same time as the first. */
  readonly duplicates: number;
  /** The one to go on in the end: the client, or for phases a completer. */
  readonly endedBy: "client" | "completer";
}

export function planOf(seed: number): CrashPlan {
  const chance = new Chance(seed, "toolkit");
  // In turn, so that a short campaign has them all.
  const mode = modes[seed % modes.length]!;
  const dialect = Math.floor(seed / modes.length) % 2 === 0 ? "sqlite" : "postgres";
  const deaths = [chance.next()];
  while (deaths.length < 3 && chance.happens(0.35)) deaths.push(chance.next());
  return {
    seed,
    mode,
    dialect,
    deaths,
    duplicates: chance.happens(0.3) ? chance.int(1, 3) : 0,
    endedBy: mode === "phases" && chance.happens(0.5) ? "completer" : "client",
  };
}
