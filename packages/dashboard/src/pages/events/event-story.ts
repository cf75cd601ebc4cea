import type { z } from "zod";
import type { ExplainedDecisionItem } from "../../../../idem/src/server/api/decision-shape.ts";
import type { EventItem, eventDetail } from "../../../../idem/src/server/api/event-shape.ts";
import type { RunItem } from "../../../../idem/src/server/api/run-shape.ts";
import { sendText } from "../../api/client.ts";

/** What GET /api/events/:event answers. */
export interface EventStory {
  readonly event: z.infer<typeof eventDetail>;
  readonly first: EventItem | null;
  readonly duplicates: readonly EventItem[];
  readonly decisions: readonly ExplainedDecisionItem[];
  readonly runs: readonly RunItem[];
}

/** What POST /api/events answers. */
export interface SentEvents {
  readonly ids: readonly string[];
  readonly decisions: readonly ExplainedDecisionItem[];
  readonly unmatched: boolean;
}

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
  return sendText("api/events", `{"events":[{"name":${JSON.stringify(name)}${idPart},"data":${data}}]}`);
}
