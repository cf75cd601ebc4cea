// /api/search/fields: which fields of which events are searched by. Values of these are kept with every such event from then on, so that all of them
// are found and not only the newest. Kept as settings: every node goes by them from the next event on, and the audit knows who chose.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { fieldPath, fieldsMax } from "../../../model/event-values.ts";
import { searchKind } from "../../../store/event-values.ts";
import { apiRoute } from "../../api/api-route.ts";

const tag = "events";
// Each is a row with every event of that name, and a line in a table that people read.
const namesMax = 50;

const chosenItem = z.object({
  event: z.string(),
  fields: z.array(z.string()).describe("As expressions write them: event.data.orderId"),
  since: z.number().int().describe("When it was chosen: values of earlier events are not kept"),
});

export const listSearchFields = apiRoute({
  method: "GET",
  path: "/api/search/fields",
  summary: "List the fields of events that are searched by",
  tag,
  answer: z.object({ chosen: z.array(chosenItem).describe("By the event's name") }),
  handle: async ({ engine, env }) => ({
    chosen: (await engine.store.reads.settings(env, searchKind)).map(({ name, value, changedAt }) => ({
      event: name,
      fields: JSON.parse(value) as string[],
      since: changedAt,
    })),
  }),
});

export const putSearchFields = apiRoute({
  method: "PUT",
  path: "/api/search/fields/:event",
  summary: "Choose the fields that events of this name are searched by, from the next one on",
  tag,
  body: { fields: z.array(z.string().min(1).max(500)).min(1).max(fieldsMax) },
  answer: z.object({ event: z.string(), fields: z.array(z.string()) }),
  handle: async ({ params, body, engine, env, actor }) => {
    const event = params.event!;
    if (event.length > 256) throw errors.REQUEST_INVALID({ why: "no event has so long a name" });
    const fields = [...new Set(body.fields.map((text) => pathOf(text)))];
    const chosen = await engine.store.reads.settings(env, searchKind);
    if (chosen.length >= namesMax && !chosen.some(({ name }) => name === event))
      throw errors.REQUEST_INVALID({ why: `fields of ${namesMax} events are chosen, which is the most there can be` });
    const reason = `searched by ${fields.join(", ")}`;
    const setting = { env, kind: searchKind, name: event, over: null, reason, actor: actor.name };
    await engine.store.set({ ...setting, value: JSON.stringify(fields) });
    await engine.registry.refresh();
    return { event, fields };
  },
});

export const removeSearchFields = apiRoute({
  method: "DELETE",
  path: "/api/search/fields/:event",
  summary: "Keep no more values of events of this name; those that are kept go with their events",
  tag,
  answer: z.object({ removed: z.string() }),
  handle: async ({ params, engine, env, actor }) => {
    const name = params.event!;
    const setting = { env, kind: searchKind, name, over: null, reason: "no longer searched by", actor: actor.name };
    await engine.store.set({ ...setting, value: null });
    await engine.registry.refresh();
    return { removed: name };
  },
});

function pathOf(text: string): string {
  const path = fieldPath(text);
  if (path !== null) return path;
  const why = `"fields": ${JSON.stringify(text.slice(0, 60))} names no field of data, such as orderId or customer.email; up to four names deep, no lists`;
  throw errors.REQUEST_INVALID({ why });
}
