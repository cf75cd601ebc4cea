// The rows of pruning, asked for and deleted by lists of ids: others may commit between two of them, so whatever lies between is not touched.
import type { PruneRows } from "../rules/prune-rows.ts";
import { Given } from "../rules/rule.ts";
import type { RuleDatabase } from "./rule-database.ts";

const pageSql = `
  select id, caller_id as "callerId", received_at as "receivedAt" from events where env = ? and id > ? order by id limit ?`;
const decisionsSql = `
  select event_id as "eventId", kind, run_id as "runId", window_ends_at as "windowEndsAt" from decisions where env = ? and event_id = any(?)`;
const runsSql = `
  select id, root_run_id as "rootId", fn, key, ended_at as "endedAt", carried, holds_key as "holdsKey" from runs
   where env = :env and id = any(:roots)
  union
  select r.id, r.root_run_id as "rootId", r.fn, r.key, r.ended_at as "endedAt", r.carried, r.holds_key as "holdsKey"
    from unnest(cast(:roots as text[])) as asked (root)
   cross join lateral (select * from runs where env = :env and root_run_id = asked.root and rerun_of is not null offset 0) r`;
const jobsSql = "select id from jobs where env = ? and id = any(?)";
const carriedSql = `
  select b.run_id as "runId", e.id, e.caller_id as "callerId", e.received_at as "receivedAt", b.key
    from run_events b cross join lateral (select * from events where env = b.env and id = b.event_id limit 1) e
   where b.env = ? and b.run_id = any(?)`;
// Looked up one by one, as the planner cannot choose otherwise.
const windowsSql = `
  select probe.scope, probe.key, probe.holder, c.ends_at as "endsAt", c.held = 1 as held
    from unnest(cast(:scopes as text[]), cast(:keys as text[]), cast(:holders as text[])) as probe (scope, key, holder)
   cross join lateral (select ends_at, held from claims
                        where env = :env and scope = probe.scope and key = probe.key and holder = probe.holder
                          and asked > 0 limit 1) c`;

const totalsSql = `
  select (select count(*) from steps where env = :env and run_id = any(:ids)) as steps,
         (select count(*) from attempts where env = :env and run_id = any(:ids)) as attempts,
         (select count(*) from run_logs where env = :env and run_id = any(:ids)) as logs`;
const countSql = (table: string) =>
  `select run_id as "runId", count(*) as count from ${table} where env = ? and run_id = any(?) group by run_id`;
const countSqls = { steps: countSql("steps"), attempts: countSql("attempts"), logs: countSql("run_logs") };

const removeSqls = {
  steps: "delete from steps where env = ? and run_id = any(?)",
  attempts: "delete from attempts where env = ? and run_id = any(?)",
  run_logs: "delete from run_logs where env = ? and run_id = any(?)",
  metadata: "delete from metadata where env = ? and run_id = any(?)",
  run_events: "delete from run_events where env = ? and run_id = any(?)",
  runs: "delete from runs where env = ? and id = any(?)",
  decisions: "delete from decisions where env = ? and event_id = any(?)",
  event_values: "delete from event_values where env = ? and event_id = any(?)",
  events: "delete from events where env = ? and id = any(?)",
};

const removeSomeSql = (table: string, columns: string) => `
  delete from ${table} where env = ? and run_id = ? and (${columns}) in (
    select ${columns} from ${table} where env = ? and run_id = ? order by ${columns} limit ?)`;
const removeSomeSqls = {
  steps: removeSomeSql("steps", "step_id"),
  attempts: removeSomeSql("attempts", "step_id, attempt"),
  run_logs: removeSomeSql("run_logs", "part"),
};

const none = new Given(0);

export const pruneRows = (db: RuleDatabase, env: string): PruneRows => ({
  page: (after, size) => db.all(pageSql, env, after, size),
  decisions: (events) => db.all(decisionsSql, env, db.list(events.map(({ id }) => id))),
  runs: (roots) => db.find(runsSql, { env, roots: db.list(roots) }),
  jobs: (events, runIds) => {
    const ids = [...events.map(({ id }) => `deliver:${id}`), ...runIds.map((id) => `announce:${id}`)];
    return db.all(jobsSql, env, db.list(ids));
  },
  carried: (runIds) => db.all(carriedSql, env, db.list(runIds)),
  windows: (holdings) =>
    db.find(windowsSql, {
      env,
      scopes: db.list(holdings.map(({ scope }) => scope)),
      keys: db.list(holdings.map(({ key }) => key)),
      holders: db.list(holdings.map(({ holder }) => holder)),
    }),
  totals: function* (runIds) {
    const found = yield* db.find<{ steps: number; attempts: number; logs: number }>(totalsSql, {
      env,
      ids: db.list(runIds),
    });
    const { steps, attempts, logs } = found[0]!;
    return [steps, attempts, logs];
  },
  counts: (runIds) => {
    const ids = db.list(runIds);
    return db.together(
      db.all(countSqls.steps, env, ids),
      db.all(countSqls.attempts, env, ids),
      db.all(countSqls.logs, env, ids),
    );
  },
  remove: (table, ids) => (ids.length === 0 ? none : db.run(removeSqls[table], env, db.list(ids))),
  removeSome: (table, runId, max) => db.run(removeSomeSqls[table], env, runId, env, runId, max),
});
