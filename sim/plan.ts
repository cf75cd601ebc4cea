// The world that a seed means: how many nodes over which store, what they do, and what goes wrong.
import { drawFaults, drawPostgresFaults, type Faults, onlyBlockedStarts, withFileFaults } from "./faults.ts";
import { Random } from "./random.ts";
import { cronWorkload, deadlyWorkload, flowWorkloads, plainWorkloads, wideWorkload } from "./workloads/all.ts";
import type { Workload } from "./workloads/workload.ts";

export const storeModels = ["sqlite", "memory", "postgres"] as const;
export type StoreModel = (typeof storeModels)[number];

export interface WorldOptions {
  readonly seed: number;
  /** Faults switched off whatever the seed says; "flow" for limits, buffers and schedules, "postgres" for that model, "sweeps" for nodes that do not stay, "deadly" for steps that end their process, "wide" for steps side by side in limits. */
  readonly off?: ReadonlySet<string>;
  /** The store, whatever the seed says. */
  readonly store?: StoreModel;
  readonly traceLines?: number;
}

/** Between the starts of two nodes. */
export const startGapMs = 300;

export interface Plan {
  readonly nodes: number;
  /** Where the facts are. */
  readonly store: "sqlite" | "memory";
  /** The PostgreSQL server before them; null where there is none. */
  readonly postgres: PostgresPlan | null;
  readonly workloads: readonly Workload[];
  readonly faults: Faults;
  readonly chaosMs: number;
  readonly conversations: number;
  /** Conversations begin within so much time; absent if throughout the chaos. */
  readonly talkMs?: number;
  readonly eventWindowMs: number;
  readonly runsInFlight: number;
  /** By how much a clock is set at most. */
  readonly clockStepMaxMs: number;
}

export interface PostgresPlan {
  readonly answerMaxMs: number;
  /** For so long a node's loop may stand still before its leases are let go. */
  readonly blockedMaxMs: number;
  /** How far the wall clocks of its nodes are off: they do not matter. */
  readonly nodeClocksOffMs: readonly number[];
  /** Each node's rest between two sweeps; null for one whose process stays. */
  readonly sweepEveryMs: readonly (number | null)[];
}

export function drawPlan(options: WorldOptions): Plan {
  const plan = drawOwnPlan(options);
  const { seed, off, store } = options;
  // From a stream of its own: a seed that stays without it is the world it was before there was such a model.
  const random = new Random(seed).fork("postgres");
  const isDrawn = random.chance(0.25);
  const isPostgres = store === "postgres" || (store === undefined && isDrawn && off?.has("postgres") !== true);
  if (isPostgres) {
    const drawn = overPostgres(plan, random, off ?? new Set());
    const isAlone = new Random(seed).fork("only blocked starts").chance(0.1) && off?.has("blocked-start") !== true;
    return isAlone ? withOnlyBlockedStarts(drawn) : drawn;
  }
  const faults = withFileFaults(plan.faults, new Random(seed).fork("file faults"), off ?? new Set());
  return { ...plan, faults, ...(store === undefined ? {} : { store }) } as Plan;
}

function drawOwnPlan({ seed, off }: WorldOptions): Plan {
  const random = new Random(seed).fork("plan");
  const some = plainWorkloads.filter(() => random.chance(0.6));
  const plain: Plan = {
    nodes: random.int(1, 5),
    store: random.chance(0.6) ? "sqlite" : "memory",
    postgres: null,
    workloads: some.length === 0 ? [random.pick(plainWorkloads)] : some,
    faults: drawFaults(random.fork("faults"), off ?? new Set()),
    chaosMs: random.int(8_000, 45_000),
    conversations: random.int(3, 14),
    eventWindowMs: random.pick([8_000, 25_000, 86_400_000]),
    runsInFlight: random.pick([1, 3, 100]),
    clockStepMaxMs: 60_000,
  };
  const flowing = off?.has("flow") ? plain : withFlow(plain, new Random(seed).fork("flow"));
  // From a stream of its own, as above. Not beside schedules, whose worlds are long enough.
  const isDeadly = new Random(seed).fork("deadly").chance(0.06) && off?.has("deadly") !== true;
  if (flowing.workloads.includes(cronWorkload)) return flowing;
  if (isDeadly) return { ...flowing, workloads: [deadlyWorkload, ...flowing.workloads.slice(0, 1)] };
  const isWide = new Random(seed).fork("wide").chance(0.1) && off?.has("wide") !== true;
  return isWide ? { ...flowing, workloads: [wideWorkload, ...flowing.workloads.slice(0, 1)] } : flowing;
}

/** From a stream of its own: without it a seed is the world it was before there were limits. */
function withFlow(plain: Plan, random: Random): Plan {
  if (random.chance(0.45)) return plain;
  const clockStepMaxMs = random.chance(0.3) ? 90_000_000 : 60_000;
  const some = flowWorkloads.filter(() => random.chance(0.5));
  if (random.chance(0.2)) {
    const [least, most] = cronWorkload.chaosMs!;
    const beside = some.filter(() => random.chance(0.3));
    const chaosMs = random.int(least, most);
    return { ...plain, workloads: [cronWorkload, ...beside], nodes: random.int(1, 3), chaosMs, clockStepMaxMs };
  }
  const flow = some.length === 0 ? [random.pick(flowWorkloads)] : some;
  const beside = plain.workloads.filter(() => random.chance(0.3));
  return { ...plain, workloads: [...flow, ...beside], conversations: random.int(5, 16), clockStepMaxMs };
}

/** In some worlds no process stays, in some only a few do. Often enough that sweeps also meet a store that cannot be opened, the only way they fail. */
function drawSweeps(nodes: number, random: Random, off: ReadonlySet<string>): (number | null)[] {
  const share = random.chance(0.5) && !off.has("sweeps") ? random.pick([0.5, 1]) : 0;
  return Array.from({ length: nodes }, () => (random.chance(share) ? random.int(200, 3_000) : null));
}

// Longer than any loop stands still.
const blockedLongMs = 300_000;

// The largest step a database host's clock is set by.
const databaseClockStepMaxMs = 3_600_000;

/** Several nodes at once, and a server between them and the facts. */
function overPostgres(plain: Plan, random: Random, off: ReadonlySet<string>): Plan {
  const nodes = random.int(2, 3);
  return {
    ...plain,
    nodes,
    // A transaction is more moments than a call, so that as much happens in less time. A minute stays a minute.
    chaosMs: plain.workloads.includes(cronWorkload) ? plain.chaosMs : Math.round(plain.chaosMs * 0.6),
    clockStepMaxMs: Math.min(plain.clockStepMaxMs, databaseClockStepMaxMs),
    faults: drawPostgresFaults(plain.faults, random, off),
    postgres: {
      answerMaxMs: random.pick([5_000, 30_000]),
      nodeClocksOffMs: Array.from({ length: nodes }, () => random.between(-3_600_000, 3_600_000)),
      blockedMaxMs: random.fork("blocked").pick([20_000, blockedLongMs]),
      sweepEveryMs: drawSweeps(nodes, random.fork("sweeps"), off),
    },
  };
}

/** Clients come while the nodes start, so that steps are entered at once. Every process stays: one that does not has no heartbeat thread. */
const withOnlyBlockedStarts = (plan: Plan): Plan => ({
  ...plan,
  talkMs: plan.nodes * startGapMs,
  faults: onlyBlockedStarts(plan.faults),
  postgres: {
    ...plan.postgres!,
    blockedMaxMs: blockedLongMs,
    sweepEveryMs: plan.postgres!.sweepEveryMs.map(() => null),
  },
});
