// The rows of pruning, asked for and deleted by ranges of ids: one writer is at work, so what lies between two of them is known. A range of
// 500 runs costs a quarter of what a list of them does, and a ninth of one statement for each (docs/decisions/0050).
import type { FamilyRun, PruneRows, RunCount } from "../rules/prune-rows.ts";
import { Given } from "../rules/rule.ts";
import type { FindClaimRow } from "./claim-index.ts";
import type { Connection } from "./connection.ts";

const pageSql = `
  select id, caller_id as callerId, received_at as receivedAt from events where env = ? and id > ? order by id limit ?`;
const decisionsSql = `
  select event_id as eventId, kind, run_id as runId, window_ends_at as windowEndsAt from decisions
   where env = ? and event_id >= ? and event_id <= ?`;
const runsSql = `
  select id, root_run_id as rootId, fn, key, ended_at as endedAt, carried, holds_key as holdsKey from runs
   where env = ? and id >= ? order by id limit ?`;
const rerunsSql = `
  select r.id, r.root_run_id as rootId, r.fn, r.key, r.ended_at as endedAt, r.carried, r.holds_key as holdsKey
    from json_each(?) asked cross join runs r indexed by runs_by_root
   where r.env = ? and r.root_run_id = asked.value and r.rerun_of is not null`;
const jobsSql = "select id from jobs where env = ? and id >= ? and id <= ?";
const carriedSql = `
  select b.run_id as runId, e.id, e.caller_id as callerId, e.received_at as receivedAt, b.key
    from run_events b cross join events e on e.env = b.env and e.id = b.event_id
   where b.env = ? and b.run_id in (select value from json_each(?))`;
const claimSql = "select ends_at as endsAt, held from claims where n = ? and holder = ?";

const totalSql = (table: string) =>
  `select count(*) as count from ${table} where env = ? and run_id >= ? and run_id <= ?`;
const totalSqls = [totalSql("steps"), totalSql("attempts"), totalSql("run_logs")];
const countSql = (table: string) =>
  `select run_id as runId, count(*) as count from ${table} where env = ? and run_id >= ? and run_id <= ? group by run_id`;
const countSqls = [countSql("steps"), countSql("attempts"), countSql("run_logs")];

const removeSqls = {
  steps: "delete from steps where env = ? and run_id >= ? and run_id <= ?",
  attempts: "delete from attempts where env = ? and run_id >= ? and run_id <= ?",
  run_logs: "delete from run_logs where env = ? and run_id >= ? and run_id <= ?",
  metadata: "delete from metadata where env = ? and run_id >= ? and run_id <= ?",
  run_events: "delete from run_events where env = ? and run_id >= ? and run_id <= ?",
  runs: "delete from runs where env = ? and id >= ? and id <= ?",
  decisions: "delete from kept_decisions where env = ? and event_id >= ? and event_id <= ?",
  event_values: "delete from event_values where env = ? and event_id >= ? and event_id <= ?",
  events: "delete from events where env = ? and id >= ? and id <= ?",
};

const removeSomeSql = (table: string, columns: string) => `
  delete from ${table} where env = ? and run_id = ? and (${columns}) in (
    select ${columns} from ${table} where env = ? and run_id = ? order by ${columns} limit ?)`;
const removeSomeSqls = {
  steps: removeSomeSql("steps", "step_id"),
  attempts: removeSomeSql("attempts", "step_id, attempt"),
  run_logs: removeSomeSql("run_logs", "part"),
};

// A walk along runs begins short: where others lie between those asked for, the rest of it is for nothing.
const walkMin = 16;
const walkMax = 1_024;

export function pruneRows(connection: Connection, env: string, find: FindClaimRow): PruneRows {
  // In the order of their tree, each with its place; between two places that follow each other lies nothing else.
  const eventPlaces = new Map<string, number>();
  const runPlaces = new Map<string, number>();

  const runsAt = (sorted: readonly string[]): FamilyRun[] => {
    const found: FamilyRun[] = [];
    let place = runPlaces.size;
    for (let next = 0, max = walkMin; next < sorted.length; ) {
      const walked = connection.all<FamilyRun>(runsSql, env, sorted[next]!, max);
      place += 2;
      let strangers = 0;
      for (const run of walked) {
        while (next < sorted.length && sorted[next]! < run.id) next++;
        if (next === sorted.length) break;
        if (sorted[next] === run.id) {
          found.push(run);
          runPlaces.set(run.id, place++);
          next++;
        } else {
          place += 1;
          strangers++;
        }
      }
      if (walked.length < max) break;
      max = strangers === 0 ? Math.min(max * 4, walkMax) : walkMin;
    }
    return found;
  };

  /** Ranges in which lies nothing but these. */
  const ranges = (ids: readonly string[], places: ReadonlyMap<string, number>): [string, string][] => {
    const spans: [string, string][] = [];
    let last = Number.NaN;
    for (const id of ids.toSorted()) {
      const place = places.get(id) ?? Number.NaN;
      if (place === last + 1) spans.at(-1)![1] = id;
      else spans.push([id, id]);
      last = place;
    }
    return spans;
  };

  return {
    page: (after, size) => {
      const events = connection.all<{ id: string; callerId: string | null; receivedAt: number }>(
        pageSql,
        env,
        after,
        size,
      );
      for (const [place, { id }] of events.entries()) eventPlaces.set(id, place);
      return new Given(events);
    },
    // Of those between that were not asked for as well.
    decisions: (events) => new Given(connection.all(decisionsSql, env, events[0]!.id, events.at(-1)!.id)),
    runs: (roots) => {
      const reruns = connection.all<FamilyRun>(rerunsSql, JSON.stringify(roots), env);
      return new Given([...runsAt(roots.toSorted()), ...reruns]);
    },
    jobs: (events, runIds) => {
      const between = (kind: string, from: string, to: string) =>
        connection.all<{ id: string }>(jobsSql, env, `${kind}:${from}`, `${kind}:${to}`);
      const announced = ranges(runIds, runPlaces).flatMap(([from, to]) => between("announce", from, to));
      return new Given([...between("deliver", events[0]!.id, events.at(-1)!.id), ...announced]);
    },
    carried: (runIds) => new Given(connection.all(carriedSql, env, JSON.stringify(runIds))),
    windows: (holdings) =>
      new Given(
        holdings.flatMap((holding) => {
          const n = find(env, holding.scope, holding.key);
          if (n === undefined) return [];
          const claim = connection.one<{ endsAt: number; held: number }>(claimSql, n, holding.holder);
          return claim === undefined ? [] : [{ ...holding, endsAt: claim.endsAt, held: claim.held === 1 }];
        }),
      ),
    totals: (runIds) => {
      const spans = ranges(runIds, runPlaces);
      const count = (sql: string, [from, to]: [string, string]) =>
        connection.one<{ count: number }>(sql, env, from, to)!.count;
      return new Given(totalSqls.map((sql) => spans.reduce((all, span) => all + count(sql, span), 0)));
    },
    counts: (runIds) => {
      const spans = ranges(runIds, runPlaces);
      return new Given(
        countSqls.map((sql) => spans.flatMap(([from, to]) => connection.all<RunCount>(sql, env, from, to))),
      );
    },
    remove: (table, ids) => {
      const isOfEvent = table === "events" || table === "decisions" || table === "event_values";
      const spans = ranges(ids, isOfEvent ? eventPlaces : runPlaces);
      return new Given(spans.reduce((gone, [from, to]) => gone + connection.run(removeSqls[table], env, from, to), 0));
    },
    removeSome: (table, runId, max) => new Given(connection.run(removeSomeSqls[table], env, runId, env, runId, max)),
  };
}
