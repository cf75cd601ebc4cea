// Schedules: every instant is decided once, never before it has come, and none is forgotten.
import type { CronFacts, Data } from "../workloads/workload.ts";
import { type Check, type Facts, groupBy } from "./facts.ts";

const minuteMs = 60_000;

// An instant found later than this was missed.
const lateMs = 60_000;

// A schedule lists so many of those it does not start one by one.
const listedMax = 100;

// The newest instants may still be on their way when the world ends.
export const onTheirWayMs = 10_000;

interface Told {
  readonly at: number;
  readonly kind: string;
  readonly reason: string | null;
  readonly decidedAt: number;
  readonly startedAt: number | null;
  readonly cron: string;
}

export const cronChecks = {
  "every instant of a schedule is decided once"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      if (fn.crons === undefined) continue;
      const slug = `${facts.evidence.app}-${fn.id}`;
      const told = toldOf(facts, slug);
      for (const [at, list] of groupBy(told, (tick) => tick.at)) {
        if (list.length > 1) fail(`${fn.id}: ${list.length} events for the tick at ${at}`);
      }
      const decided = new Set(told.map(({ at }) => at));
      for (const schedule of fn.crons) {
        const omitted = omittedBy(told, schedule, (detail) => fail(`${fn.id} ${detail}`));
        for (const { cron, fn: of, from, to } of facts.ledger.crons) {
          // Registered anew, a schedule begins anew; ticks on their way when it was registered no more are nobody's.
          if (of !== slug || cron !== schedule.cron || to !== null) continue;
          for (const at of instants(schedule, from, facts.evidence.endedStoreAt - onTheirWayMs)) {
            if (!decided.has(at) && !omitted.has(at)) fail(`${fn.id} "${cron}": nothing decided for ${at}`);
          }
        }
      }
    }
  },

  "a tick is never early, and one that was missed is treated as configured"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      if (fn.crons === undefined) continue;
      for (const { at, kind, decidedAt, startedAt, cron } of toldOf(facts, `${facts.evidence.app}-${fn.id}`)) {
        const schedule = fn.crons.find((other) => other.cron === cron);
        if (schedule === undefined || at % (schedule.everyMinutes * minuteMs) !== 0) {
          fail(`${fn.id}: ticked at ${at} for "${cron}"`);
          continue;
        }
        if (decidedAt < at) fail(`${fn.id}: the tick of ${at} was decided at ${decidedAt}`);
        if (startedAt !== null && startedAt < at) fail(`${fn.id}: the tick of ${at} began at ${startedAt}`);
        if (kind === "missed" && decidedAt - at <= lateMs) fail(`${fn.id}: the tick of ${at} was not missed`);
      }
      for (const schedule of fn.crons) checkPolicy(facts, fn.id, schedule, fail);
    }
  },
} satisfies Record<string, Check>;

/** The ticks of a function that left an event. */
function toldOf(facts: Facts, fn: string): Told[] {
  return facts.dump.events.flatMap((event) => {
    if (event.name !== "inngest/scheduled.timer") return [];
    const decision = facts.decisionsOf.get(event.id)?.find((other) => other.fn === fn);
    if (decision === undefined) return [];
    const { cron, scheduledAt } = JSON.parse(event.data) as Data;
    const { kind, reason, decidedAt } = decision;
    const startedAt = kind === "started" ? facts.runs.get(decision.runId!)!.startedAt : null;
    return [{ at: Date.parse(scheduledAt), cron, kind, reason, decidedAt, startedAt }];
  });
}

/** Those that only the oldest listed one speaks for. */
function omittedBy(told: readonly Told[], schedule: CronFacts, fail: (detail: string) => void): Set<number> {
  const omitted = new Set<number>();
  for (const { at, reason, cron } of told) {
    const summary = summaryOf(reason ?? "", cron, schedule.cron);
    if (summary === null) continue;
    const covered = [...instants(schedule, Date.parse(summary[2]!) - 1, at - 1)];
    if (covered.length !== Number(summary[1])) {
      fail(`"${schedule.cron}": ${summary[1]} ticks omitted before ${at}, there were ${covered.length}`);
    }
    for (const instant of covered) omitted.add(instant);
  }
  return omitted;
}

/** In the schedule's own words, or added to those of another schedule that has the same instant. */
function summaryOf(reason: string, cron: string, wanted: string): RegExpExecArray | null {
  const [own, ...added] = reason.split('; schedule "');
  const said = cron === wanted ? own : added.find((part) => part.startsWith(`${wanted}": `));
  return /so w(?:as|ere) (\d+) earlier ticks? since ([^\s;]+)/.exec(said ?? "");
}

/** Of those found late in one go, the newest are started. */
function checkPolicy(facts: Facts, fn: string, schedule: CronFacts, fail: (detail: string) => void): void {
  const told = toldOf(facts, `${facts.evidence.app}-${fn}`).filter(({ cron }) => cron === schedule.cron);
  const missed = told.filter(({ kind }) => kind === "missed");
  for (const { at, decidedAt } of missed) {
    // Where another schedule of the function has the same instant, the first of them decides it.
    const newer = [...instants(schedule, at, decidedAt - lateMs - 1)].length;
    if (newer < schedule.startsMissed) {
      fail(`${fn} "${schedule.cron}": the tick of ${at} was missed, and ${newer} newer ones were due`);
    }
  }
  for (const [decidedAt, together] of groupBy(missed, (tick) => tick.decidedAt)) {
    if (together.length > listedMax) fail(`${fn}: ${together.length} missed ticks listed at ${decidedAt}`);
  }
}

export function* instants({ everyMinutes }: CronFacts, after: number, until: number): Generator<number> {
  const every = everyMinutes * minuteMs;
  for (let at = Math.floor(after / every) * every + every; at <= until; at += every) yield at;
}
