// A world's faults and how often they come, drawn from its seed. Each seed has its own mix (a swarm), some have none at all.
import type { Random } from "./random.ts";

const plainFaultNames = [
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

/** Faults that other programs and the disk cause in a file that one process owns; drawn from a stream of its own (plan.ts). */
const fileFaultNames = ["busy-or-full"] as const;

/** Faults of a PostgreSQL server and the connections to it, met by a transaction (postgres/). */
const postgresFaultNames = [
  "lock-wait",
  "serialization-failure",
  "deadlock",
  "cut-before-commit",
  "cut-after-commit",
  "silent-connection",
  "backend-terminated",
  "server-crash",
  "hint-trouble",
  "blocked-loop",
  "blocked-start",
] as const;

/** From streams of their own: what was drawn before there were such faults stays as it was. */
const laterFaults: ReadonlySet<string> = new Set(["blocked-loop", "blocked-start"]);

export const faultNames = [...plainFaultNames, ...fileFaultNames, ...postgresFaultNames];
export type FaultName = (typeof faultNames)[number];

export interface Faults {
  /**
   * Zero for a fault that is off. Per call or per crash point where it strikes one, per process where it strikes its first step, per minute and
   * node otherwise.
   */
  readonly rates: Readonly<Record<FaultName, number>>;
  readonly delayMaxMs: number;
  readonly freezeMaxMs: number;
  /** The longest the store refuses every write. */
  readonly refusalMaxMs: number;
  readonly lockWaitMaxMs: number;
  /** The share of transactions that send COMMIT only once their statements are answered. Where nothing goes wrong it makes no difference. */
  readonly interactiveShare: number;
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
  "busy-or-full": [2, 6],
  "lock-wait": [0.02, 0.1, 0.3],
  "serialization-failure": [0.01, 0.05, 0.2],
  deadlock: [0.005, 0.02],
  "cut-before-commit": [0.005, 0.02, 0.1],
  "cut-after-commit": [0.005, 0.02, 0.1],
  "silent-connection": [0.002, 0.01],
  "backend-terminated": [2, 10],
  "server-crash": [1, 3],
  "hint-trouble": [0.1, 0.5, 1],
  "blocked-loop": [1, 3],
  "blocked-start": [0.3, 1],
};

// A world with every fault at once rarely gets far enough for the subtle ones.
const onChance: Partial<Record<FaultName, number>> = { "store-clock-back": 0.15, "store-clock-ahead": 0.15 };

const noFileFaults = Object.fromEntries(fileFaultNames.map((name) => [name, 0])) as Record<
  (typeof fileFaultNames)[number],
  number
>;

/** For worlds without a server. */
const noPostgresFaults = Object.fromEntries(postgresFaultNames.map((name) => [name, 0])) as Record<
  (typeof postgresFaultNames)[number],
  number
>;

export function drawFaults(random: Random, off: ReadonlySet<string>): Faults {
  const none = random.chance(0.08);
  const drawn = plainFaultNames.map((name) => {
    const on = random.chance(onChance[name] ?? 0.45);
    const rate = random.pick(rates[name]);
    return [name, none || !on || off.has(name) ? 0 : rate] as const;
  });
  return {
    rates: { ...(Object.fromEntries(drawn) as Record<FaultName, number>), ...noFileFaults, ...noPostgresFaults },
    delayMaxMs: random.pick([20, 300, 3_000]),
    freezeMaxMs: random.pick([3_000, 30_000, 60_000]),
    refusalMaxMs: 0,
    lockWaitMaxMs: 0,
    interactiveShare: 0,
  };
}

/** The same world over a file that another program locks, or whose disk is full, for a while. */
export function withFileFaults(plain: Faults, random: Random, off: ReadonlySet<string>): Faults {
  const none = Object.values(plain.rates).every((rate) => rate === 0);
  const on = random.chance(0.35);
  const rate = random.pick(rates["busy-or-full"]);
  const refusalMaxMs = random.pick([1_500, 8_000, 20_000]);
  if (none || !on || off.has("busy-or-full")) return plain;
  return { ...plain, rates: { ...plain.rates, "busy-or-full": rate }, refusalMaxMs };
}

/** The same world over a PostgreSQL server: what went wrong with a call now goes wrong with its transaction. */
export function drawPostgresFaults(plain: Faults, random: Random, off: ReadonlySet<string>): Faults {
  const none = Object.values(plain.rates).every((rate) => rate === 0);
  const drawn = postgresFaultNames.map((name) => {
    const own = laterFaults.has(name) ? random.fork(name) : random;
    const on = own.chance(0.45);
    const rate = own.pick(rates[name]);
    return [name, none || !on || off.has(name) ? 0 : rate] as const;
  });
  return {
    ...plain,
    rates: { ...plain.rates, "fail-before": 0, "lost-reply": 0, duplicate: 0, ...Object.fromEntries(drawn) },
    lockWaitMaxMs: random.pick([50, 1_000, 12_000]),
    interactiveShare: 0.5,
  };
}

/** Every process of the world blocks its loop in its first step, and nothing else goes wrong: so it must keep what it holds. */
export const onlyBlockedStarts = (faults: Faults): Faults => ({
  ...faults,
  rates: { ...(Object.fromEntries(faultNames.map((name) => [name, 0])) as Faults["rates"]), "blocked-start": 1 },
});
