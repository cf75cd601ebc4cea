// Deliveries that become rows of the user's database, on SQLite and on PostgreSQL.
import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../../model/user-errors.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Adapter } from "../sql/adapter.ts";
import { eachDatabase, type TestDatabase } from "../sql/databases.suite.ts";
import type { CoalesceOptions } from "./coalesce.ts";
import { type ProcessedEvent, webhookProcessor } from "./processor.ts";
import { genericHmac } from "./providers/generic-hmac.ts";
import type { WebhookNote } from "./receive.ts";
import { signWebhook } from "./sign-webhook.ts";
import { type DatabaseWebhookOptions, webhook } from "./webhook.ts";

const provider = genericHmac({
  name: "shop",
  secrets: ["s"],
  header: "x-signature",
  read: (_delivery, payload) => payload as { id: string; type: string },
});
const table = "processed_webhook_events";
const paid = (over: object = {}) => JSON.stringify({ id: "evt_1", type: "paid", total: 10, ...over });

function receiverOn(store: Adapter<any>, over: Partial<DatabaseWebhookOptions<any>> = {}) {
  const notes: WebhookNote[] = [];
  const receive = webhook({ source: "shop", provider, store, onNote: (note) => notes.push(note), ...over });
  const deliver = (body: string | Uint8Array, secret = "s") => receive(signWebhook(provider, secret, body));
  return { deliver, notes };
}

function processorOn(store: Adapter<any>, work: (event: ProcessedEvent<any>) => unknown = () => {}, attempts = 3) {
  const seen: ProcessedEvent<any>[] = [];
  const dead: string[] = [];
  const processor = webhookProcessor({
    store,
    source: "shop",
    attempts,
    onDead: ({ id }) => dead.push(id),
    process: async (event) => {
      seen.push(event);
      await work(event);
    },
  });
  return { processor, seen, dead };
}

const rowsOf = (db: TestDatabase, columns: string) => db.rows(`select ${columns} from ${table} order by event_id`);

eachDatabase((open, dialect) => {
  describe("a delivery", () => {
    test("is a row before it is answered; again it is a duplicate, and processed once", async () => {
      const db = await open();
      const { deliver, notes } = receiverOn(db.adapter);
      const { processor, seen } = processorOn(db.adapter);
      expect((await deliver(paid())).status).toBe(200);
      expect(await rowsOf(db, "event_id, state")).toEqual([{ event_id: "evt_1", state: "persisted" }]);
      expect((await deliver(paid())).headers.get("idempotent-replayed")).toBe("true");
      expect(await processor.tick()).toBe(1);
      await deliver(paid());
      expect(await processor.tick()).toBe(0);
      expect(seen).toMatchObject([{ id: "evt_1", type: "paid", key: "shop:evt_1", payload: { total: 10 } }]);
      expect(await rowsOf(db, "state, deliveries")).toEqual([{ state: "done", deliveries: 3 }]);
      expect(notes.map(({ kind }) => kind)).toEqual(["kept", "duplicate", "duplicate"]);
    });

    test("twenty times at once, to two processes, is processed once", async () => {
      const db = await open();
      const receivers = [receiverOn(db.adapter), receiverOn(db.another())];
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => receivers[i % 2]!.deliver(paid())));
      expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null).length).toBe(1);
      const processors = [processorOn(db.adapter), processorOn(db.another())];
      await Promise.all(processors.map(({ processor }) => processor.tick()));
      expect(processors.flatMap(({ seen }) => seen).length).toBe(1);
    });

    test("with another payload under the same id is flagged, and the first one stays", async () => {
      const db = await open();
      const { deliver, notes } = receiverOn(db.adapter);
      await deliver(paid());
      expect((await deliver(paid({ total: 99 }))).status).toBe(200);
      const [row] = await rowsOf(db, "payload, conflicts");
      expect([JSON.parse(row.payload).total, row.conflicts]).toEqual([10, 1]);
      expect(notes[1]!.kind).toBe("conflicting-payload");
    });

    // Row 31 of the pitfalls.
    test("after four days is a duplicate, and after 36 a new one, reaped or not", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      const { processor, seen } = processorOn(db.adapter);
      await deliver(paid());
      await processor.tick();
      await db.age(table, 4 * 86_400_000);
      expect((await deliver(paid())).headers.get("idempotent-replayed")).toBe("true");
      expect(await processor.reap()).toBe(0);
      await db.age(table, 32 * 86_400_000);
      expect((await deliver(paid())).headers.get("idempotent-replayed")).toBeNull();
      await processor.tick();
      expect(seen.length).toBe(2);
      await db.age(table, 36 * 86_400_000);
      expect(await processor.reap()).toBe(1);
    });

    test("keeps its numbers to the letter", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      await deliver('{"id":"evt_1","type":"paid","big":9007199254740993}');
      expect((await rowsOf(db, "payload"))[0].payload).toContain("9007199254740993");
    });

    test("that is forged leaves no row; one that nobody can read waits in quarantine", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      const { processor } = processorOn(db.adapter);
      expect((await deliver(paid(), "other")).status).toBe(401);
      expect(await rowsOf(db, "event_id")).toEqual([]);
      for (let i = 0; i < 2; i++) expect((await deliver(Buffer.from([0xff, 0x00]))).status).toBe(200);
      expect((await deliver(paid({ id: "a\u0000b" }))).status).toBe(200);
      expect(await processor.tick()).toBe(0);
      expect((await processor.waiting()).map(({ state }) => state)).toEqual(["quarantined", "quarantined"]);
    });

    test("under another id is the same by its business key", async () => {
      const db = await open();
      const { deliver, notes } = receiverOn(db.adapter, { businessKey: ({ payload }) => ["paid", payload.order] });
      const { processor, seen } = processorOn(db.adapter);
      await deliver(paid({ order: 7 }));
      await deliver(paid({ id: "evt_2", order: 7 }));
      await processor.tick();
      expect(seen.length).toBe(1);
      expect(notes.map(({ kind }) => kind)).toEqual(["kept", "duplicate"]);
    });

    // Row 30 of the pitfalls.
    test("is never answered 2xx before it is durable: without tables it is 503, and the next try is processed once", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      await db.run(`alter table ${table} rename to away`);
      const failed = await deliver(paid());
      expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "5"]);
      await db.run(`alter table away rename to ${table}`);
      for (let i = 0; i < 2; i++) expect((await deliver(paid())).status).toBe(200);
      const { processor, seen } = processorOn(db.adapter);
      await processor.tick();
      expect(seen.length).toBe(1);
    });
  });

  describe("a processor", () => {
    test("tries again what failed, later each time, and gives it up where a person can have it tried again", async () => {
      const db = await open();
      let isBroken = true;
      const { deliver } = receiverOn(db.adapter);
      const { processor, seen, dead } = processorOn(db.adapter, () => {
        if (isBroken) throw new Error("not today");
      });
      await deliver(paid());
      for (let attempt = 1; attempt <= 3; attempt++) {
        expect(await processor.tick()).toBe(1);
        expect(await processor.tick()).toBe(0);
        await db.age(table, 600_000);
      }
      expect(await processor.tick()).toBe(0);
      expect(dead).toEqual(["evt_1"]);
      expect(await processor.waiting()).toMatchObject([{ id: "evt_1", state: "dead", reason: "Error: not today" }]);
      isBroken = false;
      expect([await processor.replay("evt_1"), await processor.replay("evt_2")]).toEqual([true, false]);
      await processor.tick();
      expect([await processor.waiting(), seen.length]).toEqual([[], 4]);
      expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
    });

    test("that was started looks by itself, and a stopped one does not", async () => {
      const db = await open();
      const timers = new Map<object, () => void>();
      const platform: Platform = {
        ...nodePlatform,
        timer: (_ms, run) => {
          const timer = { cancel: () => void timers.delete(timer) };
          timers.set(timer, run);
          return timer;
        },
      };
      let tell = () => {};
      const told = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const processor = webhookProcessor({ store: db.adapter, source: "shop", platform, process: () => tell() });
      await receiverOn(db.adapter).deliver(paid());
      processor.start();
      processor.start();
      const [look] = [...timers.values()];
      expect(timers.size).toBe(2);
      look!();
      await told;
      await processor.stop();
      expect(await rowsOf(db, "state")).toEqual([{ state: "done" }]);
    });

    test("does not try again what can never work", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      const { processor, dead } = processorOn(db.adapter, () => {
        throw new NonRetriableError("no such customer");
      });
      await deliver(paid());
      await processor.tick();
      expect(dead).toEqual(["evt_1"]);
    });

    test("that died is taken over once its lease is over; an event that ends its process three times is dead", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      await deliver(paid());
      for (let death = 0; death < 3; death++) {
        // Claimed, and never heard of again.
        await db.run(
          `update ${table} set state = 'processing', owner = 'gone', fence = fence + 1, attempts = attempts + 1, due_at = due_at + 60000`,
        );
        expect(await processorOn(db.adapter).processor.tick()).toBe(0);
        await db.age(table, 61_000);
      }
      const { processor, seen } = processorOn(db.adapter);
      expect([await processor.tick(), seen]).toEqual([0, []]);
      expect(await processor.waiting()).toMatchObject([{ state: "dead", attempts: 3 }]);
    });

    test("that lost its lease writes nothing over the one that has it now", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter);
      await deliver(paid());
      const second = processorOn(db.another());
      const first = processorOn(db.adapter, async () => {
        await db.age(table, 61_000);
        await second.processor.tick();
        throw new Error("too late");
      });
      await first.processor.tick();
      expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
      expect(await rowsOf(db, "state, reason")).toEqual([{ state: "done", reason: null }]);
    });

    test("in a transaction writes exactly once: what it wrote and that it is done are one commit", async () => {
      const db = await open();
      await db.run("create table bookings (id text)");
      const { deliver } = receiverOn(db.adapter);
      let isBroken = true;
      const write = (tx: any, id: string): unknown =>
        dialect === "sqlite"
          ? tx.prepare("insert into bookings (id) values (?)").run(id)
          : tx.query("insert into bookings (id) values ($1)", [id]);
      const processor = webhookProcessor({
        store: db.adapter,
        source: "shop",
        processInTransaction: (tx, { id }) => {
          const wrote = write(tx, id);
          if (isBroken) throw new Error("after the write");
          return dialect === "sqlite" ? undefined : wrote;
        },
      });
      await deliver(paid());
      await processor.tick();
      expect(await db.rows("select id from bookings")).toEqual([]);
      isBroken = false;
      await db.age(table, 600_000);
      await processor.tick();
      expect(await db.rows("select id from bookings")).toEqual([{ id: "evt_1" }]);
      expect(await rowsOf(db, "state, attempts")).toEqual([{ state: "done", attempts: 2 }]);
    });

    test("in a transaction that outlived its lease keeps nothing", async () => {
      const db = await open();
      await db.run("create table bookings (id text)");
      const { deliver } = receiverOn(db.adapter);
      await deliver(paid());
      const processor = webhookProcessor({
        store: db.adapter,
        source: "shop",
        processInTransaction: (tx: any) => {
          const steal = `update ${table} set fence = fence + 1, owner = 'another'`;
          const book = "insert into bookings (id) values ('x')";
          if (dialect === "sqlite") return void tx.exec(`${book}; ${steal}`);
          return tx.query(book).then(() => tx.query(steal));
        },
      });
      await processor.tick();
      expect(await db.rows("select id from bookings")).toEqual([]);
    });
  });

  // Row 34 of the pitfalls.
  describe("INSERTED and UPDATED of one thing", () => {
    const change = (id: string, kind: string, changed: string[] = [], entity = 7) =>
      JSON.stringify({ id, type: `Placement.${kind}`, changed, entity });
    const inserted = change("e1", "INSERTED");
    const updated = change("e2", "UPDATED", ["billRate"]);
    const options = (over: Partial<CoalesceOptions<any>> = {}): Partial<DatabaseWebhookOptions<any>> => ({
      normalise: ({ changed }) => ({ changed }),
      coalesce: { key: ({ payload }) => ["Placement", payload.entity], windowMs: 10_000, ...over },
    });

    test.each([
      ["in their order", [inserted, updated]],
      ["the other way round", [updated, inserted]],
      ["each three times", [inserted, updated, inserted, updated, updated, inserted]],
    ])("are processed once, when the window is over: %s", async (_name, bodies) => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter, options());
      const { processor, seen } = processorOn(db.adapter);
      for (const body of bodies) await deliver(body);
      expect(await processor.tick()).toBe(0);
      await db.age(table, 10_000);
      await processor.tick();
      expect(seen).toMatchObject([{ type: "Placement.INSERTED", changed: ["billRate"], wasNew: true }]);
      expect([...seen[0]!.carries].sort()).toEqual(["e1", "e2"]);
      const raw = await db.rows(
        `select event_id, state, carried_by from ${table} where kind = 'raw' order by event_id`,
      );
      expect(raw).toEqual(["e1", "e2"].map((event_id) => ({ event_id, state: "absorbed", carried_by: seen[0]!.id })));
    });

    test("at once, to two processes, are one", async () => {
      const db = await open();
      const receivers = [receiverOn(db.adapter, options()), receiverOn(db.another(), options())];
      const bodies = [inserted, updated, change("e3", "UPDATED", ["startDate"]), change("e4", "UPDATED", ["status"])];
      await Promise.all(bodies.flatMap((body) => receivers.map(({ deliver }) => deliver(body))));
      await db.age(table, 10_000);
      const { processor, seen } = processorOn(db.adapter);
      await processor.tick();
      expect(seen).toMatchObject([{ type: "Placement.INSERTED", changed: ["billRate", "startDate", "status"] }]);
      expect([...seen[0]!.carries].sort()).toEqual(["e1", "e2", "e3", "e4"]);
    });

    test("9 seconds apart, with a restart between, are one; 11 apart the second is one of its own, for it adds something", async () => {
      for (const [apartMs, count] of [
        [9_000, 1],
        [11_000, 2],
      ] as const) {
        const db = await open();
        await receiverOn(db.adapter, options()).deliver(inserted);
        await db.age(table, apartMs);
        await processorOn(db.adapter).processor.stop();
        const { processor, seen } = processorOn(db.another());
        await receiverOn(db.another(), options()).deliver(updated);
        await db.age(table, 10_000);
        await processor.tick();
        expect([apartMs, seen.length]).toEqual([apartMs, count]);
      }
    });

    test("late, and adding nothing, is absorbed and linked; next week it is not", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter, options());
      const { processor, seen } = processorOn(db.adapter);
      await deliver(inserted);
      await deliver(updated);
      await db.age(table, 10_000);
      await processor.tick();
      await deliver(change("e5", "UPDATED", ["billRate"]));
      const [late] = await db.rows(`select carried_by from ${table} where event_id = 'e5'`);
      expect(late.carried_by).toBe(seen[0]!.id);
      await db.age(table, 7 * 86_400_000);
      expect(await processor.tick()).toBe(0);
      await deliver(change("e6", "UPDATED", ["billRate"]));
      await db.age(table, 10_000);
      await processor.tick();
      expect(seen.map(({ type }) => type)).toEqual(["Placement.INSERTED", "Placement.UPDATED"]);
    });

    test("are processed as soon as both have come where two are expected", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter, options({ expects: 2 }));
      const { processor, seen } = processorOn(db.adapter);
      await deliver(inserted);
      expect(await processor.tick()).toBe(0);
      await deliver(updated);
      await processor.tick();
      expect(seen.length).toBe(1);
    });

    test("INSERTED and then DELETED is DELETED, of something that was new", async () => {
      const db = await open();
      const { deliver } = receiverOn(db.adapter, options());
      const { processor, seen } = processorOn(db.adapter);
      for (const body of [inserted, change("e9", "DELETED")]) await deliver(body);
      await db.age(table, 10_000);
      await processor.tick();
      expect(seen).toMatchObject([{ type: "Placement.DELETED", wasNew: true }]);
    });
  });
});
