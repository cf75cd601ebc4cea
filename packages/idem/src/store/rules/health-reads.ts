// Does everything open still move? Read-only questions for `idem doctor`.
import type { Database } from "./database.ts";
import type { Asked, Rule } from "./rule.ts";

export interface StuckRun {
  readonly runId: string;
  readonly fn: string;
  readonly createdAt: number;
}

export interface OverdueRun extends StuckRun {
  readonly fence: number;
  /** Since when it may start; never earlier than it can be known. */
  readonly dueSince: number;
}

export interface WaitingCount {
  readonly fn: string;
  readonly kind: "time" | "event" | "signal" | "run";
  readonly count: number;
  readonly nextAt: number | null;
}

// Open runs are few beside ended ones, but no index tells them apart; this reads every run once.
const joblessSql = `
  select r.id as "runId", r.fn, r.created_at as "createdAt" from runs r
   where r.env = ? and r.ended_state is null
     and not exists (select 1 from jobs j where j.env = r.env and j.id = r.id)
   order by r.id limit ?`;
const overdueSql = `
  select o.*, case when o."createdAt" > o.since then o."createdAt" else o.since end as "dueSince"
    from (select j.id as "runId", j.fn, r.created_at as "createdAt", j.fence,
                 case when j.due_at is not null then j.due_at when j.rank <= :now then j.rank else 0 end as since
            from jobs j join runs r on r.env = j.env and r.id = j.id
           where j.env = :env and j.kind = 'run' and j.leased_by is null and (j.due_at is null or j.due_at <= :now)
             and j.lane is null) o
   order by "dueSince" limit :limit`;
const orphanedSql = `
  select j.id as "runId", j.fn, r.created_at as "createdAt" from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = ? and j.leased_by is not null
     and not exists (select 1 from workers w where w.id = j.leased_by)
   order by j.id limit ?`;
const waitingSql = `
  select r.fn, w.kind, count(*) as count, min(w.timeout_at) as "nextAt" from waits w
    join runs r on r.env = w.env and r.id = w.run_id
   where w.env = ? group by r.fn, w.kind order by count(*) desc limit ?`;

/** Open runs that nothing will ever take up again: each one is a defect. */
export const runsWithoutJob = (db: Database, env: string, limit: number): Asked<StuckRun[]> =>
  db.all<StuckRun>(joblessSql, env, limit);

/** Due runs that no worker has taken for at least `forMs`. Those that stand in line for a limit wait on purpose. */
export function* overdueRuns(db: Database, env: string, now: number, forMs: number, limit: number): Rule<OverdueRun[]> {
  const rows = yield* db.find<OverdueRun & { readonly since: number }>(overdueSql, { env, now, limit });
  return rows.map(({ since: _, ...run }) => run).filter(({ dueSince }) => dueSince <= now - forMs);
}

/** Leased to a worker the store does not know: nobody will give them back. */
export const runsOfUnknownWorkers = (db: Database, env: string, limit: number): Asked<StuckRun[]> =>
  db.all<StuckRun>(orphanedSql, env, limit);

export const waitingRuns = (db: Database, env: string, limit: number): Asked<WaitingCount[]> =>
  db.all<WaitingCount>(waitingSql, env, limit);
