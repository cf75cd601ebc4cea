// Row 35 of the pitfalls: a fetch consumes, and a process that dies before its commit must lose nothing.
import { describe, expect, test } from "vitest";
import { nodePlatform } from "../../../platform/node-platform.ts";
import { testIdem } from "../../../testing/test-idem.ts";
import { eachDatabase } from "../../sql/databases.suite.ts";
import { type ProcessedEvent, webhookProcessor } from "../processor.ts";
import { type BullhornBatch, type BullhornClient, type BullhornEvent, bullhornCoalesce } from "./bullhorn-event.ts";
import { bullhornPoller } from "./bullhorn-poller.ts";

/** Hands out each event once, keeps the batches it handed out, and forgets them when told. */
class FakeBullhorn {
  private waiting: BullhornEvent[] = [];
  private readonly batches = new Map<number, BullhornBatch>();
  private last = 0;
  private ids = 0;
  /** Set: the process dies with the answer in its hands. */
  diesAfterFetch = false;

  saves(entityId: number, ...types: BullhornEvent["entityEventType"][]): void {
    for (const entityEventType of types) {
      const updated = entityEventType === "UPDATED" ? { updatedProperties: ["billRate"] } : {};
      const eventId = `ID-${++this.ids}`;
      this.waiting.push({
        eventId,
        eventTimestamp: 1_700_000_000_000,
        entityName: "Placement",
        entityId,
        entityEventType,
        ...updated,
      });
    }
  }

  forget(requestId: number): void {
    this.batches.delete(requestId);
  }

  restart(): void {
    this.batches.clear();
    this.last = 0;
  }

  /** Somebody else reads our subscription. */
  steal(): void {
    this.take(100);
  }

  private take(maxEvents: number): BullhornBatch | null {
    const events = this.waiting.splice(0, maxEvents);
    if (events.length === 0) return null;
    const batch = { requestId: ++this.last, events };
    this.batches.set(batch.requestId, batch);
    return batch;
  }

  readonly client: BullhornClient = {
    fetch: async (_subscription, maxEvents, requestId) => {
      if (requestId !== undefined) return this.batches.get(requestId) ?? null;
      const batch = this.take(maxEvents);
      if (this.diesAfterFetch) {
        this.diesAfterFetch = false;
        throw new Error("the process died");
      }
      return batch;
    },
    lastRequestId: async () => (this.last === 0 ? null : this.last),
  };
}

describe("into the engine", () => {
  async function world(options: { coalesce?: boolean } = {}) {
    const bullhorn = new FakeBullhorn();
    const test = testIdem();
    const { idem, clock } = test;
    const ran: { name: string; data: any }[] = [];
    idem.createFunction({ id: "invoice" }, { event: "bullhorn/Placement.*" }, async ({ event, step }) =>
      step.run("invoice", () => ran.push({ name: event.name, data: event.data })),
    );
    const lost: number[] = [];
    idem.createFunction({ id: "scan" }, { event: "bullhorn/events_lost" }, async ({ event, step }) =>
      step.run("scan", () => lost.push(event.data.requestId)),
    );
    const poller = bullhornPoller({
      client: bullhorn.client,
      subscription: "placements",
      into: idem,
      platform: { ...nodePlatform, wallMs: () => clock.now() },
      maxEvents: 2,
      // Never by itself, within a test.
      cron: "0 0 29 2 *",
      ...(options.coalesce === true ? { coalesce: bullhornCoalesce() } : {}),
    });
    await idem.start();
    const pull = async () => {
      const pulling = poller.pull();
      for (let i = 0; i < 5; i++) await clock.advance("1m");
      return pulling;
    };
    return { ...test, bullhorn, ran, lost, pull };
  }

  test("what was handed out to a process that died is got again by its number; nothing is lost, nothing runs twice", async () => {
    const { bullhorn, ran, pull } = await world();
    bullhorn.saves(1, "INSERTED");
    expect(await pull()).toMatchObject({ eventCount: 1, reGotCount: 0 });
    bullhorn.saves(2, "INSERTED");
    bullhorn.diesAfterFetch = true;
    // The run's next attempt finds it.
    expect(await pull()).toMatchObject({ eventCount: 1, reGotCount: 1, lostCount: 0 });
    expect(await pull()).toMatchObject({ eventCount: 0, reGotCount: 0 });
    expect(ran.map(({ data }) => data.entityId)).toEqual([1, 2]);
  });

  test("a death in the very first pull loses nothing either", async () => {
    const { bullhorn, ran, pull } = await world();
    bullhorn.saves(1, "INSERTED");
    bullhorn.diesAfterFetch = true;
    await pull();
    expect(ran.map(({ data }) => data.entityId)).toEqual([1]);
  });

  test("a batch that cannot be got again is an alarm, and never passed over in silence", async () => {
    const { bullhorn, lost, ran, pull } = await world();
    bullhorn.saves(1, "INSERTED");
    await pull();
    bullhorn.saves(2, "INSERTED");
    bullhorn.steal();
    bullhorn.forget(2);
    bullhorn.saves(3, "INSERTED");
    expect(await pull()).toMatchObject({ eventCount: 1, lostCount: 1 });
    await pull();
    expect([lost, ran.map(({ data }) => data.entityId)]).toEqual([[2], [1, 3]]);
  });

  test("INSERTED and UPDATED of one placement are one run, also when they come in two batches", async () => {
    const { bullhorn, ran, pull } = await world({ coalesce: true });
    bullhorn.saves(7, "INSERTED", "UPDATED");
    bullhorn.saves(8, "UPDATED");
    bullhorn.saves(8, "INSERTED");
    await pull();
    expect(ran.map(({ name, data }) => [name, data.payload.entityId, data.changed])).toEqual([
      ["bullhorn/Placement.INSERTED", 7, ["billRate"]],
      ["bullhorn/Placement.INSERTED", 8, ["billRate"]],
    ]);
  });
});

eachDatabase((open) => {
  describe("into a database", () => {
    const table = "processed_webhook_events";
    async function world(coalesce = false) {
      const db = await open();
      const bullhorn = new FakeBullhorn();
      const lost: number[] = [];
      const pollerOn = (into = db.adapter) =>
        bullhornPoller({
          client: bullhorn.client,
          subscription: "placements",
          into,
          maxEvents: 2,
          onLost: ({ batchCount }) => lost.push(batchCount),
          ...(coalesce ? { coalesce: bullhornCoalesce() } : {}),
        });
      const seen: ProcessedEvent<BullhornEvent>[] = [];
      const processor = webhookProcessor<BullhornEvent>({
        store: db.adapter,
        source: "bullhorn",
        process: (event) => void seen.push(event),
      });
      return { db, bullhorn, pollerOn, lost, processor, seen };
    }

    test("what was handed out to a process that died is got again by its number; nothing is lost, nothing is processed twice", async () => {
      const { bullhorn, pollerOn, processor, seen } = await world();
      const poller = pollerOn();
      bullhorn.saves(1, "INSERTED");
      bullhorn.diesAfterFetch = true;
      await expect(poller.pull()).rejects.toThrow("the process died");
      expect(await pollerOn().pull()).toMatchObject({ eventCount: 1, reGotCount: 1 });
      bullhorn.saves(2, "INSERTED", "UPDATED", "DELETED");
      expect(await poller.pull()).toMatchObject({ eventCount: 3, reGotCount: 0, lostCount: 0 });
      await processor.tick();
      expect(seen.map(({ id }) => id).sort()).toEqual(["ID-1", "ID-2", "ID-3", "ID-4"]);
    });

    test("one process pulls at a time; where it died another does once its lease is over", async () => {
      const { db, bullhorn, pollerOn } = await world();
      bullhorn.saves(1, "INSERTED");
      await pollerOn().pull();
      await db.run("update idem_claims set state = 'in-flight', lease_until = 4102444800000, owner = 'other'");
      expect(await pollerOn(db.another()).pull()).toMatchObject({ kind: "in-flight" });
      await db.run("update idem_claims set lease_until = 1");
      expect(await pollerOn(db.another()).pull()).toMatchObject({ kind: "done" });
    });

    test("a puller that lost its lease commits neither events nor cursor, and the next one has both", async () => {
      const { db, bullhorn, pollerOn } = await world();
      const { fetch } = bullhorn.client;
      bullhorn.saves(1, "INSERTED");
      const stalled: BullhornClient = {
        ...bullhorn.client,
        fetch: async (...args) => {
          const batch = await fetch(...args);
          await db.run("update idem_claims set fence = fence + 1, owner = 'other', lease_until = 1");
          return batch;
        },
      };
      const poller = bullhornPoller({ client: stalled, subscription: "placements", into: db.adapter });
      await expect(poller.pull()).rejects.toThrow(/somebody else pulls/);
      expect(await db.rows(`select event_id from ${table}`)).toEqual([]);
      expect(await pollerOn().pull()).toMatchObject({ eventCount: 1, reGotCount: 1 });
    });

    test("a batch that cannot be got again, and a subscription made anew, are alarms and rows", async () => {
      const { bullhorn, pollerOn, lost, processor, seen } = await world(true);
      bullhorn.saves(1, "INSERTED");
      await pollerOn().pull();
      bullhorn.saves(2, "INSERTED");
      bullhorn.steal();
      bullhorn.forget(2);
      expect(await pollerOn().pull()).toMatchObject({ lostCount: 1 });
      bullhorn.restart();
      bullhorn.saves(3, "INSERTED");
      bullhorn.steal();
      expect(await pollerOn().pull()).toMatchObject({ lostCount: 1, reGotCount: 1 });
      expect(lost).toEqual([1, 1]);
      await processor.tick();
      expect(seen.map(({ type }) => type)).toEqual(["events_lost", "events_lost"]);
    });

    test("INSERTED and UPDATED of one placement are processed once", async () => {
      const { db, bullhorn, pollerOn, processor, seen } = await world(true);
      bullhorn.saves(7, "UPDATED", "INSERTED", "UPDATED");
      await pollerOn().pull();
      await db.age(table, 5_000);
      await processor.tick();
      expect(seen).toMatchObject([{ type: "Placement.INSERTED", wasNew: true, changed: ["billRate"] }]);
      expect(seen[0]!.carries.length).toBe(3);
    });
  });
});
