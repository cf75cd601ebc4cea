// Reads of alerts, and of the arrivals the radar finds them in.
import { type Arrivals, arrivalBytesMax, arrivalsOf } from "../alerts.ts";
import type { StoreReads } from "../reads.ts";
import { showEvent } from "./show.ts";
import type { Database, EventRow } from "./tables.ts";

type AlertReads = Pick<StoreReads, "alerts" | "alert" | "alertPairs" | "openAlertCount" | "radarPosition" | "arrivals">;

export function memoryAlertReads(database: Database): AlertReads {
  return {
    async alerts(env, { state, fn, before, limit }) {
      return database
        .env(env)
        .alerts.all()
        .filter((alert) => state === undefined || alert.state === state)
        .filter((alert) => fn === undefined || alert.fn === fn)
        .filter(({ id }) => before === undefined || id < before)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit);
    },

    async alert(env, id) {
      return database.env(env).alerts.get(id) ?? null;
    },

    async alertPairs(env, id, { before, limit }) {
      return database
        .env(env)
        .alertPairs.all()
        .filter(({ alertId, laterId }) => alertId === id && (before === undefined || laterId < before))
        .sort((a, b) => (a.laterId < b.laterId ? 1 : -1))
        .slice(0, limit)
        .map(({ alertId: _, ...pair }) => pair);
    },

    async openAlertCount(env) {
      return database
        .env(env)
        .alerts.all()
        .filter(({ state }) => state === "open").length;
    },

    async radarPosition(env) {
      return database.env(env).radarPosition.get("") ?? null;
    },

    async arrivals(env, { after, before, limit }): Promise<Arrivals> {
      const tables = database.env(env);
      const show = (row: EventRow) => {
        const event = showEvent(row);
        return Buffer.byteLength(event.data) <= arrivalBytesMax ? event : { ...event, data: "null" };
      };
      const events = tables.events
        .all()
        .filter(({ id }) => id > after && id < before)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(show);
      const decisions = events.flatMap(({ id }) => tables.decisions.get(id) ?? []);
      const { rows, firstIds } = arrivalsOf(events, decisions);
      const firsts = firstIds.flatMap((id) => {
        const row = tables.events.get(id);
        return row === undefined ? [] : [show(row)];
      });
      return { rows, firsts };
    },
  };
}
