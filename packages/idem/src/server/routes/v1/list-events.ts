// GET /v1/events: events with their data, newest first. A page ends early rather than weigh too much; the last event's
// internal_id is the cursor of the next.
import { z } from "zod";
import type { Event } from "../../../model/event.ts";
import { restEvent } from "../../../protocol/rest-shapes.ts";
import { examinedMax } from "../../api/paging.ts";
import { instantText, readInstant } from "../../read-input.ts";
import { v1Route } from "../../v1-route.ts";

const limitDefault = 20;
const limitMax = 100;
// A hundred of the largest events would be fifty megabytes.
const pageBytesMax = 4 * 1024 * 1024;

export const listEvents = v1Route({
  method: "GET",
  path: "/v1/events",
  query: {
    limit: z.coerce.number().int().min(1).max(limitMax).default(limitDefault),
    cursor: z.string().min(1).max(64).optional(),
    name: z.string().min(1).max(256).optional(),
    received_after: instantText.optional(),
    received_before: instantText.optional(),
  },
  handle: async ({ query, engine, env, now }) => {
    const { limit, cursor, name, received_after: after, received_before: until } = query;
    const { reads } = engine.store;
    const range = {
      ...(name === undefined ? {} : { name }),
      ...(after === undefined ? {} : { since: readInstant("received_after", after, now) }),
      ...(until === undefined ? {} : { until: readInstant("received_before", until, now) }),
    };
    const events: Event[] = [];
    let bytes = 0;
    let before = cursor ?? null;
    // The envelope has no place for "there is more behind an empty page", so a rare name is looked for a little longer.
    for (let pages = 0; pages < pagesMax && events.length < limit; pages++) {
      const page = await reads.eventPage(env, {
        ...range,
        limit: limit - events.length,
        examinedMax,
        ...(before === null ? {} : { before }),
      });
      for (const { id, dataBytes } of page.rows) {
        bytes += dataBytes;
        if (bytes > pageBytesMax && events.length > 0) return shown(events, env);
        const event = await reads.event(env, id);
        if (event !== null) events.push(event);
      }
      if (page.next === null) break;
      before = page.next;
    }
    return shown(events, env);
  },
});

const pagesMax = 20;

const shown = (events: readonly Event[], env: string) => events.map((event) => restEvent(event, env));
