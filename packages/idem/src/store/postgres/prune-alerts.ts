// Alerts that nobody will look for again: closed, and old. Pairs go first; the alert goes with its last ones. Nobody writes to a closed
// alert, so nothing is locked: of two who prune, the second finds less.
import type { PruneCounts } from "../prune.ts";
import type { Connection } from "./connection.ts";

const isOld = "a.env = :env and a.state = 'closed' and greatest(a.last_at, coalesce(a.judged_at, 0)) < :before";
// A handful of alerts in a commit; what is left is the next call's.
const oldSql = `select a.id from alerts a where ${isOld} order by a.id limit 20`;
const countSql = `
  select count(*) as alerts, coalesce(sum(p.count), 0) as pairs
    from alerts a
   cross join lateral (select count(*) from alert_pairs where env = a.env and alert_id = a.id) p
   where ${isOld}`;
const deletePairsSql = `
  delete from alert_pairs where env = :env and alert_id = :id and later_id = any(array(
    select later_id from alert_pairs where env = :env and alert_id = :id order by later_id limit :max))
  returning 1`;
const deleteAlertSql = "delete from alerts where env = ? and id = ?";

type Told = Pick<PruneCounts, "alerts" | "pairs">;

export async function pruneAlerts(connection: Connection, env: string, before: number, max: number): Promise<Told> {
  const deleted = { alerts: 0, pairs: 0 };
  for (const { id } of await connection.find<{ id: string }>(oldSql, { env, before })) {
    const left = max - deleted.alerts - deleted.pairs;
    const pairs = (await connection.find(deletePairsSql, { env, id, max: left })).length;
    deleted.pairs += pairs;
    // There may be more of them, and there is no room for the alert itself.
    if (pairs === left) return deleted;
    deleted.alerts += await connection.run(deleteAlertSql, env, id);
  }
  return deleted;
}

export async function countAlerts(connection: Connection, env: string, before: number): Promise<Told> {
  const counted = (await connection.find<Told>(countSql, { env, before }))[0]!;
  return { alerts: Number(counted.alerts), pairs: Number(counted.pairs) };
}
