// Figures of functions: what ran, was suppressed, slipped through and failed, durations of runs, how full limits are, and the next ticks.
import type { Engine } from "../../engine/engine.ts";
import { nextTick } from "../../model/cron.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import type { RegisteredFunction } from "../../store/functions.ts";
import type { OpenSlots, SlotsBeside } from "../../store/reads.ts";
import { type EndSum, endsIn, sumEnds } from "./ends.ts";
import { type TallyRange, tallyNow } from "./tally.ts";
import { addUp, type Counts } from "./totals.ts";

const ticksShown = 5;

export interface FunctionFigures extends Counts, EndSum {
  /** The beginning of the count: that of an hour, or of a minute in a short range. */
  readonly since: number;
  readonly lastRunAt: number | null;
}

const nothing: Counts = { asked: 0, first: 0, suppressed: 0, slipped: 0 };

export async function figuresOf(
  engine: Engine,
  env: string,
  functions: KnownFunctions,
  fns: readonly string[],
  range: TallyRange,
  now: number,
): Promise<(fn: string) => FunctionFigures> {
  const { reads } = engine.store;
  const ends = await endsIn(reads, env, range, now);
  const [tally, ...newest] = await Promise.all([
    tallyNow(engine, env, functions, { ...range, since: ends.since }, range.until, ends.stepMs),
    ...fns.map((fn) => reads.runPage(env, { fn, until: range.until, limit: 1, examinedMax: 1 })),
  ]);
  const { byFunction } = addUp(tally);
  const endsOf = byFn(ends.counts);
  const lastOf = new Map(fns.map((fn, i) => [fn, newest[i]!.rows[0]?.createdAt ?? null]));
  return (fn) => ({
    ...(byFunction.get(fn) ?? nothing),
    ...sumEnds(endsOf.get(fn) ?? []),
    since: ends.since,
    lastRunAt: lastOf.get(fn) ?? null,
  });
}

export function byFn<T extends { readonly fn: string }>(rows: readonly T[]): ReadonlyMap<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const some = found.get(row.fn);
    if (some === undefined) found.set(row.fn, [row]);
    else some.push(row);
  }
  return found;
}

export interface LimitNow {
  readonly limit: number;
  readonly key: string | null;
  readonly scope: "fn" | "env" | "account";
  /** Null where the limit is not the function's alone. */
  readonly used: number | null;
}

/** The use of each limit on runs at work. */
export const limitsNow = ({ concurrency = [] }: FunctionConfig, open: OpenSlots): LimitNow[] =>
  concurrency.map(({ limit, key, scope }, position) => ({
    limit,
    key,
    scope,
    used: key === null && scope === "fn" ? slotsOf(open, position) : null,
  }));

/** Of one limit of a function, in use: by its runs at work, and by their steps where it counts them. */
export const slotsOf = ({ running, beside1, beside2 }: SlotsBeside & { readonly running: number }, position: number) =>
  running + (position === 0 ? beside1 : beside2);

export function nextTicks({ config, pausedAt }: RegisteredFunction, now: number): number[] {
  if (pausedAt !== null) return [];
  const { triggers } = JSON.parse(config) as FunctionConfig;
  const ticks = triggers.flatMap((trigger) => ("cron" in trigger ? ticksOf(trigger.cron, now) : []));
  return [...new Set(ticks)].sort((a, b) => a - b).slice(0, ticksShown);
}

function ticksOf(cron: string, now: number): number[] {
  const ticks: number[] = [];
  for (let at = nextTick(cron, now); at !== null && ticks.length < ticksShown; at = nextTick(cron, at)) ticks.push(at);
  return ticks;
}
