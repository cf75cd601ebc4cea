// Alerts that nobody will look for again: closed, and old. Pairs go first; the alert goes with its last ones.
import type { Alert } from "../alerts.ts";
import type { PruneCounts } from "../prune.ts";
import type { Tables } from "./tables.ts";

const isOld = ({ state, lastAt, judgedAt }: Alert, before: number): boolean =>
  state === "closed" && Math.max(lastAt, judgedAt ?? 0) < before;

export function pruneAlerts(tables: Tables, before: number, max: number): Pick<PruneCounts, "alerts" | "pairs"> {
  const deleted = { alerts: 0, pairs: 0 };
  for (const { id } of tables.alerts.all().filter((alert) => isOld(alert, before))) {
    const left = max - deleted.alerts - deleted.pairs;
    const places = tables.alertPairs.entries().flatMap(([place, { alertId }]) => (alertId === id ? place : []));
    for (const place of places.slice(0, left)) tables.alertPairs.delete(place);
    deleted.pairs += Math.min(left, places.length);
    if (places.length >= left) return deleted;
    tables.alerts.delete(id);
    deleted.alerts += 1;
  }
  return deleted;
}
