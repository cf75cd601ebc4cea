import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../../platform/node-platform.ts";
import { memoryKeys } from "../../keys/memory-keys.ts";
import { postgresDrivers, sqliteDrivers } from "../../sql/adapters.suite.ts";
import { sqliteAdapter } from "../../sql/better-sqlite3.ts";
import { startCuttingProxy } from "../../sql/cutting-proxy.suite.ts";
import { eachDatabase } from "../../sql/databases.suite.ts";
import { pgAdapter } from "../../sql/pg.ts";
import { idempotency } from "../idempotency.ts";
import { phased } from "./phased.ts";
import { phases } from "./phases.ts";
import { respond } from "./respond.ts";
import {
  preparedTransaction,
  sameTransaction,
  sameTransactionSync,
  type TransactionBody,
  type TransactionContext,
  within,
} from "./same-transaction.ts";
import { after, ask, deferred, insertOrder, openShop, requestOf, untilBlocked } from "./shop.suite.ts";

interface Order {
  readonly item: string;
}

const place: TransactionBody<any> = (tx, _request, context) => {
  const { item } = context.json<Order>();
  return after(insertOrder(tx, item), () => respond(201, { item }, { headers: { location: `/orders/${item}` } }));
};

test("where responses are to be sealed, a mode that cannot do so is refused when it is set up", () => {
  const seal = { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes };
  const keys = idempotency({ keys: memoryKeys(), principal: () => "a", seal });
  expect(() => sameTransaction(keys, {} as never, {}, place)).toThrow("TOOLKIT_OPTION_INVALID");
  expect(() => phased(keys, phases("p", { adapter: {} as never, input: () => 1 }))).toThrow("TOOLKIT_OPTION_INVALID");
});

eachDatabase((open, dialect) => {
  test("a retry gets the first answer byte for byte, and one row was written", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const handler = sameTransaction(keys, adapter, {}, place);
    const first = await ask(handler);
    const second = await ask(handler);
    expect(first).toMatchObject({ status: 201, replayed: false, body: { item: "tea" } });
    expect(first.headers.get("idempotency-status")).toBe("executed");
    expect(second).toMatchObject({ status: 201, replayed: true, body: { item: "tea" } });
    expect(second.headers.get("location")).toBe("/orders/tea");
    expect(await shop.orders()).toEqual(["tea"]);
    expect(await shop.records()).toMatchObject([{ state: "completed" }]);
  });

  test("the same key with another body is refused, and another caller's same key is another request", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const onAnswer = (headers: Headers) => headers.set("access-control-allow-origin", "*");
    const handler = sameTransaction(keys, adapter, { onAnswer }, place);
    await ask(handler);
    const refused = await ask(handler, { body: { item: "coffee" } });
    expect(refused).toMatchObject({ status: 422 });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
    expect(await ask(handler, { as: "bob", body: { item: "milk" } })).toMatchObject({ status: 201, replayed: false });
    expect(await shop.orders()).toEqual(["milk", "tea"]);
  });

  test("of twenty concurrent duplicates in two processes one writes, and all get its answer", async () => {
    const { another, ...shop } = await openShop(await open());
    const here = sameTransaction(shop.keys, shop.adapter, {}, place);
    const there = another();
    const elsewhere = sameTransaction(there.keys, there.adapter, {}, place);
    const told = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? here : elsewhere)));
    expect(told.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(told.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await shop.orders()).toEqual(["tea"]);
  });

  test("what is answered is told to any number of duplicates at once: only those of a request at work have to wait", async () => {
    const { keys, adapter } = await openShop(await open());
    const handler = sameTransaction(keys, adapter, {}, place);
    await ask(handler);
    const told = await Promise.all(Array.from({ length: 300 }, () => ask(handler)));
    expect(told.filter(({ status, replayed }) => status === 201 && replayed)).toHaveLength(300);
  });

  test("a body that throws leaves neither row nor key, and a retry executes", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    let isBroken = true;
    const handler = sameTransaction(keys, adapter, {}, (tx, request, context) =>
      after(place(tx, request, context), (answer) => {
        if (isBroken) throw new Error("no stock");
        return answer;
      }),
    );
    await expect(ask(handler)).rejects.toThrow("no stock");
    expect(await shop.orders()).toEqual([]);
    expect(await shop.records()).toEqual([]);
    isBroken = false;
    expect(await ask(handler)).toMatchObject({ status: 201, replayed: false });
    expect(await shop.orders()).toEqual(["tea"]);
  });

  test("a refusal with rollback is kept while what the body wrote is undone", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const handler = sameTransaction(keys, adapter, {}, (tx, request, context) =>
      after(place(tx, request, context), () => respond(402, { error: "declined" }, { rollback: true })),
    );
    expect(await ask(handler)).toMatchObject({ status: 402, replayed: false });
    expect(await ask(handler)).toMatchObject({ status: 402, replayed: true, body: { error: "declined" } });
    expect(await shop.orders()).toEqual([]);
  });

  test("an attempt that the database undid for another one is made again, a bounded number of times", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const attempts: number[] = [];
    let failures = 2;
    const handler = sameTransaction(keys, adapter, {}, (tx, request, context) =>
      after(place(tx, request, context), (answer) => {
        attempts.push(context.attempt);
        const code = failures % 2 === 0 ? "40001" : "40P01";
        if (failures-- > 0) throw Object.assign(new Error("undone"), { code });
        return answer;
      }),
    );
    expect(await ask(handler)).toMatchObject({ status: 201 });
    expect(attempts).toEqual([1, 2, 3]);
    expect(await shop.orders()).toEqual(["tea"]);
    failures = 1_000;
    expect(await ask(handler, { key: "k-2" })).toMatchObject({ status: 503, body: { retryable: true } });
    expect(await shop.orders()).toEqual(["tea"]);
  });

  test("a response larger than is kept has happened: whoever asks again is told that it is gone", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const handler = sameTransaction(keys, adapter, { responseBytesMax: 4 }, place);
    expect(await ask(handler)).toMatchObject({ status: 201, body: { item: "tea" } });
    expect(await ask(handler)).toMatchObject({ status: 410, body: { original_status: 201 } });
    expect(await shop.orders()).toEqual(["tea"]);
  });

  test("after its window a key is a new operation", async () => {
    const { keys, adapter, db, ...shop } = await openShop(await open());
    const handler = sameTransaction(keys, adapter, { window: "1h" }, place);
    await ask(handler);
    await db.age("idempotency_keys", 3_600_001);
    expect(await ask(handler)).toMatchObject({ status: 201, replayed: false });
    expect(await shop.orders()).toEqual(["tea", "tea"]);
  });

  test("without a key, where none is required, the body is one transaction all the same", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const handler = sameTransaction(keys, adapter, { required: false }, (tx, request, context) =>
      after(place(tx, request, context), (answer) =>
        context.json<Order>().item === "tea" ? answer : respond(409, null, { rollback: true }),
      ),
    );
    const told = await ask(handler, { key: "" });
    expect(told.status).toBe(201);
    expect(told.headers.has("idempotency-status")).toBe(false);
    expect(await ask(handler, { key: "", body: { item: "milk" } })).toMatchObject({ status: 409 });
    expect(await shop.orders()).toEqual(["tea"]);
    expect(await shop.records()).toEqual([]);
  });

  test("in two steps: what was prepared is written once, and the answer knows what was written", async () => {
    const { keys, adapter, ...shop } = await openShop(await open());
    const handler = preparedTransaction(keys, adapter, {}, async (request) => {
      const { item } = (await request.json()) as Order;
      return {
        write: (tx: any) => after(insertOrder(tx, item), () => item.length),
        response: (n) => respond(201, { n }),
      };
    });
    const told = await Promise.all(Array.from({ length: 5 }, () => ask(handler)));
    expect(told.map(({ status, body }) => [status, body])).toEqual(Array(5).fill([201, { n: 3 }]));
    expect(told.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await shop.orders()).toEqual(["tea"]);
  });

  test("a record that another mode of the route left behind is never executed again here", async () => {
    const { keys, adapter, db, ...shop } = await openShop(await open());
    const crashed = keys.handler({ onCrash: "park" }, () => new Promise<Response>(() => {}));
    void crashed(requestOf());
    while ((await shop.records()).length === 0);
    const handler = sameTransaction(keys, adapter, {}, place);
    expect(await ask(handler)).toMatchObject({ status: 409, body: { retryable: true } });
    await db.age("idempotency_keys", 120_000);
    expect(await ask(handler)).toMatchObject({ status: 409, body: { retryable: false } });
    expect(await shop.orders()).toEqual([]);
  });

  // pitfall 28
  test.each(Object.entries(dialect === "sqlite" ? sqliteDrivers : postgresDrivers))(
    "through %s a request is one commit with its key, and a failed statement that was swallowed is no success",
    async (_name, openDriver) => {
      const { keys, db, ...shop } = await openShop(await open());
      await db.run("create unique index one_each on orders (item)");
      const { adapter, native } = openDriver(db.where, (close) => onTestFinished(async () => void (await close())));
      const insert = (tx: unknown, item: string): unknown => {
        const asked = native(tx, `insert into orders (item) values ('${item}')`) as PromiseLike<unknown> | undefined;
        // Drizzle's begins when somebody waits for it.
        return typeof asked?.then === "function" ? Promise.resolve(asked) : asked;
      };
      const handler = sameTransaction<any>(keys, adapter, {}, (tx, _request, context) => {
        const { item } = context.json<Order>();
        return after(insert(tx, item) as Promise<unknown>, () =>
          item === "gone" ? respond(409, { item }, { rollback: true }) : respond(201, { item }),
        );
      });
      const bytesOf = async () => Buffer.from(await (await handler(requestOf())).arrayBuffer()).toString("hex");
      expect(await bytesOf()).toBe(await bytesOf());
      expect(await ask(handler, { key: "k-2", body: { item: "gone" } })).toMatchObject({
        status: 409,
        replayed: false,
      });
      expect(await ask(handler, { key: "k-2", body: { item: "gone" } })).toMatchObject({ status: 409, replayed: true });
      await expect(ask(handler, { key: "k-3" })).rejects.toThrow();
      expect(await shop.orders()).toEqual(["tea"]);
      expect(await shop.records()).toHaveLength(2);

      const swallowing = sameTransaction<any>(keys, adapter, {}, (tx) => {
        let failing: unknown;
        try {
          failing = insert(tx, "tea");
        } catch {}
        return after(failing instanceof Promise ? failing.catch(() => {}) : failing, () => respond(201));
      });
      if (dialect === "postgres") {
        await expect(ask(swallowing, { key: "k-4" })).rejects.toThrow();
        expect(await shop.records()).toHaveLength(2);
      } else {
        // SQLite undid the statement and nothing else: what was said to be done, is.
        expect(await ask(swallowing, { key: "k-4" })).toMatchObject({ status: 201 });
        expect(await shop.records()).toHaveLength(3);
      }
      expect(await shop.orders()).toEqual(["tea"]);
    },
  );

  if (dialect === "sqlite") {
    // pitfall 27
    test("an async body is refused before any statement", async () => {
      const { keys, adapter, ...shop } = await openShop(await open());
      const body = async (tx: any, request: Request, context: TransactionContext) => place(tx, request, context);
      expect(() => sameTransaction(keys, adapter, {}, body)).toThrow("TRANSACTION_ASYNC");
      expect(() => sameTransactionSync(keys, adapter as any, {}, body as any)).toThrow("TRANSACTION_ASYNC");
      const hidden = sameTransaction(keys, adapter, {}, (tx, request, context) => body(tx, request, context));
      await expect(ask(hidden)).rejects.toThrow("TRANSACTION_ASYNC");
      const late = preparedTransaction(keys, adapter, {}, async () => ({
        write: async (tx: any) => insertOrder(tx, "tea"),
        response: respond(201),
      }));
      await expect(ask(late)).rejects.toThrow("TRANSACTION_ASYNC");
      expect(await shop.orders()).toEqual([]);
      expect(await shop.records()).toEqual([]);
    });

    test("a writer that holds the file for too long makes it 409, and nothing was executed", async () => {
      const db = await open();
      const { keys, ...shop } = await openShop(db);
      const other = new Database(db.where);
      const own = new Database(db.where, { timeout: 20 });
      onTestFinished(() => {
        other.close();
        own.close();
      });
      const handler = sameTransaction(keys, sqliteAdapter(own), { maxWait: 20 }, place);
      other.exec("begin immediate");
      expect(await ask(handler)).toMatchObject({ status: 409, body: { retryable: true } });
      other.exec("rollback");
      expect(await ask(handler)).toMatchObject({ status: 201 });
      expect(await shop.orders()).toEqual(["tea"]);
    });

    test("a body that took too long is undone when it is done", async () => {
      let now = 0;
      const { keys, adapter, ...shop } = await openShop(await open(), { ...nodePlatform, monoMs: () => now });
      const handler = sameTransaction(keys, adapter, {}, (tx, request, context) => {
        now += 6_000;
        return place(tx, request, context);
      });
      await expect(ask(handler)).rejects.toThrow("TRANSACTION_TOO_LONG");
      expect(await shop.orders()).toEqual([]);
      expect(await shop.records()).toEqual([]);
    });

    // pitfall 28
    test("a statement that ended the transaction under a body that went on is an error, and nothing is kept", async () => {
      const { keys, adapter, db, ...shop } = await openShop(await open());
      await db.run("create unique index one_each on orders (item); insert into orders values ('milk')");
      const handler = sameTransaction(keys, adapter, {}, (tx, request, context) => {
        const answer = place(tx, request, context);
        try {
          tx.prepare("insert or rollback into orders (item) values ('milk')").run();
        } catch {}
        return answer;
      });
      await expect(ask(handler)).rejects.toThrow();
      expect(await shop.orders()).toEqual(["milk"]);
      expect(await shop.records()).toEqual([]);
    });
  } else {
    test("a first one that rolls back hands over to exactly one of those that wait", async () => {
      const { db, another, ...shop } = await openShop(await open());
      const inside = deferred();
      const goOn = deferred();
      let entered = 0;
      const body: TransactionBody<any> = async (tx, request, context) => {
        const answer = await place(tx, request, context);
        if (++entered > 1) return answer;
        inside.resolve();
        await goOn.promise;
        throw new Error("no stock");
      };
      const [here, there, elsewhere] = [shop, another(), another()].map(({ keys, adapter }) =>
        sameTransaction(keys, adapter, {}, body),
      );
      const first = ask(here!);
      await inside.promise;
      const waiters = [ask(there!), ask(elsewhere!)];
      await untilBlocked(db, 2);
      goOn.resolve();
      await expect(first).rejects.toThrow("no stock");
      const told = await Promise.all(waiters);
      expect(told.map(({ status }) => status)).toEqual([201, 201]);
      expect(told.filter(({ replayed }) => replayed)).toHaveLength(1);
      expect(entered).toBe(2);
      expect(await shop.orders()).toEqual(["tea"]);
    });

    test("a duplicate waits no longer than it may for the first one's commit, then is told 409", async () => {
      const { another, ...shop } = await openShop(await open());
      const inside = deferred();
      const goOn = deferred();
      const [here, there] = [shop, another()].map(({ keys, adapter }) =>
        sameTransaction(keys, adapter, { maxWait: 50 }, async (tx, request, context) => {
          inside.resolve();
          await goOn.promise;
          return place(tx, request, context);
        }),
      );
      const first = ask(here!);
      await inside.promise;
      for (const handler of [here!, there!]) {
        const second = await ask(handler);
        expect(second).toMatchObject({ status: 409, body: { retryable: true } });
        expect(second.headers.get("retry-after")).toBe("1");
      }
      goOn.resolve();
      expect(await first).toMatchObject({ status: 201 });
      expect(await shop.orders()).toEqual(["tea"]);
    });

    test("a key that everybody asks for holds one session of the pool: other keys go on meanwhile", async () => {
      const { keys, adapter, ...shop } = await openShop(await open());
      const inside = deferred();
      const goOn = deferred();
      const handler = sameTransaction(keys, adapter, {}, async (tx, request, context) => {
        if (context.json<Order>().item === "tea") {
          inside.resolve();
          await goOn.promise;
        }
        return place(tx, request, context);
      });
      // The pool has 10.
      const hot = Array.from({ length: 50 }, () => ask(handler));
      await inside.promise;
      expect(await ask(handler, { key: "k-2", body: { item: "milk" } })).toMatchObject({ status: 201 });
      goOn.resolve();
      const told = await Promise.all(hot);
      expect(told.map(({ status }) => status)).toEqual(Array(50).fill(201));
      expect(await shop.orders()).toEqual(["milk", "tea"]);
    });

    test("a transaction that is open for too long is undone under its body", async () => {
      const { keys, adapter, ...shop } = await openShop(await open());
      const aborted = deferred<unknown>();
      const handler = sameTransaction(keys, adapter, { maxTx: 50 }, async (tx, request, context) => {
        await place(tx, request, context);
        context.signal.addEventListener("abort", () => aborted.resolve(context.signal.reason));
        return new Promise(() => {});
      });
      await expect(ask(handler)).rejects.toThrow("TRANSACTION_TOO_LONG");
      expect(await aborted.promise).toMatchObject({ code: "TRANSACTION_TOO_LONG" });
      expect(await shop.orders()).toEqual([]);
      expect(await shop.records()).toEqual([]);
    });

    // pitfall 28
    test("a failed statement that its body swallowed is an error, and nothing is kept", async () => {
      const { keys, adapter, ...shop } = await openShop(await open());
      const handler = sameTransaction(keys, adapter, {}, async (tx, request, context) => {
        const answer = await place(tx, request, context);
        await tx.query("insert into nowhere values (1)").catch(() => {});
        return answer;
      });
      await expect(ask(handler)).rejects.toThrow("TRANSACTION_ABORTED");
      expect(await shop.orders()).toEqual([]);
      expect(await shop.records()).toEqual([]);
    });

    // pitfall 26
    describe.each(["before", "after"] as const)(
      "a connection that is lost %s the server heard of the commit",
      (when) => {
        test("is 503, and a retry leaves exactly one row", async () => {
          const { keys, db, ...shop } = await openShop(await open());
          const proxy = await startCuttingProxy(db.where);
          const pool = new pg.Pool({ connectionString: proxy.url });
          pool.on("error", () => {});
          onTestFinished(async () => {
            await pool.end();
            await proxy.close();
          });
          const handler = sameTransaction(keys, pgAdapter(pool), {}, place);
          proxy.cut(when);
          expect(await ask(handler)).toMatchObject({ status: 503, body: { retryable: true } });
          expect(await ask(handler)).toMatchObject({ status: 201, replayed: when === "after" });
          expect(await shop.orders()).toEqual(["tea"]);
        });
      },
    );

    test("while the database is away it is 503, and the body is not entered", async () => {
      const { keys } = await openShop(await open());
      const pool = new pg.Pool({ host: "127.0.0.1", port: 1 });
      onTestFinished(() => pool.end());
      let entered = 0;
      const handler = sameTransaction(keys, pgAdapter(pool), {}, () => respond(201, ++entered));
      expect(await ask(handler)).toMatchObject({ status: 503 });
      expect(entered).toBe(0);
    });

    test("who owns the transaction keeps it: the key is in it, and goes with it", async () => {
      const { keys, adapter, ...shop } = await openShop(await open());
      const read = await keys.read(requestOf(), { onCrash: "rerun" });
      if (read.kind !== "keyed") throw new Error("no key");
      const placed = (tx: any) =>
        within(adapter.wrap(tx), read.keyed, async () => {
          await insertOrder(tx, "tea");
          return respond(201, { item: "tea" });
        });
      const undone = adapter.transaction(async (tx) => {
        await placed(tx);
        throw new Error("changed my mind");
      });
      await expect(undone).rejects.toThrow("changed my mind");
      expect(await adapter.transaction(placed)).toMatchObject({ kind: "executed" });
      expect(await adapter.transaction(placed)).toMatchObject({ kind: "duplicate", outcome: { status: 201 } });
      expect(await shop.orders()).toEqual(["tea"]);
    });
  }
});
