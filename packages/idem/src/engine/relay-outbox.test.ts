// Events sent inside the user's own transaction, on a real server: there exactly if it commits, whatever happens on the way.
import { trace } from "@opentelemetry/api";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { idOf, parentOf, recordSpans } from "../observe/recorded-spans.suite.ts";
import type { Idem } from "../sdk/client.ts";
import type { StoreOutbox } from "../store/outbox.ts";
import type { Store } from "../store/store.ts";
import { type PostgresWorld, replaced, until, usePostgres } from "../testing/postgres-world.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

const openWorld = usePostgres();

/** A node that writes down what it executed. */
async function worker(world: PostgresWorld, over?: (store: Store) => Store) {
  const idem = await world.node(over === undefined ? {} : { over });
  const executed: string[] = [];
  idem.createFunction({ id: "ship", idempotency: "event.data.order" }, { event: "order/paid" }, ({ event }) => {
    executed.push(event.data.order);
  });
  await idem.start();
  return { idem, executed };
}

const paid = (order: string) => ({ name: "order/paid", data: { order } });
const write = (client: pg.Client, world: PostgresWorld, what: string) =>
  client.query("insert into effects (world, what) values ($1, $2)", [world.schema, what]);
const waiting = (world: PostgresWorld) => world.column(`select id from ${world.schema}.outbox order by id`);
const stored = (world: PostgresWorld) => world.column(`select id from ${world.schema}.events order by id`);
const runs = (world: PostgresWorld) => world.column(`select id from ${world.schema}.runs`);

/** With an outbox whose parts are replaced. */
const withOutbox =
  (parts: (outbox: StoreOutbox) => Partial<StoreOutbox>) =>
  (store: Store): Store => {
    const outbox = store.outbox!;
    const all: StoreOutbox = {
      put: (...input) => outbox.put(...input),
      take: (input) => outbox.take(input),
      done: (...input) => outbox.done(...input),
      park: (...input) => outbox.park(...input),
      ...parts(outbox),
    };
    return replaced(store, { outbox: all });
  };

describe("send(events, { tx })", () => {
  test("what a transaction sent goes on in the trace of whoever sent it", async () => {
    const recorded = recordSpans();
    const world = await openWorld();
    const { idem } = await worker(world);
    const client = await world.session();
    await client.query("begin");
    await trace.getTracer("app").startActiveSpan("POST /orders", async (span) => {
      await idem.send(paid("o1"), { tx: client });
      span.end();
    });
    await client.query("commit");
    await until(() => expect(recorded.named("run ship")).toHaveLength(1));
    const sent = recorded.one("send order/paid");
    expect(parentOf(sent)).toBe(idOf(recorded.one("POST /orders")));
    expect(parentOf(recorded.one("run ship"))).toBe(idOf(sent));
  });

  test("what a committed transaction sent becomes exactly one event and its run, under the id that was answered", async () => {
    const world = await openWorld();
    const { idem, executed } = await worker(world);
    const client = await world.session();
    await client.query("begin");
    await write(client, world, "order o1");
    const sent = await idem.send([paid("o1"), paid("o2")], { tx: client });
    expect(sent.queued).toHaveLength(2);
    expect(await stored(world)).toEqual([]);
    await client.query("commit");
    await until(() => expect(executed.sort()).toEqual(["o1", "o2"]));
    expect(await stored(world)).toEqual(sent.queued);
    await until(async () => expect(await waiting(world)).toEqual([]));
    expect(await idem.events.get(sent.queued[0]!)).toMatchObject({ name: "order/paid", data: { order: "o1" } });
    // Its key is taken as any other's.
    expect((await idem.send(paid("o1"))).decisions).toMatchObject([{ kind: "duplicate-key" }]);
  });

  test("what a rolled back transaction sent never existed, nor what was undone up to a savepoint", async () => {
    const world = await openWorld();
    const { idem, executed } = await worker(world);
    const client = await world.session();
    await client.query("begin");
    await idem.send(paid("undone"), { tx: client });
    await client.query("rollback");
    await client.query("begin");
    await client.query("savepoint part");
    await idem.send(paid("undone, too"), { tx: client });
    await client.query("rollback to part");
    const kept = await idem.send(paid("kept"), { tx: client });
    await client.query("commit");
    await until(() => expect(executed).toEqual(["kept"]));
    expect(await stored(world)).toEqual(kept.queued);
    await until(async () => expect(await waiting(world)).toEqual([]));
  });

  test("a node lost after it stored an event and before it struck it off leaves one run", async () => {
    const world = await openWorld();
    const done = new Set<string>();
    const lost = withOutbox((outbox) => ({
      // As if the node had died: the lease ends, and what was taken is nobody's.
      take: async (input) => (done.size > 0 ? [] : outbox.take({ ...input, leaseMs: 0 })),
      done: async (_, ids) => {
        for (const id of ids) done.add(id);
        throw new Error("the node is gone");
      },
    }));
    const first = await worker(world, lost);
    const client = await world.session();
    await client.query("begin");
    const { queued } = await first.idem.send(paid("o1"), { tx: client });
    await client.query("commit");
    await until(() => expect([...done]).toEqual(queued));
    expect(await waiting(world)).toEqual(queued);
    const second = await worker(world);
    await until(async () => expect(await waiting(world)).toEqual([]));
    await second.idem.idle();
    expect([...first.executed, ...second.executed]).toEqual(["o1"]);
    expect(await stored(world)).toEqual(queued);
    expect(await runs(world)).toHaveLength(1);
  });

  test("two nodes that send on the same event at the same time start one run", async () => {
    const world = await openWorld();
    let arrive = () => {};
    const both = new Promise<void>((resolve) => {
      let count = 0;
      arrive = () => (++count === 2 ? resolve() : undefined);
    });
    const beside = () => {
      let isFirst = true;
      return withOutbox((outbox) => ({
        take: async (input) => {
          const taken = await outbox.take({ ...input, leaseMs: 0 });
          if (taken.length === 0 || !isFirst) return taken;
          isFirst = false;
          arrive();
          await both;
          return taken;
        },
      }));
    };
    const nodes = [await worker(world, beside()), await worker(world, beside())];
    const client = await world.session();
    await client.query("begin");
    const orders = Array.from({ length: 20 }, (_, i) => `o${i}`);
    const { queued } = await nodes[0]!.idem.send(orders.map(paid), { tx: client });
    await client.query("commit");
    await until(async () => expect(await waiting(world)).toEqual([]));
    for (const { idem } of nodes) await idem.idle();
    await until(() => expect(nodes.flatMap(({ executed }) => executed)).toHaveLength(20));
    expect(new Set(nodes.flatMap(({ executed }) => executed))).toEqual(new Set(orders));
    expect(await stored(world)).toEqual([...queued].sort());
    expect(await runs(world)).toHaveLength(20);
  });

  test("a transaction that stays open keeps nobody waiting", async () => {
    const world = await openWorld();
    const { idem, executed } = await worker(world);
    const [open, other] = [await world.session(), await world.session()];
    await open.query("begin");
    await idem.send(paid("late"), { tx: open });
    await other.query("begin");
    await idem.send(paid("in a transaction"), { tx: other });
    await other.query("commit");
    await idem.send(paid("plain"));
    await until(() => expect(executed.sort()).toEqual(["in a transaction", "plain"]));
    await open.query("commit");
    await until(() => expect(executed).toContain("late"));
  });

  test("a node that only sends leaves it to one that executes", async () => {
    const world = await openWorld();
    const { executed } = await worker(world);
    const sender = await world.node();
    const client = await world.session();
    await client.query("begin");
    await sender.send(paid("o1"), { tx: client });
    await client.query("commit");
    await until(() => expect(executed).toEqual(["o1"]));
  });

  test("an event arrives as it was given, whatever characters it holds", async () => {
    const world = await openWorld();
    const idem = await world.node();
    const seen: unknown[] = [];
    idem.createFunction({ id: "keep" }, { event: "odd/text" }, ({ event }) => seen.push([event.id, event.data]));
    await idem.start();
    const odd = "quote \" ' backslash \\ nul \u0000 marker \uFFFF smile 😀 lone \uD800";
    const client = await world.session();
    await client.query("begin");
    await idem.send({ name: "odd/text", id: "id \u0000 \uFFFF", data: { odd, [odd]: 1 } }, { tx: client });
    await client.query("commit");
    await until(() => expect(seen).toEqual([["id \u0000 \uFFFF", { odd, [odd]: 1 }]]));
  });

  test("an event that can never be accepted is parked with its reason and is in nobody's way", async () => {
    const world = await openWorld();
    const { idem, executed } = await worker(world);
    await world.column(
      `insert into ${world.schema}.outbox (env, id, entry, created_at) values ('default', '0', 'torn', 0)`,
    );
    const client = await world.session();
    await client.query("begin");
    await idem.send(paid("o1"), { tx: client });
    await client.query("commit");
    await until(() => expect(executed).toEqual(["o1"]));
    await until(async () =>
      expect(await world.column(`select parked from ${world.schema}.outbox`)).toEqual(["its entry cannot be read"]),
    );
    await until(() => expect(world.logged.join()).toMatch(/event 0, .* is kept in the outbox/));
  });

  test("an event that fails again and again is tried by itself, and the others go on", async () => {
    const world = await openWorld();
    const failed: number[] = [];
    const fails = (store: Store): Store => {
      const quick = withOutbox((outbox) => ({ take: (input) => outbox.take({ ...input, leaseMs: 0 }) }))(store);
      const ingest: Store["ingest"] = async (input) => {
        if (!input.events.some(({ data }) => data.includes("poison"))) return store.ingest(input);
        failed.push(input.events.length);
        throw new Error("the store will not have it");
      };
      return replaced(quick, { ingest });
    };
    const { idem, executed } = await worker(world, fails);
    const client = await world.session();
    await client.query("begin");
    const { queued } = await idem.send([paid("poison"), paid("o1"), paid("o2")], { tx: client });
    await client.query("commit");
    await until(() => expect(executed.sort()).toEqual(["o1", "o2"]));
    await until(() => expect(failed.length).toBeGreaterThan(2));
    expect(failed.slice(0, 2)).toEqual([3, 1]);
    await until(async () => expect(await waiting(world)).toEqual([queued[0]]));
  });
});

describe("a transaction that cannot carry events is refused before anything is written", () => {
  const refusal = (idem: Idem, tx: unknown) =>
    idem.send(paid("o1"), { tx: tx as pg.Client }).catch((error: { code?: string; facts?: object }) => error);
  const unusable = (why: RegExp) => ({ code: "TRANSACTION_UNUSABLE", facts: { why: expect.stringMatching(why) } });

  test("one of another database", async () => {
    const world = await openWorld();
    const { idem } = await worker(world);
    await world.column("drop database if exists elsewhere");
    await world.column("create database elsewhere");
    const elsewhere = await world.session("elsewhere");
    await elsewhere.query("begin");
    expect(await refusal(idem, elsewhere)).toMatchObject(
      unusable(/another database than the engine's, postgres:\/\/…@/),
    );
    await elsewhere.query("rollback");
    // In a database with another store of the same name.
    const other = await world.node({ url: world.url.replace(/\/\w+\?/, "/elsewhere?") });
    await other.start();
    await elsewhere.query("begin");
    expect(await refusal(idem, elsewhere)).toMatchObject(unusable(/another database/));
    expect((await elsewhere.query(`select 1 from ${world.schema}.outbox`)).rows).toEqual([]);
    expect(await other.send(paid("o1"), { tx: elsewhere })).toMatchObject({ queued: [expect.any(String)] });
    await elsewhere.query("rollback");
    await other.stop({ grace: 0 });
    await elsewhere.end();
    await world.column("drop database elsewhere");
  });

  test("one that is none: a pool, a session without a transaction, nothing at all", async () => {
    const world = await openWorld();
    const { idem } = await worker(world);
    const client = await world.session();
    const pool = new pg.Pool({ connectionString: world.url.replace(/\?.*/, "") });
    onTestFinished(() => pool.end());
    expect(await refusal(idem, pool)).toMatchObject(unusable(/no transaction is open/));
    expect(await refusal(idem, client)).toMatchObject(unusable(/no transaction is open/));
    expect(await refusal(idem, undefined)).toMatchObject(unusable(/no query/));
    expect(await waiting(world)).toEqual([]);
    expect(await stored(world)).toEqual([]);
  });

  test("one whose role may not use the tables", async () => {
    const world = await openWorld();
    const { idem } = await worker(world);
    await world.column("drop role if exists stranger");
    await world.column("create role stranger");
    const client = await world.session();
    await client.query("begin");
    await client.query("set local role stranger");
    await world.column(`grant usage on schema ${world.schema} to stranger`);
    expect(await refusal(idem, client)).toMatchObject(unusable(/its role may not read "meta" and write "outbox"/));
    await client.query("rollback");
    await world.column(`grant select on ${world.schema}.meta to stranger`);
    await world.column(`grant select, insert on ${world.schema}.outbox to stranger`);
    await client.query("begin");
    await client.query("set local role stranger");
    expect(await idem.send(paid("o1"), { tx: client })).toMatchObject({ queued: [expect.any(String)] });
    await client.query("rollback");
  });

  test("any, where the engine's store is no PostgreSQL", async () => {
    const world = await openWorld();
    const { idem } = testIdem<any>();
    expect(await refusal(idem, await world.session())).toMatchObject({ code: "TRANSACTION_UNSUPPORTED" });
    await idem.stop();
  });

  test("an event that would be refused anywhere", async () => {
    const world = await openWorld();
    const { idem } = await worker(world);
    const client = await world.session();
    await client.query("begin");
    await expect(idem.send([paid("o1"), { name: "" }], { tx: client })).rejects.toMatchObject({
      code: "EVENT_INVALID",
    });
    await client.query("commit");
    expect(await waiting(world)).toEqual([]);
  });
});

test("a transaction of another driver is one with a query that gives rows", async () => {
  const world = await openWorld();
  const { idem, executed } = await worker(world);
  const client = await world.session();
  const asked: unknown[][] = [];
  const tx = {
    query: async (text: string, values: unknown[]) => {
      asked.push(values);
      // Each parameter once and in order, so that drivers with "?" can be given the same texts.
      expect(text.match(/\$\d+|\?/g)).toEqual(values.map((_, i) => `$${i + 1}`));
      const { rows } = await client.query(text, values);
      return { rows };
    },
  };
  await client.query("begin");
  await idem.send([paid("o1"), paid("o2")], { tx });
  await client.query("commit");
  expect(asked.flat().every((value) => typeof value === "string")).toBe(true);
  await until(() => expect(executed.sort()).toEqual(["o1", "o2"]));
});
