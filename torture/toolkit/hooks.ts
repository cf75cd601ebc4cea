// The shop's sources: a provider that delivers again until it is answered, and one whose events are fetched, which consumes them.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BullhornClient, bullhornPoller, stripe, webhook, webhookProcessor } from "idem/webhooks";
import type { Points } from "./points.ts";
import { chargesOf, engineOf, lazily, openDatabase, type ShopPlace } from "./stores.ts";

export interface Hooks {
  handle(request: Request): Promise<Response>;
}

export const secret = "whsec_of_the_bank";
export const provider = stripe({ secrets: [secret] });

/** The other side of a subscription, in a file: it goes on when the process that asked is gone. */
export interface Subscription {
  /** Not handed out yet. */
  waiting: string[];
  /** By their request ids, from 1. */
  batches: string[][];
}

export const subscriptionOf = (folder: string): string => join(folder, "subscription.json");

export async function openHooks(place: ShopPlace, points: Points): Promise<Hooks> {
  const { adapter } = await openDatabase(place, points);
  const book = (id: string, key: string): void => {
    points.reach("effect:before", id);
    appendFileSync(chargesOf(place.folder), `${id} ${key}\n`);
    points.reach("effect:after", id);
  };
  const receive = webhook({ source: "bank", provider, store: adapter });
  const processor = webhookProcessor({
    store: adapter,
    source: "bank",
    process: ({ id, key }) => book(id, key),
    report: () => {},
  });
  const pulled = webhookProcessor({
    store: adapter,
    source: "bullhorn",
    process: ({ id, key }) => book(id, key),
    report: () => {},
  });
  const client = subscriptionClient(place.folder, points);
  const poller = bullhornPoller({ client, subscription: "placements", into: adapter, maxEvents: 2 });

  const engine = lazily(async () => {
    const idem = await engineOf(place, points);
    idem.createFunction({ id: "book" }, { event: "bank/paid" }, ({ event, step }) =>
      step.run("book", ({ key }) => book(event.data.id, key)),
    );
    await idem.start();
    return { idem, receive: webhook({ source: "bank", provider, idem }) };
  });

  const routes: Record<string, (request: Request) => Promise<Response>> = {
    "/bank": receive,
    "/bank-run": async (request) => (await engine.get()).receive(request),
    "/process": async () => Response.json((await processor.tick()) + (await pulled.tick())),
    /** Answers when nothing is left to do. */
    "/settle": async () => {
      const { idem } = await engine.get();
      const runs = await idem.runs.list({ limit: 100 });
      return Response.json(await Promise.all(runs.map(({ id }) => idem.runs.wait(id))));
    },
    "/pull": async () => Response.json(await poller.pull()),
  };
  return { handle: (request) => routes[new URL(request.url).pathname]!(request) };
}

function subscriptionClient(folder: string, points: Points): BullhornClient {
  const path = subscriptionOf(folder);
  const read = (): Subscription => JSON.parse(readFileSync(path, "utf8"));
  const batchOf = ({ batches }: Subscription, requestId: number) => ({
    requestId,
    events: batches[requestId - 1]!.map((eventId) => ({
      eventId,
      eventTimestamp: 1_700_000_000_000,
      entityName: "Placement",
      entityId: 7,
      entityEventType: "UPDATED" as const,
    })),
  });
  return {
    lastRequestId: async () => read().batches.length || null,
    fetch: async (_, maxEvents, requestId) => {
      const subscription = read();
      if (requestId !== undefined) return batchOf(subscription, requestId);
      const events = subscription.waiting.splice(0, maxEvents);
      if (events.length === 0) return null;
      subscription.batches.push(events);
      writeFileSync(path, JSON.stringify(subscription));
      points.reach("fetched");
      return batchOf(subscription, subscription.batches.length);
    },
  };
}
