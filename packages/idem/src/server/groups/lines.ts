// The backlog of each function: how many stand in line, since when, what holds them back, how fast the line moves and when it is empty. The
// future goes on from the last minutes, and is shown as "about".
import type { Engine } from "../../engine/engine.ts";
import { type LimitNow, limitsOf } from "../../engine/limit-function.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { ulidTime } from "../../model/ulid.ts";
import { minuteMs } from "../../store/ends.ts";
import type { RegisteredFunction } from "../../store/functions.ts";
import type { Line } from "../../store/reads.ts";
import { sumEnds } from "./ends.ts";
import { byFn, slotsOf } from "./function-figures.ts";

/** The reason runs stand in line. */
export interface Behind {
  readonly kind: "concurrency" | "throttle" | "no-worker" | "workers";
  readonly limit: number | null;
  readonly periodMs: number | null;
  /** CEL over `event`; null for one limit on all. */
  readonly key: string | null;
}

export interface FunctionLine {
  readonly waiting: number;
  readonly oldestAt: number | null;
  readonly atWork: number;
  /** Of the last ten minutes, or since this line began. */
  readonly endsPerMinute: number;
  /** Runs that were started, of the last three minutes; null where there were too many to count. */
  readonly comePerMinute: number | null;
  /** Until nobody is in line, if it goes on so; null where nobody is, or where more come than end. */
  readonly emptyInMs: number | null;
  readonly behind: Behind | null;
}

const rateMs = 10 * minuteMs;
/** A run that came ten minutes ago is in line by now: whether the line grows is a question of the last few. */
const comeMs = 3 * minuteMs;
const startsLookedAt = 20_000;
const functionsMax = 10_000;
/** A worker that is there takes up what it may within a second or two. */
const takenUpMs = 30_000;

const perMinute = (count: number, ms: number): number => Math.round((count / ms) * minuteMs * 10) / 10;

/** Where nobody is in line or at work; runs may come and end all the same. */
const nobody = { queued: 0, running: 0, oldestId: null, lane: null, beside1: 0, beside2: 0 };

export async function linesNow(
  engine: Engine,
  env: string,
  functions: readonly RegisteredFunction[],
  now: number,
): Promise<(fn: string) => FunctionLine> {
  const { reads } = engine.store;
  const since = now - rateMs;
  const [lines, ended, started] = await Promise.all([
    reads.lines(env, { limit: functionsMax }),
    reads.endCounts(env, { since, until: now + 1, stepMs: minuteMs }),
    reads.liveCounts(env, { since, until: now + 1, after: "", stepMs: minuteMs, examinedMax: startsLookedAt }),
  ]);
  const allowed = new Map(
    functions.map((each) => [
      each.fn,
      { concurrency: limitsOf(each, now), throttle: (JSON.parse(each.config) as FunctionConfig).throttle },
    ]),
  );
  const lineOf = new Map(lines.map((line) => [line.fn, line]));
  const endsOf = byFn(ended);
  const startsOf = byFn(started.counts);
  return (fn) => {
    const line = lineOf.get(fn) ?? { fn, ...nobody };
    const oldestAt = line.oldestId === null ? null : ulidTime(line.oldestId);
    // A line that has just begun moves as fast as it has since then.
    const windowMs = Math.min(rateMs, Math.max(minuteMs, now - (oldestAt ?? 0)));
    const ends = (endsOf.get(fn) ?? []).filter(({ at }) => at + minuteMs > now - windowMs);
    const starts = (startsOf.get(fn) ?? []).filter(({ at }) => at >= now - comeMs);
    const endsPerMinute = perMinute(sumEnds(ends).ended, windowMs);
    const come = starts.reduce((sum, each) => sum + each.started, 0);
    const comePerMinute = started.isAll ? perMinute(come, comeMs) : null;
    const net = endsPerMinute - (comePerMinute ?? 0);
    return {
      waiting: line.queued,
      oldestAt,
      atWork: line.running,
      endsPerMinute,
      comePerMinute,
      emptyInMs: line.queued === 0 || net <= 0 ? null : Math.round((line.queued / net) * minuteMs),
      behind: behindOf(line, allowed.get(fn), engine.canRun(fn), oldestAt, now),
    };
  };
}

function behindOf(
  line: Line,
  allowed: { readonly concurrency: readonly LimitNow[]; readonly throttle: FunctionConfig["throttle"] } | undefined,
  canRun: boolean,
  oldestAt: number | null,
  now: number,
): Behind | null {
  const { queued, running } = line;
  if (queued === 0) return null;
  const none = { limit: null, periodMs: null, key: null };
  const isLong = oldestAt !== null && now - oldestAt > takenUpMs;
  if (!canRun && running === 0) return isLong ? { kind: "no-worker", ...none } : null;
  const full = (allowed?.concurrency ?? []).find(
    ({ limit, key, scope }, position) => key !== null || scope !== "fn" || slotsOf(line, position) >= limit,
  );
  if (full !== undefined) return { kind: "concurrency", limit: full.limit, periodMs: null, key: full.key };
  const throttle = allowed?.throttle;
  if (throttle !== undefined) {
    return { kind: "throttle", limit: throttle.limit, periodMs: throttle.periodMs, key: throttle.key };
  }
  return isLong ? { kind: "workers", ...none } : null;
}
