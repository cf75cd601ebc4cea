// GET /api/search: things that typed words may mean.
import { z } from "zod";
import { runStates } from "../../../model/run.ts";
import { apiRoute } from "../../api/api-route.ts";
import { pageWork } from "../../api/paging.ts";
import { eventsLooked, runsLooked, searchAll } from "../../search.ts";

const count = z.number().int();

export const search = apiRoute({
  method: "GET",
  path: "/api/search",
  summary: "Find functions, events, runs, keys and values by the words in `q`, which narrow each other",
  tag: "runs",
  query: { q: z.string().trim().min(1).max(200) },
  answer: z.object({
    runs: z
      .array(
        z.object({
          id: z.string(),
          function: z.string(),
          key: z.string().nullable(),
          state: z.enum(runStates),
          createdAt: count,
        }),
      )
      .describe(`By id, or of the newest ${runsLooked} by function and key`),
    functions: z.array(z.object({ id: z.string(), events: z.array(z.string()) })),
    events: z
      .array(
        z.object({
          name: z.string(),
          functions: z.array(z.string()),
          recentCount: count.describe(`Of the newest ${eventsLooked} events`),
          lastAt: count.nullable(),
        }),
      )
      .describe("By name: those that functions name, and those that came lately"),
    event: z.object({ id: z.string(), name: z.string() }).nullable().describe("The one event of this id"),
    values: z
      .array(
        z.object({
          ...{ event: z.string(), path: z.string(), value: z.string(), count },
          isAll: z.boolean().describe("False: there are more events with it than were counted"),
          eventId: z.string().describe("The newest of them"),
          isKept: z.boolean().describe("Found in all events since its field was chosen, by an index"),
        }),
      )
      .describe(
        `In the data of the newest ${eventsLooked} events, and of all where the field is chosen (/api/search/fields); \`value\` is JSON`,
      ),
    kept: z
      .array(z.object({ event: z.string(), fields: z.array(z.string()) }))
      .describe("Fields that are found however old their events are"),
    unheard: z
      .object({ name: z.string(), recentCount: count, lastAt: count, meant: z.string().nullable() })
      .nullable()
      .describe("An event of exactly this name came lately and starts nothing; perhaps another was meant"),
  }),
  handle: async ({ query, engine }) => {
    const found = await searchAll(engine, query.q, pageWork(engine));
    return {
      ...found,
      runs: [...found.runs],
      functions: found.functions.map(({ id, events }) => ({ id, events: [...events] })),
      events: found.events.map(({ functions, ...event }) => ({ ...event, functions: [...functions] })),
      values: [...found.values],
      kept: found.kept.map(({ event, fields }) => ({ event, fields: [...fields] })),
    };
  },
});
