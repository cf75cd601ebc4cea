// Rounds over PostgreSQL: what each form does, and what people read at the end.
import { type Bag, faultKinds } from "./fault-plan.ts";
import type { LeasePace } from "./node-messages.ts";
import type { PostgresResult, PostgresShape } from "./postgres-round.ts";
import { percentile } from "./report.ts";

/** As in service. */
const servicePace: LeasePace = { leaseTermSharedMs: 20_000, heartbeatMs: 5_000, sweepMs: 5_000 };
/** The same proportions; a test has no time for a lease of 20 s. */
const shortPace: LeasePace = { leaseTermSharedMs: 4_000, heartbeatMs: 1_000, sweepMs: 1_000 };

const storm = {
  kind: "storm",
  bag: {
    kill: 4,
    freeze: 1,
    terminate: 4,
    crash: 2,
    "cut-before-commit": 8,
    "cut-after-commit": 12,
    "cut-after-statement": 4,
    reset: 4,
    silence: 2,
  },
  meanGapMs: 900,
} as const;

/** Some two and a half minutes: every fault many times, and twice the time others need to take over from a lost node. */
export const fullShape: PostgresShape = {
  nodes: 3,
  pace: servicePace,
  episodes: [{ kind: "standby" }, storm, { kind: "calm" }, { kind: "standby" }, storm, { kind: "calm" }],
  callsPerSecond: 25,
  openRunsMax: 300,
};

/** Every fault at least once, in some 25 s. */
export const shortShape: PostgresShape = {
  nodes: 3,
  pace: shortPace,
  episodes: [
    {
      kind: "storm",
      bag: {
        kill: 2,
        terminate: 2,
        crash: 1,
        "cut-before-commit": 4,
        "cut-after-commit": 6,
        "cut-after-statement": 2,
        reset: 2,
        silence: 1,
      },
      meanGapMs: 350,
    },
    { kind: "standby" },
    { kind: "calm" },
  ],
  callsPerSecond: 25,
  openRunsMax: 120,
};

export function faultCount({ episodes }: PostgresShape): number {
  const ofBag = (bag: Bag) => Object.values(bag).reduce((a, b) => a + b, 0);
  // A calm is a kill and a freeze.
  const ofKind = { calm: 2, standby: 1, storm: 0 } as const;
  return episodes.reduce((sum, { kind, bag = {} }) => sum + ofKind[kind] + ofBag(bag), 0);
}

export function postgresReport(rounds: readonly PostgresResult[]): string {
  const sum = (pick: (round: PostgresResult) => number) => rounds.reduce((total, round) => total + pick(round), 0);
  const times = (values: readonly number[]) =>
    values.length === 0 ? "none" : `${percentile(values, 0.5)} / ${Math.max(...values)} ms (${values.length})`;
  const lines: [string, string | number][] = [
    ["faults", sum(({ faults }) => Object.values(faults).reduce((a, b) => a + b, 0))],
    ...faultKinds.map((kind): [string, number] => [`  ${kind}`, sum(({ faults }) => faults[kind] ?? 0)]),
    ["events acknowledged", sum(({ acked }) => acked)],
    ["duplicates decided", sum(({ duplicates }) => duplicates)],
    ["runs ended", sum(({ runs }) => runs)],
    ["  of a schedule's instants", sum(({ ticks }) => ticks)],
    ["steps", sum(({ steps }) => steps)],
    ["  entered again, cut off", sum(({ stepsEnteredAgain }) => stepsEnteredAgain)],
    ["  entered too late, frozen", sum(({ enteredLate }) => enteredLate)],
    ["most at once under a limit", Math.max(...rounds.map(({ mostInLanes }) => mostInLanes))],
    ["store found away", sum(({ away }) => away)],
    ["takeover p50 / max, calm", times(rounds.flatMap(({ calmTakeoverMs }) => calmTakeoverMs))],
    ["takeover p50 / max, all", times(rounds.flatMap(({ takeoverMs }) => takeoverMs))],
    ["all ended after, longest", `${Math.max(...rounds.map(({ drainMs }) => drainMs))} ms`],
    ["violations", sum(({ violations }) => violations.length)],
  ];
  const table = lines.map(([name, value]) => `${name.padEnd(28)} ${String(value).padStart(24)}`);
  const violated = rounds.flatMap(({ seed, folder, violations }) =>
    violations.map(
      ({ check, detail }) => `VIOLATED ${check}\n         ${detail}\n         seed ${seed}, kept in ${folder}`,
    ),
  );
  return [...table, ...violated].join("\n");
}
