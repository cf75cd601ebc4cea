// GET /api/radar/alerts/:alert: one alert with its pairs, newest first.
import { z } from "zod";
import { deliveriesOf } from "../../../radar/alert-deliveries.ts";
import { apiRoute } from "../../api/api-route.ts";
import { beforeField, limitField, nextField } from "../../api/paging.ts";
import { alertItem, alertItemOf, findAlert, pairItem, pairItemOf } from "../../radar/alert-shape.ts";
import { deliveryItem } from "../../radar/channel-shape.ts";

export const readAlert = apiRoute({
  method: "GET",
  path: "/api/radar/alerts/:alert",
  summary: "Read an alert with the pairs that show it",
  tag: "radar",
  query: { before: beforeField, limit: limitField },
  answer: z.object({
    alert: alertItem,
    pairs: z.array(pairItem),
    deliveries: z.array(deliveryItem).describe("What became of telling each channel of it"),
    next: nextField,
  }),
  handle: async ({ params, query, engine, env }) => {
    const alert = await findAlert(engine, env, params.alert!);
    const { before, limit } = query;
    const filter = before === undefined ? { limit } : { limit, before };
    const pairs = await engine.store.reads.alertPairs(env, alert.id, filter);
    return {
      alert: alertItemOf(alert, engine.registry.fullName(alert.fn)),
      pairs: pairs.map(pairItemOf),
      deliveries: await deliveriesOf(engine.store.reads, env, alert),
      next: pairs.length < limit ? null : pairs.at(-1)!.laterId,
    };
  },
});
