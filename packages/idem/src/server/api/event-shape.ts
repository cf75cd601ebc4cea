// Events as /api shows them.
import { z } from "zod";
import { type Event, publicEventId } from "../../model/event.ts";
import type { EventSummary } from "../../store/reads.ts";
import { type PayloadBudget, payloadSchema } from "./payloads.ts";

export const eventItem = z.object({
  internalId: z.string().describe("The stored event's own id, always unique"),
  id: z.string().describe("The sender's id, or the stored one"),
  name: z.string(),
  ts: z.number().int().describe("When it happened, by the sender's word"),
  receivedAt: z.number().int(),
  duplicateOf: z.string().nullable().describe("The event that was first, by its stored id"),
  sourceRunId: z.string().nullable().describe("The run whose step sent it"),
  dataBytes: z.number().int(),
});
export type EventItem = z.infer<typeof eventItem>;

export const eventDetail = eventItem.extend({
  data: payloadSchema.describe("Whole at /api/events/:event/data"),
  extra: z.unknown().describe("What else the sender attached: v, user, meta, and who invoked; null for nothing"),
});

export const eventItemOf = (event: EventSummary): EventItem => ({
  internalId: event.id,
  id: publicEventId(event),
  name: event.name,
  ts: event.ts,
  receivedAt: event.receivedAt,
  duplicateOf: event.firstEventId,
  sourceRunId: event.sourceRunId,
  dataBytes: event.dataBytes,
});

export const wholeEventItemOf = (event: Event): EventItem =>
  eventItemOf({ ...event, dataBytes: Buffer.byteLength(event.data) });

export const eventDetailOf = (event: Event, budget: PayloadBudget): z.infer<typeof eventDetail> => ({
  ...wholeEventItemOf(event),
  data: budget.show(event.data),
  extra: event.extra === null ? null : budget.show(event.extra).value,
});
