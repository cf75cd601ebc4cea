// The re-get protocol. A fetch consumes, so a process that dies between the answer and its own commit would lose a batch; but every batch has
// a number, and the server gives it out again. So: what lies between the last number we committed and the server's last is got again first.
import type { BullhornBatch, BullhornClient, BullhornEvent } from "./bullhorn-event.ts";

export interface PulledBatch {
  readonly requestId: number;
  readonly events: readonly BullhornEvent[];
  /** The batch cannot be got again: an alarm is kept in its place. */
  readonly isLost: boolean;
}

export interface PullCursor {
  /** The last batch that is durable; null when nothing ever was. */
  read(lastRequestId: number | null): Promise<number | null>;
  /** Promise: the events and the cursor are one commit, refused once somebody else pulls. Repeat: changes nothing. */
  keep(batch: PulledBatch): Promise<void>;
}

export interface Pulled {
  readonly kind: "done";
  readonly eventCount: number;
  /** Batches that had been handed out but not committed, and were got again. */
  readonly reGotCount: number;
  /** Batches that could not be got again. Scan what was modified since: their events are gone. */
  readonly lostCount: number;
  /** There may be more at once. */
  readonly isMore: boolean;
}

export interface PullOptions {
  readonly client: BullhornClient;
  readonly subscription: string;
  readonly maxEvents: number;
}

// A pull is bounded; what is left comes with the next one.
const batchesMax = 50;

export async function pullEvents(
  { client, subscription, maxEvents }: PullOptions,
  cursor: PullCursor,
): Promise<Pulled> {
  const count = { events: 0, reGot: 0, lost: 0, batches: 0 };
  const keep = async (batch: PulledBatch): Promise<void> => {
    await cursor.keep(batch);
    count.events += batch.events.length;
    count.batches++;
  };
  const reGet = async (requestId: number): Promise<void> => {
    const batch = await client.fetch(subscription, maxEvents, requestId);
    if (batch === null) count.lost++;
    else count.reGot++;
    await keep({ requestId, events: batch?.events ?? [], isLost: batch === null });
  };
  const told = (isMore: boolean): Pulled => ({
    kind: "done",
    eventCount: count.events,
    reGotCount: count.reGot,
    lostCount: count.lost,
    isMore,
  });

  const last = await client.lastRequestId(subscription);
  let at = await cursor.read(last);
  if (at === null) {
    // Events fetched before us were somebody else's. Kept before the first fetch, so that a crash in it is found like any other.
    at = last ?? 0;
    await cursor.keep({ requestId: at, events: [], isLost: false });
  } else if (last !== null && last < at) {
    // The numbers began again: the subscription was made anew, and what it held before is gone.
    count.lost++;
    at = 0;
    await keep({ requestId: at, events: [], isLost: true });
  }
  for (; last !== null && at < last; at++) {
    if (count.batches >= batchesMax) return told(true);
    await reGet(at + 1);
  }
  for (;;) {
    if (count.batches >= batchesMax) return told(true);
    const batch: BullhornBatch | null = await client.fetch(subscription, maxEvents);
    if (batch === null) return told(false);
    // Somebody else fetched meanwhile, and may have died with it.
    for (let between = at + 1; between < batch.requestId; between++) await reGet(between);
    await keep({ ...batch, isLost: false });
    at = batch.requestId;
    if (batch.events.length < maxEvents) return told(false);
  }
}
