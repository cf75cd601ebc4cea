// Alerts that nobody will look for again: closed, and old. Pairs go first; the alert goes with its last ones.
import type { PruneCounts } from "../prune.ts";
import type { Connection } from "./connection.ts";

const isOld = "a.env = :env and a.state = 'closed' and max(a.last_at, coalesce(a.judged_at, 0)) < :before";
// A handful of alerts in a commit; what is left is the next call's.
const oldSql = `select a.id from alerts a where ${isOld} order by a.id limit 20`;
const countAlertsSql = `select count(*) as count from alerts a where ${isOld}`;
const countPairsSql = `
  select count(*) as count from alerts a cross join alert_pairs p on p.env = a.env and p.alert_id = a.id where ${isOld}`;
const deletePairsSql = `
  delete from alert_pairs where (env, alert_id, later_id) in (
    select env, alert_id, later_id from alert_pairs where env = ? and alert_id = ? limit ?)`;
const deleteAlertSql = "delete from alerts where env = ? and id = ?";

type Told = Pick<PruneCounts, "alerts" | "pairs">;

export function pruneAlerts(connection: Connection, env: string, before: number, max: number): Told {
  const deleted = { alerts: 0, pairs: 0 };
  for (const { id } of connection.find<{ id: string }>(oldSql, { env, before })) {
    const left = max - deleted.alerts - deleted.pairs;
    const pairs = connection.run(deletePairsSql, env, id, left);
    deleted.pairs += pairs;
    // There may be more of them, and there is no room for the alert itself.
    if (pairs === left) return deleted;
    deleted.alerts += connection.run(deleteAlertSql, env, id);
  }
  return deleted;
}

export function countAlerts(connection: Connection, env: string, before: number): Told {
  const count = (sql: string) => connection.find<{ count: number }>(sql, { env, before })[0]!.count;
  return { alerts: count(countAlertsSql), pairs: count(countPairsSql) };
}
