// GET /api/radar/alerts/:alert: one alert with its pairs, newest first.
import { z } from "zod";
import { readVerdicts, verdictKind } from "../../../observe/published-verdicts.ts";
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
    const { reads } = engine.store;
    const pairs = await reads.alertPairs(env, alert.id, filter);
    const verdict = readVerdicts(await reads.settings(env, verdictKind)).get(alert.fn);
    const name = engine.registry.get(alert.fn)?.config.id ?? alert.fn;
    const of = { name, module: verdict?.place?.file ?? null, store: null };
    return {
      alert: alertItemOf(alert, engine.registry.fullName(alert.fn)),
      pairs: pairs.map((pair) => pairItemOf(alert, pair, of)),
      deliveries: await deliveriesOf(reads, env, alert),
      next: pairs.length < limit ? null : pairs.at(-1)!.laterId,
    };
  },
});
