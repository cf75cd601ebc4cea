// Which faults a world has and how often, drawn from its seed. Each seed has its own mix (a swarm), some have none at all.
import type { Random } from "./random.ts";

export const faultNames = [
  "delay",
  "fail-before",
  "lost-reply",
  "duplicate",
  "crash-point",
  "kill",
  "freeze",
  "restart",
  "node-clock",
  "store-clock-back",
  "store-clock-ahead",
  "deploy",
] as const;
export type FaultName = (typeof faultNames)[number];

export interface Faults {
  /** Zero for a fault that is off. Per call or per crash point where it strikes one, per minute and node otherwise. */
  readonly rates: Readonly<Record<FaultName, number>>;
  readonly delayMaxMs: number;
  readonly freezeMaxMs: number;
}

const rates: Record<FaultName, readonly number[]> = {
  delay: [0.02, 0.1, 0.3],
  "fail-before": [0.005, 0.02, 0.08],
  "lost-reply": [0.005, 0.02, 0.08],
  duplicate: [0.01, 0.05, 0.2],
  "crash-point": [0.001, 0.004, 0.02],
  kill: [0.5, 2, 5],
  freeze: [0.5, 2],
  restart: [0.5, 2],
  "node-clock": [1, 5],
  "store-clock-back": [1],
  "store-clock-ahead": [1],
  deploy: [0.5, 2],
};

// A world with every fault at once rarely gets far enough for the subtle ones.
const onChance: Partial<Record<FaultName, number>> = { "store-clock-back": 0.15, "store-clock-ahead": 0.15 };

export function drawFaults(random: Random, off: ReadonlySet<string>): Faults {
  const none = random.chance(0.08);
  const drawn = faultNames.map((name) => {
    const on = random.chance(onChance[name] ?? 0.45);
    const rate = random.pick(rates[name]);
    return [name, none || !on || off.has(name) ? 0 : rate] as const;
  });
  return {
    rates: Object.fromEntries(drawn) as Record<FaultName, number>,
    delayMaxMs: random.pick([20, 300, 3_000]),
    freezeMaxMs: random.pick([3_000, 30_000, 60_000]),
  };
}
