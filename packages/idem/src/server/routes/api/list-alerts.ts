// GET /api/radar/alerts: what ran twice, and what was suppressed although it was something else. Newest first.
import { z } from "zod";
import { alertStates } from "../../../store/alerts.ts";
import { apiRoute } from "../../api/api-route.ts";
import { beforeField, limitField, nextField } from "../../api/paging.ts";
import { alertItem, alertItemOf } from "../../radar/alert-shape.ts";

export const listAlerts = apiRoute({
  method: "GET",
  path: "/api/radar/alerts",
  summary: "List the radar's alerts, newest first",
  tag: "radar",
  query: {
    state: z.enum(alertStates).optional(),
    function: z.string().min(1).max(256).optional().describe("Alerts of this function"),
    before: beforeField,
    limit: limitField,
  },
  answer: z.object({ alerts: z.array(alertItem), openCount: z.number().int(), next: nextField }),
  handle: async ({ query, engine, env }) => {
    const { state, function: fn, before, limit } = query;
    const { reads } = engine.store;
    const filter = {
      limit,
      ...(state === undefined ? {} : { state }),
      ...(fn === undefined ? {} : { fn }),
      ...(before === undefined ? {} : { before }),
    };
    const [alerts, openCount] = await Promise.all([reads.alerts(env, filter), reads.openAlertCount(env)]);
    return {
      alerts: alerts.map((alert) => alertItemOf(alert, engine.registry.fullName(alert.fn))),
      openCount,
      next: alerts.length < limit ? null : alerts.at(-1)!.id,
    };
  },
});
