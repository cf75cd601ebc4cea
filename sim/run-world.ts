// One world, lived and judged.
import { checkGuarantees, type Violation } from "./check-guarantees.ts";
import type { EngineUnderTest } from "./engine.ts";
import { type FaultName, faultNames } from "./faults.ts";
import type { WorldOptions } from "./plan.ts";
import { situationsOf } from "./situations.ts";
import { backoffMs } from "./workloads/failures.ts";
import { World } from "./world.ts";

export interface WorldResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly hash: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly simulatedMs: number;
  readonly faultsOn: readonly FaultName[];
  readonly about: string;
  readonly tail: readonly string[];
}

export async function runWorld(engine: EngineUnderTest, options: WorldOptions): Promise<WorldResult> {
  const world = new World(engine, options);
  const { plan, ledger, counters } = world;
  const { restedAfterMs, dump } = await world.live();
  const faultsOn = faultNames.filter((name) => plan.faults.rates[name] > 0);
  const evidence = {
    ledger,
    dump,
    functions: plan.workloads.flatMap(({ functions }) => functions),
    app: "sim",
    eventWindowMs: plan.eventWindowMs,
    replyMaxMs: plan.faults.rates.delay > 0 ? plan.faults.delayMaxMs + 10 : 10,
    faultsOn,
    blockedMaxMs: plan.postgres?.blockedMaxMs ?? null,
    restedAfterMs,
    backoffMs,
    endedStoreAt: world.clock.now(),
  };
  const violations = checkGuarantees(evidence);
  counters.merge(situationsOf(evidence));
  if (world.clock.wasHeld) counters.add("store clocks held back");
  counters.add("worlds");
  if (plan.postgres !== null) counters.add("worlds over postgres");
  counters.add("steps entered", ledger.entries.length);
  counters.add(
    "events acknowledged",
    ledger.sends.reduce((sum, send) => sum + (send.acknowledged?.ids.length ?? 0), 0),
  );
  const repeated = new Set(ledger.entries.map(({ run, step }) => `${run} ${step}`)).size;
  counters.add("repeated attempts", ledger.entries.length - repeated);
  return {
    seed: options.seed,
    violations,
    hash: world.trace.hash,
    counts: counters.counts,
    simulatedMs: world.loop.now,
    faultsOn,
    about: `${plan.nodes} nodes, ${plan.postgres === null ? "" : "postgres over "}${plan.store}, ${plan.conversations} conversations, faults: ${faultsOn.join(" ") || "none"}`,
    tail: world.trace.tail(),
  };
}
