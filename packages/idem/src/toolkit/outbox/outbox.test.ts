import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../../model/user-errors.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { testIdem } from "../../testing/test-idem.ts";
import type { Adapter } from "../sql/adapter.ts";
import { eachDatabase, type TestDatabase } from "../sql/databases.suite.ts";
import { sqlOf } from "../sql/operation.ts";
import { createOutbox, type DispatchOptions } from "./create-outbox.ts";
import type { MessageTask } from "./dispatcher.ts";
import type { OutboxEvent } from "./message.ts";
import { claimMessages } from "./messages.ts";
import type { PutMessage } from "./put-message.ts";

type Order = { readonly n: number };

let seeds = 0;
const order = (n: number) => ({ name: "order/placed", data: { n } });

function outboxOn(adapter: Adapter<any>) {
  const reported: string[] = [];
  const outbox = createOutbox(adapter, {
    onDead: "block",
    platform: new ManualPlatform({ seed: ++seeds }),
    report: (what) => reported.push(what),
  });
  /** In a transaction of its own. */
  const send = (event: OutboxEvent, options = {}): Promise<PutMessage> =>
    adapter.bodies === "sync"
      ? adapter.transaction((tx) => (outbox as any).sendSync(tx, event, options))
      : adapter.transaction((tx) => outbox.send(tx, event, options));
  /** One process that looks until there is nothing to do, and leaves. */
  const drain = async (task: MessageTask, options: DispatchOptions = {}) => {
    const dispatching = outbox.dispatch({ "order/placed": task }, options);
    await dispatching.idle();
    await dispatching.stop();
  };
  return { outbox, send, drain, reported };
}

/** A process that claims and dies. */
const claimAndDie = (db: TestDatabase, max = 1) =>
  db.adapter.perform(claimMessages(sqlOf(db.dialect), { owner: "dead", leaseMs: 30_000, max, topics: null }));

eachDatabase((open, dialect) => {
  test("a message is handed on if its transaction committed, and never if it did not", async () => {
    const db = await open();
    const { outbox, send, drain } = outboxOn(db.adapter);
    await send(order(1));
    const failed = db.adapter.transaction((tx) => {
      if (db.adapter.bodies === "sync") (outbox as any).sendSync(tx, order(2));
      else return outbox.send(tx, order(2)).then(() => Promise.reject(new Error("no stock")));
      throw new Error("no stock");
    });
    await expect(failed).rejects.toThrow("no stock");
    const seen: unknown[] = [];
    await drain((message) => void seen.push(message.data));
    await drain((message) => void seen.push(message.data));
    expect(seen).toEqual([{ n: 1 }]);
  });

  test("a dedup key that is taken adds nothing and answers with the first message", async () => {
    const db = await open();
    const { send, drain } = outboxOn(db.adapter);
    const first = await send(order(1), { dedupKey: "receipt:7" });
    const second = await send(order(2), { dedupKey: "receipt:7" });
    expect([first.added, second]).toEqual([true, { added: false, id: first.id }]);
    const withId = await send({ ...order(3), id: "order-3" });
    expect(await send({ ...order(3), id: "order-3" })).toEqual({ added: false, id: withId.id });
    const seen: number[] = [];
    await drain((message) => void seen.push((message.data as Order).n));
    expect(seen).toEqual([1, 3]);
    expect((await send(order(4), { dedupKey: "receipt:7" })).added).toBe(false);
  });

  test("a message whose process died is handed on again, with the same id", async () => {
    const db = await open();
    const { send, drain } = outboxOn(db.adapter);
    const { id } = await send(order(1));
    expect(await claimAndDie(db)).toHaveLength(1);
    const seen: unknown[] = [];
    const task: MessageTask = (message, { attempt }) => void seen.push([message.id, attempt]);
    await drain(task);
    expect(seen).toEqual([]);
    await db.age("idem_outbox", 31_000);
    await drain(task);
    expect(seen).toEqual([[id, 2]]);
  });

  test("a message that ends its process three times is dead, and messages of other order keys are not touched", async () => {
    const db = await open();
    const { outbox, send, drain, reported } = outboxOn(db.adapter);
    const { id } = await send(order(1), { orderKey: "a" });
    await send(order(2), { orderKey: "a" });
    for (let start = 1; start <= 3; start++) {
      expect(await claimAndDie(db, 5)).toMatchObject([{ id, started: start }]);
      await db.age("idem_outbox", 31_000);
    }
    await send(order(3), { orderKey: "b" });
    const seen: number[] = [];
    await drain((message) => void seen.push((message.data as Order).n));
    expect(seen).toEqual([3]);
    expect(await outbox.dead()).toMatchObject([{ id, reason: "poison", isBlocking: true, orderKey: "a" }]);
    expect(reported).toEqual([`message ${id} is dead`]);
    expect(await outbox.drop(id)).toBe(true);
    await drain((message) => void seen.push((message.data as Order).n));
    expect(seen).toEqual([3, 2]);
  });

  test("messages of one order key are handed on one after the other, others beside them", async () => {
    const db = await open();
    const { send, drain } = outboxOn(db.adapter);
    for (const n of [1, 2, 3]) await send(order(n), { orderKey: "a" });
    await send(order(10));
    let atOnce = 0;
    const seen: number[] = [];
    await drain(
      async (message) => {
        if (message.orderKey === null) return;
        expect(++atOnce).toBe(1);
        await new Promise(setImmediate);
        seen.push((message.data as Order).n);
        atOnce--;
      },
      { concurrency: 8 },
    );
    expect(seen).toEqual([1, 2, 3]);
  });

  test("a message that fails holds up its own order key, is tried again later, and dies when its attempts are used up", async () => {
    const db = await open();
    const { outbox, send, drain } = outboxOn(db.adapter);
    const { id } = await send(order(1), { orderKey: "a" });
    await send(order(2), { orderKey: "a" });
    const tried: number[] = [];
    const task: MessageTask = (message) => {
      tried.push((message.data as Order).n);
      if ((message.data as Order).n === 1) throw new Error("503");
    };
    await drain(task, { attempts: 2 });
    await drain(task, { attempts: 2 });
    expect(tried).toEqual([1]);
    await db.age("idem_outbox", 5_000);
    await drain(task, { attempts: 2 });
    expect(tried).toEqual([1, 1]);
    expect(await outbox.dead()).toMatchObject([{ id, reason: "Error: 503", attempts: 2 }]);
    expect(await outbox.retry(id)).toBe(true);
    await drain((message) => void tried.push((message.data as Order).n));
    expect(tried).toEqual([1, 1, 1, 2]);
    expect(await outbox.retry(id)).toBe(false);
  });

  test("what says that trying again cannot help is dead at once", async () => {
    const db = await open();
    const { outbox, send, drain } = outboxOn(db.adapter);
    await send(order(1));
    await drain(() => {
      throw new NonRetriableError("no such address");
    });
    expect(await outbox.dead()).toMatchObject([{ reason: "NonRetriableError: no such address", isBlocking: false }]);
  });

  test("behind a dead message of an outbox that skips, the next one goes on", async () => {
    const db = await open();
    const { adapter } = db;
    const outbox = createOutbox(adapter, {
      onDead: "skip",
      platform: new ManualPlatform({ seed: ++seeds }),
      report: () => {},
    });
    const seen: number[] = [];
    await adapter.transaction((tx) => {
      const events = [order(1), order(2)];
      return adapter.bodies === "sync"
        ? void (outbox as any).sendSync(tx, events, { orderKey: "a" })
        : outbox.send(tx, events, { orderKey: "a" });
    });
    const dispatching = outbox.dispatch({
      "order/placed": (message) => {
        if ((message.data as Order).n === 1) throw new NonRetriableError("no");
        seen.push((message.data as Order).n);
      },
    });
    await dispatching.idle();
    await dispatching.stop();
    expect(seen).toEqual([2]);
  });

  test("two dispatchers never have the same message", async () => {
    const db = await open();
    const { send } = outboxOn(db.adapter);
    for (let n = 0; n < 30; n++) await send(order(n));
    const seen: number[] = [];
    const several = [db.adapter, db.another(), db.another()].map((adapter) =>
      outboxOn(adapter).drain((message) => void seen.push((message.data as Order).n), { concurrency: 4 }),
    );
    await Promise.all(several);
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });

  test("a message is not handed on before its time, nor one of a topic nobody takes", async () => {
    const db = await open();
    const { send, drain } = outboxOn(db.adapter);
    const [{ now }] = await db.rows(
      dialect === "postgres"
        ? "select cast(extract(epoch from now()) * 1000 as bigint) as now"
        : "select cast((julianday('now') - 2440587.5) * 86400000 as integer) as now",
    );
    await send(order(1), { notBefore: Number(now) + 3_600_000 });
    await send({ name: "order/lost", data: {} });
    const seen: number[] = [];
    await drain((message) => void seen.push((message.data as Order).n));
    expect(seen).toEqual([]);
    await db.age("idem_outbox", 3_600_001);
    await drain((message) => void seen.push((message.data as Order).n));
    expect(seen).toEqual([1]);
  });

  test("a late ending of a try that lost its message changes nothing", async () => {
    const db = await open();
    const { send, drain } = outboxOn(db.adapter);
    await send(order(1));
    let fail = (_error: Error) => {};
    const slow = drain(() => new Promise((_, reject) => (fail = reject)));
    await expect.poll(async () => (await db.rows("select started from idem_outbox"))[0].started).toBe(1);
    await db.age("idem_outbox", 31_000);
    await outboxOn(db.another()).drain(() => {});
    fail(new Error("too late"));
    await slow;
    expect(await db.rows("select state, started, finished, reason from idem_outbox")).toEqual([
      { state: "done", started: 2, finished: 1, reason: null },
    ]);
  });

  test("done messages are deleted after 7 days, dead ones after 30, and those that block never", async () => {
    const db = await open();
    const { outbox, send, drain } = outboxOn(db.adapter);
    await send(order(1));
    await drain(() => {});
    await send(order(2));
    await send(order(3), { orderKey: "a" });
    await drain(() => {
      throw new NonRetriableError("no");
    });
    const day = 86_400_000;
    await db.age("idem_outbox", 6 * day);
    expect(await outbox.reap()).toBe(0);
    await db.age("idem_outbox", 2 * day);
    expect(await outbox.reap()).toBe(1);
    await db.age("idem_outbox", 30 * day);
    expect(await outbox.reap()).toBe(1);
    expect(await outbox.dead()).toMatchObject([{ isBlocking: true }]);
  });

  test("an order key is refused by an outbox that was not told onDead", async () => {
    const db = await open();
    const outbox = createOutbox(db.adapter, { platform: new ManualPlatform({ seed: ++seeds }) });
    const sending = db.adapter.transaction((tx) => {
      // @ts-expect-error: not without onDead
      const options: NonNullable<Parameters<typeof outbox.send>[2]> = { orderKey: "a" };
      if (db.adapter.bodies === "async") return outbox.send(tx, order(1), options);
      return (outbox as any).sendSync(tx, order(1), options);
    });
    await expect(sending).rejects.toMatchObject({ code: "TOOLKIT_OPTION_INVALID" });
  });

  test("it takes the events that idem.send takes, and refuses the others in the same words, before anything commits", async () => {
    const db = await open();
    const { send } = outboxOn(db.adapter);
    const { idem } = testIdem();
    const wrong: unknown[] = [
      "order/placed",
      { data: {} },
      { name: "" },
      { name: "idem/placed" },
      { name: "order/*" },
      { name: "order/placed", data: [1] },
      { name: "order/placed", ts: 1_700_000_000 },
      { name: "order/placed", v: 2 },
      { name: "order/placed", id: "" },
      { name: "order/placed", data: { text: "x".repeat(600_000) } },
    ];
    const saidOf = (sent: Promise<unknown>) =>
      sent.then(
        () => "taken",
        (error: Error) => error.message,
      );
    for (const event of wrong) {
      const said = await saidOf(idem.send(event as never));
      expect(said).not.toBe("taken");
      expect(await saidOf(send(event as never))).toBe(said);
    }
    expect(await db.rows("select id from idem_outbox")).toEqual([]);
    const full = {
      name: "n".repeat(256),
      id: "\u{1f4e6}".repeat(512),
      ts: Date.UTC(2031, 0),
      v: "1",
      user: {},
      meta: 1,
    };
    await idem.send(full);
    const { id } = await send(full);
    expect(await send(full)).toEqual({ added: false, id });
    await idem.stop();
  });

  describe("into Idem", () => {
    test("a relay that dies between sending and noting it sends nothing twice and loses nothing", async () => {
      const db = await open();
      const { outbox, send } = outboxOn(db.adapter);
      const { idem } = testIdem();
      const runs: number[] = [];
      idem.createFunction({ id: "reserve" }, { event: "order/placed" }, async ({ event }) => {
        runs.push(event.data.n);
      });
      await idem.start();
      const first = await send(order(1));
      await send({ ...order(2), id: "order-2" });
      // The relay that sent both and died before it could write that down.
      const taken = await claimAndDie(db, 2);
      for (const { id, event } of taken) await idem.send({ ...event, id: event.id ?? id }, { window: "7d" });
      await send(order(3));
      await db.age("idem_outbox", 31_000);
      const relay = outbox.relayTo(idem);
      await relay.idle();
      await relay.stop();
      await idem.idle();
      expect(runs.sort()).toEqual([1, 2, 3]);
      expect(await db.rows("select state from idem_outbox where state <> 'done'")).toEqual([]);
      expect((await idem.events.get(first.id))?.id).toBe(first.id);
      await idem.stop();
    });

    test("a message first tried longer ago than Idem remembers is not sent blindly", async () => {
      const db = await open();
      const { outbox, send } = outboxOn(db.adapter);
      const { id } = await send(order(1));
      await claimAndDie(db);
      await db.age("idem_outbox", 7 * 86_400_000);
      const sent: unknown[] = [];
      const relay = outbox.relayTo({ send: async (event) => void sent.push(event) });
      await relay.idle();
      await relay.stop();
      expect(sent).toEqual([]);
      expect((await outbox.dead())[0]).toMatchObject({ id, reason: expect.stringContaining("outcome-unknown") });
    });
  });

  test.runIf(dialect === "postgres")(
    "a message whose transaction began first and committed last is handed on",
    async () => {
      const db = await open();
      const { outbox, send, drain } = outboxOn(db.adapter);
      const seen: number[] = [];
      let commit = () => {};
      let isWritten = () => {};
      const written = new Promise<void>((resolve) => (isWritten = resolve));
      const late = db.adapter.transaction(async (tx) => {
        await outbox.send(tx, order(1));
        isWritten();
        await new Promise<void>((resolve) => (commit = resolve));
      });
      await written;
      await send(order(2));
      await drain((message) => void seen.push((message.data as Order).n));
      expect(seen).toEqual([2]);
      commit();
      await late;
      await drain((message) => void seen.push((message.data as Order).n));
      expect(seen).toEqual([2, 1]);
    },
  );

  test.runIf(dialect === "postgres")(
    "of one order key, no message overtakes one whose transaction began before and is still open",
    async () => {
      const db = await open();
      const { outbox, send, drain } = outboxOn(db.adapter);
      const seen: number[] = [];
      let commit = () => {};
      let isWritten = () => {};
      const written = new Promise<void>((resolve) => (isWritten = resolve));
      const first = db.adapter.transaction(async (tx) => {
        await outbox.send(tx, order(1), { orderKey: "a" });
        isWritten();
        await new Promise<void>((resolve) => (commit = resolve));
      });
      await written;
      const second = send(order(2), { orderKey: "a" });
      const waiting = () =>
        db.rows("select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'");
      await expect.poll(waiting).toHaveLength(1);
      await drain((message) => void seen.push((message.data as Order).n));
      expect(seen).toEqual([]);
      commit();
      await Promise.all([first, second]);
      await drain((message) => void seen.push((message.data as Order).n));
      expect(seen).toEqual([1, 2]);
    },
  );
});
