// npm run bench [-- --scale 0.1] [--only engine-100] [--json out.json] [--publish] [--against <commit> | --without end-notes] [--pairs 7]
// The embedded engine beside its store's ceiling, in one run on one machine. Figures are ratios; the machine is printed with them.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { compareWith, compareWithout } from "./against.ts";
import { figures } from "./figures.ts";
import { publish } from "./history.ts";
import { describeMachine } from "./machine.ts";
import { type Figure, printRows, type Row, round, takeAll, takeOne } from "./take-figures.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    only: { type: "string" },
    figure: { type: "string" },
    json: { type: "string" },
    against: { type: "string" },
    without: { type: "string" },
    pairs: { type: "string", default: "7" },
    publish: { type: "boolean", default: false },
  },
});
const scale = Number(values.scale);
if (values.publish && (scale !== 1 || values.only !== undefined)) {
  throw new Error("--publish goes with neither --scale nor --only: what is published is all of it, in full");
}
if (values.figure !== undefined) await takeOne(figures, values.figure, scale);

if (values.against !== undefined || values.without !== undefined) {
  const names = Object.keys(figures).filter((name) => name.startsWith(values.only ?? "engine-"));
  const comparing = { program: import.meta.url, names, scale, pairs: Number(values.pairs) };
  if (values.against !== undefined) compareWith(values.against, comparing);
  else compareWithout(values.without!, comparing);
  process.exit();
}

const machine = describeMachine();
// One slow sync of the disk moves a figure of seconds by a quarter. Those that ratios are made of are taken in turn, and the
// one in the middle counts.
const inTurn = ["ceiling-100", "engine-100", "engine-100-no-key", "engine-1"];
const turns = Array.from({ length: 5 }, () => inTurn).flat();
const wanted = [...turns, ...Object.keys(figures).filter((name) => !inTurn.includes(name))].filter(
  (name) => values.only === undefined || name.startsWith(values.only),
);
const all = takeAll(import.meta.url, wanted, scale);
const taken = Object.fromEntries(Object.entries(all).map(([name, same]) => [name, inTheMiddle(same)]));

const ratio = (a: string, b: string, of = "perSecond"): string => {
  const [x, y] = [taken[a]?.[of], taken[b]?.[of]];
  return x === undefined || y === undefined ? "–" : (x / y).toFixed(2);
};
const value = (name: string, of: string): string => (taken[name]?.[of] === undefined ? "–" : round(taken[name][of]!));

const rows: Row[] = [
  [
    "runs/s, 100 in flight",
    value("engine-100", "perSecond"),
    `${ratio("engine-100", "ceiling-100")} of the store's ceiling (aim ≥ 0.6)`,
  ],
  [
    "runs/s, 1,000 in flight",
    value("engine-1000", "perSecond"),
    `${ratio("engine-1000", "ceiling-1000")} of the store's ceiling`,
  ],
  ["one at a time, p50 / p99 ms", `${value("engine-1", "p50Ms")} / ${value("engine-1", "p99Ms")}`, "aim: p50 ≤ 2"],
  ["event-loop delay p99 under load, ms", value("engine-100", "loopDelayP99Ms"), "aim ≤ 20"],
  ["what a key leaves of no key", ratio("engine-100", "engine-100-no-key"), "aim ≥ 0.85"],
  [
    "duplicates/s on one hot key",
    value("hot-key", "perSecond"),
    `in batches ${value("hot-key", "inBatchesPerSecond")} (aim ≥ 20,000)`,
  ],
  ["1 M stored runs against 10 k", ratio("after-1m", "after-10k"), "aim ≥ 0.9"],
  ["memory of 100,000 sleeping runs, MB", value("sleepers", "megabytes"), "aim ≤ 150"],
  [
    "wake-up lateness p50 / p99, ms",
    `${value("sleepers", "lateP50Ms")} / ${value("sleepers", "lateP99Ms")}`,
    "never early",
  ],
];
console.log(
  `\n${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, ${machine.commit}, ${machine.takenAt}`,
);
console.log(
  "A run is event in, three trivial durable steps, result out; SQLite with synchronous=FULL, a function key on each.\n",
);
printRows(rows);
if (values.publish) {
  publish(machine, all);
  console.log("\nadded to bench/history.json and docs/bench-history.svg: commit both");
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ machine, scale, taken }, null, 2));

function inTheMiddle(same: readonly Figure[]): Figure {
  const sorted = same.toSorted((a, b) => (a.perSecond ?? 0) - (b.perSecond ?? 0));
  return sorted[Math.floor(sorted.length / 2)]!;
}
