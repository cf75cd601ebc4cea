// The contents of bench/results/toolkit.json, and the figures made of several rounds: medians, and ratios within a round.
import type { Machine } from "../machine.ts";
import { type Spread, spread } from "../peers/summary.ts";
import type { Asked, Round } from "./round.ts";
import type { Figure } from "./take.ts";
import type { Waves } from "./waves.ts";

export interface Results {
  readonly machine: Machine;
  /** Of PostgreSQL. */
  readonly settings: Readonly<Record<string, string>>;
  readonly options: {
    readonly isQuick: boolean;
    readonly rounds: number;
    readonly warmUpMs: number;
    readonly windowMs: number;
    /** The load average of the minute before: what else this machine was doing. */
    readonly loadBefore: number;
  };
  readonly sqlite?: Standing;
  readonly postgres?: Standing;
  readonly rounds: { readonly sqlite: readonly Round[]; readonly postgres: readonly Round[] };
}

export interface Standing {
  readonly versions: string;
  readonly figures: Readonly<Record<string, Readonly<Record<keyof Figure, Spread>>>>;
  /** The middleware's cost over the handler: p50 and processor time, by how many are in flight. */
  readonly overhead: Readonly<Record<string, { readonly p50Ms: Spread; readonly nodeUs: Spread }>>;
  /** Throughput over that of what it is held against. */
  readonly ratios: Readonly<Record<string, Spread>>;
  /** Of the first round; but for what is shared under load, it is the same in all. */
  readonly asked: Asked;
  readonly waves: Round["waves"];
}

/** A figure, and what stands beside it. */
const beside: readonly (readonly [string, string])[] = [
  ["claim-complete-1", "floor-write-1"],
  ["claim-complete-16", "floor-write-16"],
  ["claim-complete-prepared-1", "floor-write-prepared-1"],
  ["claim-complete-prepared-16", "floor-write-prepared-16"],
  ["claim-hot-16", "floor-read-16"],
  ["claim-hot-prepared-16", "floor-read-prepared-16"],
  ["fresh-16", "claim-complete-16"],
  ["hot-16", "claim-hot-16"],
  ["hot-prepared-16", "hot-16"],
  ["order-fresh-1", "order-alone-1"],
  ["order-fresh-16", "order-alone-16"],
  ["express-fresh-16", "express-alone-16"],
  ["express-hot-16", "express-alone-16"],
];

/** Pairs: with the middleware, whose name it has, and without it. */
const added: readonly (readonly [string, string])[] = ["", "-prepared"].flatMap((variant) =>
  ["fresh", "replay"].flatMap((what) =>
    [1, 16].map((n) => [`${what}${variant}-${n}`, `alone${variant}-${n}`] as const),
  ),
);

export function standingOf(rounds: readonly Round[]): Standing {
  const [first] = rounds as [Round];
  const has = (name: string): boolean => first.figures[name] !== undefined;
  const over = (of: (figures: Round["figures"]) => number) => spread(rounds.map(({ figures }) => of(figures)));
  const figureNames = Object.keys(first.figures);
  return {
    versions: first.versions,
    figures: fromEach(figureNames, (name) => ({
      perSecond: over((figures) => figures[name]!.perSecond),
      p50Ms: over((figures) => figures[name]!.p50Ms),
      p99Ms: over((figures) => figures[name]!.p99Ms),
      nodeUs: over((figures) => figures[name]!.nodeUs),
    })),
    overhead: Object.fromEntries(
      added
        .filter(([name, without]) => has(name) && has(without))
        .map(([name, without]) => [
          name,
          {
            p50Ms: over((figures) => figures[name]!.p50Ms - figures[without]!.p50Ms),
            nodeUs: over((figures) => figures[name]!.nodeUs - figures[without]!.nodeUs),
          },
        ]),
    ),
    ratios: Object.fromEntries(
      beside
        .filter(([name, other]) => has(name) && has(other))
        .map(([name, other]) => [
          `${name} of ${other}`,
          over((figures) => figures[name]!.perSecond / figures[other]!.perSecond),
        ]),
    ),
    asked: first.asked,
    waves: {
      conflict: allWaves(rounds.map(({ waves }) => waves.conflict)),
      wait: allWaves(rounds.map(({ waves }) => waves.wait)),
      sameTransaction: allWaves(rounds.map(({ waves }) => waves.sameTransaction)),
    },
  };
}

function allWaves(taken: readonly Waves[]): Waves {
  const sum = (of: (waves: Waves) => number): number => taken.reduce((all, waves) => all + of(waves), 0);
  return {
    askers: taken[0]!.askers,
    waves: sum(({ waves }) => waves),
    executions: sum(({ executions }) => executions),
    replayed: sum(({ replayed }) => replayed),
    conflicts: sum(({ conflicts }) => conflicts),
    p50Ms: spread(taken.map(({ p50Ms }) => p50Ms)).median,
    p99Ms: spread(taken.map(({ p99Ms }) => p99Ms)).median,
  };
}

const fromEach = <T>(names: readonly string[], of: (name: string) => T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, of(name)]));
