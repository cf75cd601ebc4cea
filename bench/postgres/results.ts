// The contents of bench/results/postgres.json, and the figures made of several rounds: medians, and ratios within a round.
import type { Machine } from "../machine.ts";
import { type Spread, spread } from "../peers/summary.ts";
import type { Filled } from "./fill.ts";
import type { Held } from "./held.ts";
import type { HotKeys } from "./hot-keys.ts";
import type { KindCosts } from "./kinds.ts";
import type { Measured } from "./measured.ts";
import type { Profile } from "./statements.ts";

export interface Results {
  readonly machine: Machine;
  readonly settings: Readonly<Record<string, string>>;
  readonly options: {
    readonly isQuick: boolean;
    readonly rounds: number;
    readonly warmUpMs: number;
    readonly windowMs: number;
    /** The load average of the minute before: what else this machine was doing. */
    readonly loadBefore: number;
  };
  readonly beside?: Beside;
  readonly kinds?: readonly KindCosts[];
  readonly hotKeys?: readonly HotKeys[];
  readonly stored?: Stored;
  readonly profile?: Profile;
  readonly held?: Held;
}

interface BesideRound {
  /** 100 in flight in each process; `alone` is one at a time. */
  readonly one: Measured;
  readonly alone: Measured;
  readonly two: Measured;
  readonly dbos?: Measured;
  readonly dbosAlone?: Measured;
}

interface Standing {
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
}

export interface Beside {
  readonly rounds: readonly BesideRound[];
  readonly standings: Readonly<Partial<Record<keyof BesideRound, Standing>>>;
  readonly ratios: {
    readonly twoToOne: Spread;
    /** Idem's runs/s over DBOS's. */
    readonly oneToDbos?: Spread;
    readonly twoToDbos?: Spread;
    /** DBOS's p50 over Idem's, one at a time. */
    readonly aloneP50?: Spread;
  };
}

export interface Stored {
  readonly filled: { readonly few: Filled; readonly many: Filled };
  readonly rounds: readonly { readonly few: Measured; readonly many: Measured }[];
  readonly few: Standing;
  readonly many: Standing;
  /** Runs/s with many stored over runs/s with few. */
  readonly ratio: Spread;
}

export function besideSummary(rounds: readonly BesideRound[]): Pick<Beside, "standings" | "ratios"> {
  const names = ["one", "alone", "two", "dbos", "dbosAlone"] as const;
  const standings: Partial<Record<keyof BesideRound, Standing>> = {};
  for (const name of names) {
    const taken = rounds.map((round) => round[name]).filter((measured) => measured !== undefined);
    if (taken.length > 0) standings[name] = standingOf(taken);
  }
  const { dbos, dbosAlone } = rounds[0]!;
  const against = (of: (round: Required<BesideRound>) => number) => spread((rounds as Required<BesideRound>[]).map(of));
  return {
    standings,
    ratios: {
      twoToOne: spread(rounds.map(({ one, two }) => two.perSecond / one.perSecond)),
      ...(dbos === undefined || dbosAlone === undefined
        ? {}
        : {
            oneToDbos: against(({ one, dbos }) => one.perSecond / dbos.perSecond),
            twoToDbos: against(({ two, dbos }) => two.perSecond / dbos.perSecond),
            aloneP50: against(({ alone, dbosAlone }) => dbosAlone.p50Ms / alone.p50Ms),
          }),
    },
  };
}

export function storedSummary(rounds: Stored["rounds"]): Pick<Stored, "few" | "many" | "ratio"> {
  return {
    few: standingOf(rounds.map(({ few }) => few)),
    many: standingOf(rounds.map(({ many }) => many)),
    ratio: spread(rounds.map(({ few, many }) => many.perSecond / few.perSecond)),
  };
}

const standingOf = (taken: readonly Measured[]): Standing => ({
  perSecond: spread(taken.map(({ perSecond }) => perSecond)),
  p50Ms: spread(taken.map(({ p50Ms }) => p50Ms)),
  p99Ms: spread(taken.map(({ p99Ms }) => p99Ms)),
});

/** The round in the middle by runs/s: its costs are shown. */
export function middleOf(taken: readonly Measured[]): Measured {
  return taken.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(taken.length / 2)]!;
}
