import { type Answer, pathOf, sendEvents } from "../../api/client.ts";

export type EventStory = Answer<"GET /api/events/:event">;
export type SentEvents = Answer<"POST /api/events">;

/** The path of its data, byte for byte. */
export const dataPath = (event: string): string => pathOf("/api/events/:event/data", { event });

/** `data` is JSON text and goes out as it is written. */
export function sendEvent({
  name,
  id,
  data,
}: {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}): Promise<SentEvents> {
  const idPart = id === "" ? "" : `,"id":${JSON.stringify(id)}`;
  return sendEvents(`{"events":[{"name":${JSON.stringify(name)}${idPart},"data":${data}}]}`);
}
