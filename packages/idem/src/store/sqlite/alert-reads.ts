// What the radar found, and what it reads to find it.
import {
  type Alert,
  type AlertPair,
  type Arrivals,
  arrivalBytesMax,
  arrivalsOf,
  type RadarPosition,
} from "../alerts.ts";
import { afterAll } from "../id-times.ts";
import type { StoreReads } from "../reads.ts";
import { alertColumns, type DecisionRow, type EventRow, eventColumns, readDecision, readEvent } from "../rows.ts";
import type { Connection } from "./connection.ts";

// Alerts are few: one for each kind of thing and function.
const alertsSql = `
  select ${alertColumns} from alerts
   where env = :env and id < :before and (:state is null or state = :state) and (:fn is null or fn = :fn)
   order by id desc limit :limit`;
const alertSql = `select ${alertColumns} from alerts where env = ? and id = ?`;
const pairsSql = `
  select entity, first_id as "firstId", later_id as "laterId", at from alert_pairs
   where env = ? and alert_id = ? and later_id < ? order by later_id desc limit ?`;
const openCountSql = "select count(*) as count from alerts where env = ? and state = 'open'";
const positionSql = "select position, version from radar_positions where env = ?";

const boundedColumns = eventColumns.replace(
  "e.data",
  `case when octet_length(e.data) <= ${arrivalBytesMax} then e.data else 'null' end as data`,
);
const arrivedSql = `
  select ${boundedColumns} from events e where e.env = ? and e.id > ? and e.id < ? order by e.id limit ?`;
const decidedSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at from decisions
   where env = ? and event_id >= ? and event_id <= ? order by event_id, fn`;
const firstsSql = `
  select ${boundedColumns} from events e where e.env = ? and e.id in (select value from json_each(?))`;

type Sync<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never };
type AlertReads = Sync<
  Pick<StoreReads, "alerts" | "alert" | "alertPairs" | "openAlertCount" | "radarPosition" | "arrivals">
>;

export function alertReads(connection: Connection): AlertReads {
  return {
    alerts: (env, { state, fn, before, limit }) =>
      connection.find<Alert>(alertsSql, {
        env,
        limit,
        state: state ?? null,
        fn: fn ?? null,
        before: before ?? afterAll,
      }),
    alert: (env, id) => connection.one<Alert>(alertSql, env, id) ?? null,
    alertPairs: (env, id, { before, limit }) => connection.all<AlertPair>(pairsSql, env, id, before ?? afterAll, limit),
    openAlertCount: (env) => connection.one<{ count: number }>(openCountSql, env)!.count,
    radarPosition: (env) => connection.one<RadarPosition>(positionSql, env) ?? null,
    arrivals: (env, { after, before, limit }): Arrivals => {
      const events = connection.all<EventRow>(arrivedSql, env, after, before, limit).map(readEvent);
      if (events.length === 0) return { rows: [], firsts: [] };
      const decisions = connection.all<DecisionRow>(decidedSql, env, events[0]!.id, events.at(-1)!.id);
      const { rows, firstIds } = arrivalsOf(events, decisions.map(readDecision));
      if (firstIds.length === 0) return { rows, firsts: [] };
      return { rows, firsts: connection.all<EventRow>(firstsSql, env, JSON.stringify(firstIds)).map(readEvent) };
    },
  };
}
