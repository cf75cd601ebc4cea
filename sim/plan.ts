// What a seed says about its world: how many nodes over which store, what they do, and what goes wrong.
import { drawFaults, type Faults } from "./faults.ts";
import { Random } from "./random.ts";
import { cronWorkload, flowWorkloads, plainWorkloads } from "./workloads/all.ts";
import type { Workload } from "./workloads/workload.ts";

export interface WorldOptions {
  readonly seed: number;
  /** Faults switched off whatever the seed says; "flow" for limits, buffers and schedules. */
  readonly off?: ReadonlySet<string>;
  readonly traceLines?: number;
}

export interface Plan {
  readonly nodes: number;
  readonly store: "sqlite" | "memory";
  readonly workloads: readonly Workload[];
  readonly faults: Faults;
  readonly chaosMs: number;
  readonly conversations: number;
  readonly eventWindowMs: number;
  readonly runsInFlight: number;
  /** By how much a clock is set at most. */
  readonly clockStepMaxMs: number;
}

export function drawPlan({ seed, off }: WorldOptions): Plan {
  const random = new Random(seed).fork("plan");
  const some = plainWorkloads.filter(() => random.chance(0.6));
  const plain: Plan = {
    nodes: random.int(1, 5),
    store: random.chance(0.6) ? "sqlite" : "memory",
    workloads: some.length === 0 ? [random.pick(plainWorkloads)] : some,
    faults: drawFaults(random.fork("faults"), off ?? new Set()),
    chaosMs: random.int(8_000, 45_000),
    conversations: random.int(3, 14),
    eventWindowMs: random.pick([8_000, 25_000, 86_400_000]),
    runsInFlight: random.pick([1, 3, 100]),
    clockStepMaxMs: 60_000,
  };
  return off?.has("flow") ? plain : withFlow(plain, new Random(seed).fork("flow"));
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
