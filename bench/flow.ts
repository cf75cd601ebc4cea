// npm run bench:flow [-- --scale 0.1] [--only keys,plain] [--rounds 5]
// What limits, waiting runs and schedules cost: beside the same function without limits, beside few waits, and by the clock.
// Writes bench/results/flow.json. Takes about a quarter of an hour, up to four minutes of it waiting for the clock.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { flowFigures } from "./flow-figures.ts";
import { describeMachine, root } from "./machine.ts";
import { printRows, type Row, round, takeAll, takeOne } from "./take-figures.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    only: { type: "string" },
    figure: { type: "string" },
  },
});
const scale = Number(values.scale);
if (values.figure !== undefined) await takeOne(flowFigures, values.figure, scale);

const machine = describeMachine();
const rounds = Number(values.rounds);
// Ratios are made of neighbours in time, and the one in the middle counts. Figures that fill a store or wait for the clock are taken once.
const inTurn = ["plain", "keys", "function-50", "plain-backlog", "keys-backlog"];
const turns = Array.from({ length: rounds }, () => inTurn).flat();
const only = values.only?.split(",");
const wanted = [...turns, ...Object.keys(flowFigures).filter((name) => !inTurn.includes(name))].filter(
  (name) => only === undefined || only.includes(name),
);
const all = takeAll(import.meta.url, wanted, scale);

const median = (list: readonly number[]): number | undefined => list.toSorted((a, b) => a - b)[list.length >> 1];
const of = (name: string, what = "perSecond"): number[] => (all[name] ?? []).map((figure) => figure[what]!);
const shown = (n: number | undefined, digits?: number): string =>
  n === undefined ? "–" : digits === undefined ? round(n) : n.toFixed(digits);
const value = (name: string, what?: string): string => shown(median(of(name, what)));
/** Figure by figure of the same turn. */
const ratio = (a: string, b: string, what?: string): string =>
  shown(
    median(
      of(a, what)
        .map((x, i) => x / of(b, what)[i]!)
        .filter(Number.isFinite),
    ),
    2,
  );
const within = (name: string, a: string, b: string): string =>
  shown(median((all[name] ?? []).map((figure) => figure[a]! / figure[b]!)), 2);

/** Processor time is also true on a machine that does other things. */
const beside = (a: string, b: string): string =>
  `${ratio(a, b)} of that without, processor time × ${ratio(a, b, "cpuUsPerRun")}`;
const reached = (name: string): Row[] => [
  [
    `  ${name}: one event, p50 / p99 ms`,
    `${value(name, "p50Ms")} / ${value(name, "p99Ms")}`,
    `among 1,000: ${value(name, "fewP50Ms")} / ${value(name, "fewP99Ms")}; aim: p99 ≤ 10`,
  ],
  [`  ${name}: nobody is meant, p50 / p99 ms`, `${value(name, "missP50Ms")} / ${value(name, "missP99Ms")}`, ""],
  [
    `  ${name}: events/s, 100 in flight`,
    value(name),
    `${within(name, "perSecond", "fewPerSecond")} of that among 1,000`,
  ],
];
const ticked = (name: string, what: string): Row[] => [
  [`  ${what}: last tick late by, ms`, value(name, "tickLateLastMs"), `of ${value(name, "ticks")} ticks; aim ≤ 1,000`],
  [`  ${what}: last run late by, ms`, value(name, "lateLastMs"), `p50 ${value(name, "lateP50Ms")}, 100 in flight`],
  [
    `  ${what}: loop delay p99 / max, ms`,
    `${value(name, "loopDelayP99Ms")} / ${value(name, "loopDelayMaxMs")}`,
    `started in ${value(name, "startMs")} ms`,
  ],
];
const shaped = (name: string): Row => [
  `  ${name}: events/s in`,
  value(name),
  `${value(name, "runs")} runs out, ${value(name, "runsPerSecond")} a second`,
];

const rows: Row[] = [
  ["runs/s without limits, 100 in flight", value("plain"), ""],
  ["  2 at once for each of 1,000 keys", value("keys"), `${beside("keys", "plain")} (aim ≥ 0.7)`],
  ["  50 at once of the function", value("function-50"), beside("function-50", "plain")],
  ["runs/s of a backlog without limits", value("plain-backlog"), ""],
  ["  2 at once for each of 1,000 keys", value("keys-backlog"), beside("keys-backlog", "plain-backlog")],
  [
    "  small keys beside a hot one, runs/s",
    value("hot-key"),
    `${within("hot-key", "perSecond", "alonePerSecond")} of that alone; the hot one ${value("hot-key", "hotPerSecond")}`,
  ],
  [
    "  runs a small key waits for, p50 / p99",
    `${value("hot-key", "waitedRunsP50")} / ${value("hot-key", "waitedRunsP99")}`,
    `${value("hot-key", "hotLeft")} of the hot key in line; alone p99 ${value("hot-key", "aloneWaitedRunsP99")}`,
  ],
  ["among 100,000", "", ""],
  ...reached("waits"),
  ...reached("cancels"),
  ["10,000 schedules", "", ""],
  ...ticked("crons-at-once", "all at once"),
  ...ticked("crons-spread", "100 at once"),
  ["what shapes the flow (for information)", "", ""],
  ...["throttle", "rate-limit", "debounce", "batch"].map(shaped),
];
console.log(
  `\n${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, ${machine.commit}, ${machine.takenAt}`,
);
console.log(
  `A run is event in, three trivial durable steps, result out; SQLite with synchronous=FULL${scale === 1 ? "" : `; all counts × ${scale}`}.\n`,
);
// Rows that were not asked for have no figure.
printRows(rows.filter(([, figure]) => !figure.startsWith("–")));
const results = join(root, "bench", "results");
mkdirSync(results, { recursive: true });
writeFileSync(join(results, "flow.json"), `${JSON.stringify({ machine, scale, rounds, taken: all }, null, 2)}\n`);
