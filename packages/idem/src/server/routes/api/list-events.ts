// GET /api/events: what arrived, newest first, without payloads.
import { z } from "zod";
import { eventOutcomes } from "../../../model/decision.ts";
import { wordOf } from "../../../model/event-values.ts";
import { ulidTime } from "../../../model/ulid.ts";
import type { EventPageFilter, EventSummary, Page, StoreReads } from "../../../store/reads.ts";
import { apiRoute } from "../../api/api-route.ts";
import { type DecisionItem, decisionItem, decisionItemOf } from "../../api/decision-shape.ts";
import { type EventItem, eventItem, eventItemOf, wholeEventItemOf } from "../../api/event-shape.ts";
import { boundsOf, examinedMax, lookedBackToField, nextField, pageFields } from "../../api/paging.ts";

// Each is a look into an index; so many at once fill the way to a database without standing in everybody's line.
const decidedAtOnce = 25;

// Each is looked up in what was decided; a fifth of what a page may look at without that.
const decidedExaminedMax = examinedMax / 5;
// One after the other, so that commits of others get in between.
const looksMax = 5;

const valuesMax = 100;

const listedEvent = eventItem.extend({
  decisions: z.array(decisionItem).optional().describe("Where they were asked for"),
});

export const listEvents = apiRoute({
  method: "GET",
  path: "/api/events",
  summary: "List events, newest first",
  tag: "events",
  query: {
    name: z.string().min(1).max(256).optional().describe("Exactly this name"),
    fn: z.string().min(1).max(256).optional().describe("Something was decided for this function"),
    outcome: z
      .enum(eventOutcomes)
      .optional()
      .describe(
        "What became of it, for any function or for `fn`. `nothing`: no run answers for it and none is to come; `unheard`: no function listens",
      ),
    value: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Only events with this value in a field that is searched by (/api/search/fields), the newest 100"),
    decisions: z.literal("true").optional().describe("With what was decided for each"),
    ...pageFields,
  },
  answer: z.object({ events: z.array(listedEvent), next: nextField, lookedBackTo: lookedBackToField }),
  handle: async ({ query, engine, env, now }) => {
    const { name, fn, outcome, before, value } = query;
    if (value !== undefined) {
      const found = await eventsWith(engine.store.reads, env, value);
      const whole = { next: null, lookedBackTo: null };
      if (query.decisions === undefined) return { events: found, ...whole };
      const told = await decisionsOf(engine.store.reads, env, found);
      return { events: found.map((event, at) => ({ ...event, decisions: told[at]! })), ...whole };
    }
    const { rows, next } = await lookForEvents(engine.store.reads, env, {
      ...boundsOf(query, now),
      ...(fn === undefined && outcome === undefined ? {} : { examinedMax: decidedExaminedMax }),
      ...(fn === undefined ? {} : { fn }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(name === undefined ? {} : { name }),
      ...(before === undefined ? {} : { before }),
    });
    const lookedBackTo = next === null || rows.length === query.limit ? null : ulidTime(next);
    const events = rows.map(eventItemOf);
    if (query.decisions === undefined) return { events, next, lookedBackTo };
    const decided = await decisionsOf(engine.store.reads, env, events);
    return { events: events.map((event, at) => ({ ...event, decisions: decided[at]! })), next, lookedBackTo };
  },
});

async function lookForEvents(
  reads: StoreReads,
  env: string,
  { limit, ...filter }: EventPageFilter,
): Promise<Page<EventSummary, string>> {
  const rows: EventSummary[] = [];
  let next = filter.before ?? null;
  for (let looks = 0; looks < looksMax && rows.length < limit && (looks === 0 || next !== null); looks++) {
    const page = await reads.eventPage(env, {
      ...filter,
      limit: limit - rows.length,
      ...(next === null ? {} : { before: next }),
    });
    rows.push(...page.rows);
    next = page.next;
  }
  return { rows, next };
}

async function eventsWith(reads: StoreReads, env: string, value: string): Promise<EventItem[]> {
  const found = await reads.valuesFound(env, { word: wordOf(value), limit: valuesMax });
  const ids = [...new Set(found.map(({ eventId }) => eventId))];
  const events = await Promise.all(ids.map((id) => reads.event(env, id)));
  return events.flatMap((event) => (event === null ? [] : [wholeEventItemOf(event)]));
}

async function decisionsOf(reads: StoreReads, env: string, events: readonly EventItem[]): Promise<DecisionItem[][]> {
  const decided: DecisionItem[][] = [];
  for (let from = 0; from < events.length; from += decidedAtOnce) {
    const some = events.slice(from, from + decidedAtOnce);
    const read = await Promise.all(some.map(({ internalId }) => reads.decisionsOfEvent(env, internalId)));
    decided.push(...read.map((decisions) => decisions.map(decisionItemOf)));
  }
  return decided;
}
