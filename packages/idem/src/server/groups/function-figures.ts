// How functions are doing: what ran, was suppressed, slipped through and failed, how long runs took, how full their limits are, and when
// they tick next. Durations and failures are those of the newest runs: a sample, where there are more.
import type { Engine } from "../../engine/engine.ts";
import { nextTick } from "../../model/cron.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import type { RegisteredFunction } from "../../store/functions.ts";
import type { OpenCounts, RunSummary } from "../../store/reads.ts";
import { examinedMax } from "../api/paging.ts";
import { type TallyRange, tallyNow } from "./tally.ts";
import { addUp, type Counts } from "./totals.ts";

// Enough for a p95 that does not jump, little enough for a list of a hundred functions.
const sampledMax = 200;
const ticksShown = 5;

export interface FunctionFigures extends Counts {
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** How many runs `failed`, `p50Ms` and `p95Ms` were taken from. */
  readonly sampled: number;
  readonly lastRunAt: number | null;
}

const nothing: Counts = { asked: 0, first: 0, suppressed: 0, slipped: 0 };

export async function figuresOf(
  engine: Engine,
  env: string,
  functions: KnownFunctions,
  fns: readonly string[],
  range: TallyRange,
): Promise<(fn: string) => FunctionFigures> {
  const { reads } = engine.store;
  const [tally, ...samples] = await Promise.all([
    tallyNow(engine, env, functions, range, range.until),
    ...fns.map((fn) =>
      reads.runPage(env, { fn, since: range.since, until: range.until, limit: sampledMax, examinedMax }),
    ),
  ]);
  const { byFunction } = addUp(tally);
  const sampleOf = new Map(fns.map((fn, i) => [fn, samples[i]!.rows]));
  return (fn) => ({ ...(byFunction.get(fn) ?? nothing), ...sampled(sampleOf.get(fn) ?? []) });
}

function sampled(runs: readonly RunSummary[]): Omit<FunctionFigures, keyof Counts> {
  const took = runs
    .flatMap(({ startedAt, endedAt }) => (startedAt === null || endedAt === null ? [] : endedAt - startedAt))
    .sort((a, b) => a - b);
  const at = (share: number) =>
    took.length === 0 ? null : took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
  return {
    failed: runs.filter(({ state }) => state === "failed").length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    sampled: runs.length,
    lastRunAt: runs[0]?.createdAt ?? null,
  };
}

export interface LimitNow {
  readonly limit: number;
  readonly key: string | null;
  readonly scope: "fn" | "env" | "account";
  /** Null where the limit is not the function's alone. */
  readonly used: number | null;
}

/** How much of each limit on runs at work is taken. */
export const limitsNow = ({ concurrency = [] }: FunctionConfig, { running }: OpenCounts): LimitNow[] =>
  concurrency.map(({ limit, key, scope }) => ({
    limit,
    key,
    scope,
    used: key === null && scope === "fn" ? running : null,
  }));

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
