// The cursor as events of the engine: each batch is sent together with an event that says "this number is in", in one commit. Where we are is
// found from the server's last number backwards: the first one that is in.
import type { Deliveries } from "../../../sdk/inside.ts";
import type { Coalescing } from "../coalesce.ts";
import { rawEvent } from "../coalesce-in-engine.ts";
import { dataOf } from "../keep-in-engine.ts";
import { pastOf } from "../send-once.ts";
import { type BullhornEvent, webhookEventOf } from "./bullhorn-event.ts";
import type { PullCursor, PulledBatch } from "./pull-events.ts";

export interface EngineCursor {
  readonly deliveries: Deliveries;
  readonly source: string;
  readonly subscription: string;
  readonly coalesce: Coalescing | null;
  readonly now: () => number;
}

// As long as the engine lets an id be taken. Unread events are purged after 7 days, so nothing older can be got again.
const window = "366d";
// Batches that were handed out and not committed; every pull commits before it fetches the next one, so one is the rule.
const looksMax = 1_000;

export function engineCursor({ deliveries, source, subscription, coalesce, now }: EngineCursor): PullCursor {
  const numberId = (requestId: number) => `${source}:request-${requestId}`;
  const beginId = `${source}:puller`;
  const eventOf = (event: BullhornEvent) => {
    const read = webhookEventOf(source, event);
    const { ts, ...rest } =
      coalesce === null
        ? { id: `${source}:${read.id}`, name: `${source}/${read.type}`, data: dataOf(read), ts: read.at }
        : rawEvent({ source, coalesce }, read);
    return { ...rest, ...pastOf(ts, now()) };
  };
  return {
    async read(last) {
      if ((await deliveries.get(beginId)) === null) return null;
      const from = last ?? 0;
      for (let at = from; at > from - looksMax && at > 0; at--) {
        if ((await deliveries.get(numberId(at))) !== null) return at;
      }
      return Math.max(0, from - looksMax);
    },
    async keep({ requestId, events, isLost }: PulledBatch) {
      const data = { subscription, requestId };
      // Without an id: it is in the commit that passes over the batch, and so comes once.
      const lost = { name: `${source}/events_lost`, data };
      await deliveries.send(
        [
          ...events.map(eventOf),
          ...(isLost ? [lost] : []),
          { id: numberId(requestId), name: `${source}/pulled`, data: { ...data, eventCount: events.length } },
          // Of the first pull ever; a duplicate ever after.
          { id: beginId, name: `${source}/pulling`, data: { subscription } },
        ],
        { window },
      );
    },
  };
}
