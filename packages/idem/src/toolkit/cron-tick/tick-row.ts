// One row per schedule and instant; whoever inserts it runs the tick.
import { fromJson } from "../../model/json.ts";
import { type Dialect, numberOf, numberOrNull, type Operation, type Row, sqlOf } from "../sql/operation.ts";

export interface TickAsk {
  readonly schedule: string;
  readonly instant: number;
  readonly owner: string;
  readonly leaseMs: number;
  readonly onCrash: "resume" | "park";
}

export type TickClaim =
  | { readonly kind: "run"; readonly fence: number; readonly attempt: number }
  | { readonly kind: "done"; readonly value: unknown; readonly doneAt: number }
  | { readonly kind: "in-flight"; readonly leaseLeftMs: number }
  | { readonly kind: "parked"; readonly isNew: boolean }
  /** The database's clock has not come to it. */
  | { readonly kind: "early" };

export function* readNow(dialect: Dialect): Operation<number> {
  return numberOf((yield { text: `select ${sqlOf(dialect).now} as now`, params: [] }).rows[0]!.now);
}

export function* claimTick(dialect: Dialect, ask: TickAsk): Operation<TickClaim> {
  const { now, stand } = sqlOf(dialect);
  const { schedule, instant, owner, leaseMs, onCrash } = ask;
  // Each round lost means that somebody else was first at something.
  for (let round = 0; round < 3; round++) {
    const first = yield {
      text: `
        insert into idem_ticks (schedule, instant, state, owner, fence, attempts, lease_until, started_at)
        select cast($1 as text), cast($2 as bigint), 'running', cast($3 as text), 1, 1, ${now} + $4, ${now}
         where ${now} >= $5
        on conflict (schedule, instant) do nothing
        returning fence`,
      params: [schedule, instant, owner, leaseMs, instant],
    };
    if (first.rows.length === 1) return { kind: "run", fence: 1, attempt: 1 };
    const [row] = (yield {
      text: `
        select state, fence, lease_until - ${now} as lease_left_ms, outcome, ended_at, ${stand} as stood from idem_ticks
         where schedule = $1 and instant = $2`,
      params: [schedule, instant],
    }).rows;
    if (row === undefined) return { kind: "early" };
    const there = answerOf(row);
    if (there !== null) return there;
    // What a person released runs, whatever is chosen for those that die.
    const isParking = onCrash === "park" && row.state === "running";
    const taken = yield {
      text: `
        update idem_ticks
           set state = '${isParking ? "parked" : "running"}', owner = $1, fence = fence + 1,
               attempts = attempts + ${isParking ? 0 : 1}, lease_until = ${now} + $2,
               reason = coalesce(reason, 'its call died')
         where schedule = $3 and instant = $4 and fence = $5 and state in ('running', 'released') and lease_until <= ${now}
        returning fence, attempts`,
      params: [owner, leaseMs, schedule, instant, numberOf(row.fence)],
    };
    const [mine] = taken.rows;
    if (mine === undefined) continue;
    if (isParking) return { kind: "parked", isNew: true };
    return { kind: "run", fence: numberOf(mine.fence), attempt: numberOf(mine.attempts) };
  }
  return { kind: "in-flight", leaseLeftMs: leaseMs };
}

/** Null: its call died, or a person released it. */
function answerOf(row: Row): TickClaim | null {
  if (row.state === "done") {
    return { kind: "done", value: fromJson(row.outcome as string), doneAt: numberOf(row.ended_at) };
  }
  if (row.state === "parked") return { kind: "parked", isNew: false };
  const leaseLeftMs = numberOf(row.lease_left_ms);
  return leaseLeftMs > 0 ? { kind: "in-flight", leaseLeftMs } : null;
}

export interface TickHolder {
  readonly schedule: string;
  readonly instant: number;
  readonly owner: string;
  readonly fence: number;
}

const held = "schedule = $2 and instant = $3 and owner = $4 and fence = $5 and state = 'running'";
const holderParams = ({ schedule, instant, owner, fence }: TickHolder) => [schedule, instant, owner, fence];

export function* extendTick(dialect: Dialect, holder: TickHolder, leaseMs: number): Operation<boolean> {
  const { count } = yield {
    text: `update idem_ticks set lease_until = ${sqlOf(dialect).now} + $1 where ${held}`,
    params: [leaseMs, ...holderParams(holder)],
  };
  return count === 1;
}

/** False: somebody else has it. */
export function* finishTick(dialect: Dialect, holder: TickHolder, outcome: string): Operation<boolean> {
  const { now } = sqlOf(dialect);
  const { count } = yield {
    text: `update idem_ticks set state = 'done', outcome = $1, ended_at = ${now}, lease_until = 0 where ${held}`,
    params: [outcome, ...holderParams(holder)],
  };
  return count === 1;
}

/** The handler threw: the next call goes on, or a person decides. */
export function* leaveTick(holder: TickHolder, onCrash: "resume" | "park", reason: string): Operation<boolean> {
  const { count } = yield {
    text: `
      update idem_ticks set state = '${onCrash === "park" ? "parked" : "running"}', reason = $1, lease_until = 0
       where ${held}`,
    params: [reason.slice(0, 1_000), ...holderParams(holder)],
  };
  return count === 1;
}

export interface UnfinishedTick {
  readonly at: number;
  readonly state: "running" | "parked" | "released";
  readonly attempts: number;
  readonly reason: string | null;
}

/** Parked, released, or running without a lease; oldest first. */
export function* listUnfinished(dialect: Dialect, schedule: string): Operation<UnfinishedTick[]> {
  const { rows } = yield {
    text: `
      select instant, state, attempts, reason from idem_ticks
       where schedule = $1 and (state in ('parked', 'released') or (state = 'running' and lease_until <= ${sqlOf(dialect).now}))
       order by instant limit 100`,
    params: [schedule],
  };
  return rows.map((row) => ({
    at: numberOf(row.instant),
    state: row.state as UnfinishedTick["state"],
    attempts: numberOf(row.attempts),
    reason: row.reason as string | null,
  }));
}

/** The newest tick before this one that anybody ran. */
export function* previousTick(schedule: string, instant: number): Operation<number | null> {
  const { rows } = yield {
    text: "select max(instant) as instant from idem_ticks where schedule = $1 and instant < $2",
    params: [schedule, instant],
  };
  return numberOrNull(rows[0]?.instant ?? null);
}

/** A person decides about a parked tick. False: it is not parked. */
export function* resolveTick(
  dialect: Dialect,
  schedule: string,
  instant: number,
  what: "done" | "resume",
): Operation<boolean> {
  const { now } = sqlOf(dialect);
  const set =
    what === "done"
      ? `state = 'done', outcome = 'null', ended_at = ${now}`
      : "state = 'released', fence = fence + 1, lease_until = 0";
  const { count } = yield {
    text: `update idem_ticks set ${set} where schedule = $1 and instant = $2 and state = 'parked'`,
    params: [schedule, instant],
  };
  return count === 1;
}

const keptMs = 90 * 86_400_000;

/** The newest stays, whatever its age: a yearly schedule must know its last tick again. */
export function* reapTicks(dialect: Dialect, schedule: string): Operation<number> {
  const { count } = yield {
    text: `
      delete from idem_ticks
       where schedule = $1 and state = 'done' and ended_at <= ${sqlOf(dialect).now} - ${keptMs}
         and instant < (select max(newest.instant) from idem_ticks newest where newest.schedule = idem_ticks.schedule)`,
    params: [schedule],
  };
  return count;
}
