// All rounds together: medians, how far the rounds lie apart, and how many times better Idem did in the same round.
import type { Machine } from "../machine.ts";
import type { Round } from "./round.ts";

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Standing {
  readonly name: string;
  readonly versions: string;
  readonly durability: string;
  readonly perSecond: Spread;
  /** One at a time. */
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Idem's runs/s over this engine's, and this engine's p50 over Idem's: medians of the ratios of each round. */
  readonly idemThroughput: number;
  readonly idemLatency: number;
}

export interface Summary {
  readonly machine: Machine;
  readonly rounds: number;
  readonly seconds: number;
  readonly standings: readonly Standing[];
}

/** `rounds` holds one list per engine, Idem's first. */
export function standingsOf(rounds: ReadonlyMap<string, readonly Round[]>): Standing[] {
  const [idem] = rounds.values();
  return [...rounds.values()].map((taken) => ({
    name: taken[0]!.name,
    versions: taken[0]!.versions,
    durability: taken[0]!.durability,
    perSecond: spread(taken.map(({ loaded }) => loaded.perSecond)),
    p50Ms: spread(taken.map(({ alone }) => alone.p50Ms)),
    p99Ms: spread(taken.map(({ alone }) => alone.p99Ms)),
    idemThroughput: spread(taken.map(({ loaded }, i) => idem![i]!.loaded.perSecond / loaded.perSecond)).median,
    idemLatency: spread(taken.map(({ alone }, i) => alone.p50Ms / idem![i]!.alone.p50Ms)).median,
  }));
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return { median, min: sorted[0]!, max: sorted.at(-1)! };
}

export const count = (n: number): string => Math.round(n).toLocaleString("en-US");
export const ms = (n: number): string => n.toFixed(n < 9.95 ? 1 : 0);
export const times = (n: number): string => `${n.toFixed(n < 9.95 ? 1 : 0)} ×`;

export const inRounds = (n: number): string => `${n} ${n === 1 ? "round" : "rounds in turn"}`;

/** Markdown, for the console and the docs alike. */
export function tableOf({ machine, rounds, seconds, standings }: Summary): string {
  const header = [
    "engine",
    "runs/s, 100 in flight (lowest to highest)",
    "Idem does",
    "one at a time, p50 / p99",
    "beside Idem's p50",
  ];
  const rows = standings.map(({ name, perSecond, p50Ms, p99Ms, idemThroughput, idemLatency }, i) => [
    name,
    `${count(perSecond.median)} (${count(perSecond.min)} to ${count(perSecond.max)})`,
    i === 0 ? "" : times(idemThroughput),
    `${ms(p50Ms.median)} / ${ms(p99Ms.median)} ms`,
    i === 0 ? "" : times(idemLatency),
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.takenAt}, Idem at ${machine.commit}. Medians of
${inRounds(rounds)}, ${seconds} s under load in each.`,
    "",
    line(header),
    line(widths.map(() => "---")),
    ...rows.map(line),
    "",
    "What took part, and what a commit waits for:",
    "",
    ...standings.map(({ versions, durability }) => `- ${versions}: ${durability}`),
  ].join("\n");
}
