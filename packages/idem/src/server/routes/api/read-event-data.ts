// GET /api/events/:event/data: the data as it was received, byte for byte.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { findEvent } from "../../../observe/find-event.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { storedJson } from "../../api/payloads.ts";

export const readEventData = apiRoute({
  method: "GET",
  path: "/api/events/:event/data",
  summary: "Read an event's data as it was received",
  tag: "events",
  answer: z.looseObject({}),
  handle: async ({ params, engine }) => {
    const event = await findEvent(engine, params.event!);
    if (event === null) throw errors.SUBJECT_UNKNOWN({ id: params.event! });
    return new RawAnswer(storedJson(event.data));
  },
});
