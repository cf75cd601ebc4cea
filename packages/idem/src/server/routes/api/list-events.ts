// GET /api/events: what arrived, newest first, without payloads.
import { z } from "zod";
import { eventOutcomes } from "../../../model/decision.ts";
import { wordOf } from "../../../model/event-values.ts";
import { ulidTime } from "../../../model/ulid.ts";
import type { EventPageFilter, EventSummary, Page, StoreReads } from "../../../store/reads.ts";
import { apiRoute } from "../../api/api-route.ts";
import { decisionItem, decisionItemOf } from "../../api/decision-shape.ts";
import { type EventItem, eventItem, eventItemOf, wholeEventItemOf } from "../../api/event-shape.ts";
import { heardNames } from "../../api/heard-names.ts";
import { boundsOf, decidedExaminedMax, lookedBackToField, nextField, pageFields } from "../../api/paging.ts";

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
    const { reads } = engine.store;
    const asAsked = async (events: EventItem[]) =>
      query.decisions === undefined ? events : withDecisions(reads, env, events);
    if (value !== undefined) {
      const found = await eventsWith(reads, env, value);
      return { events: await asAsked(found), next: null, lookedBackTo: null };
    }
    const heard = outcome === "unheard" ? await heardNames(engine) : null;
    const isListed = ({ name: of }: EventSummary): boolean => heard?.has(of) !== true;
    const { rows, next } = await lookForEvents(reads, env, isListed, {
      ...boundsOf(query, now),
      ...(fn === undefined && outcome === undefined ? {} : { examinedMax: decidedExaminedMax }),
      ...(fn === undefined ? {} : { fn }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(name === undefined ? {} : { name }),
      ...(before === undefined ? {} : { before }),
    });
    const lookedBackTo = next === null || rows.length === query.limit ? null : ulidTime(next);
    return { events: await asAsked(rows.map(eventItemOf)), next, lookedBackTo };
  },
});

async function lookForEvents(
  reads: StoreReads,
  env: string,
  isListed: (event: EventSummary) => boolean,
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
    rows.push(...page.rows.filter(isListed));
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

async function withDecisions(reads: StoreReads, env: string, events: readonly EventItem[]) {
  const ids = events.map(({ internalId }) => internalId);
  const decided = await reads.decisionsOfEvents(env, ids);
  return events.map((event, at) => ({ ...event, decisions: decided[at]!.map(decisionItemOf) }));
}
