// Steps that are one commit with writes to a database of the user's own, on SQLite and on a real PostgreSQL.
import { describe, expect, test } from "vitest";
import { errors } from "../model/errors.ts";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { oneStore } from "../testing/one-store.suite.ts";
import type { Adapter } from "../toolkit/sql/adapter.ts";
import { eachDatabase, type TestDatabase } from "../toolkit/sql/databases.suite.ts";
import type { StepContext } from "./step-tools.ts";

type Body = (tx: any, context: StepContext) => unknown;

eachDatabase((open, dialect) => {
  const orders = async (): Promise<TestDatabase & { book: Body; booked(): Promise<string[]> }> => {
    const db = await open();
    await db.run("create table orders (what text not null unique)");
    const text = "insert into orders (what) values ('an order')";
    return {
      ...db,
      /** Writes a row; on SQLite there is nothing to wait for. */
      book: (tx) => (dialect === "sqlite" ? tx.prepare(text).run() : tx.query(text)),
      booked: async () => (await db.rows("select what from orders")).map(({ what }) => what),
    };
  };
  const withValue =
    (book: Body, value: unknown): Body =>
    (tx, context) => {
      const booked = book(tx, context);
      return dialect === "sqlite" ? value : (booked as Promise<unknown>).then(() => value);
    };

  async function node(
    world: ReturnType<typeof oneStore>,
    adapter: Adapter<any>,
    body: Body,
    fn: Partial<FunctionOptions> = {},
  ) {
    const made = world.process();
    made.idem.createFunction({ id: "book", backoff: () => 1_000, ...fn }, { event: "order/paid" }, ({ step }) =>
      step.transaction("write", adapter, body),
    );
    await made.idem.start();
    return made;
  }
  type Node = Awaited<ReturnType<typeof node>>;
  const send = async ({ idem }: Node) => (await idem.send({ name: "order/paid" })).decisions[0]!.runId!;
  const end = async ({ idem }: Node, runId: string) => {
    const { state, output, error } = await idem.runs.wait(runId);
    return { state, output, error: error?.message ?? null };
  };
  const memos = (db: TestDatabase) => db.rows("select key, run_id, step, value, created_at from idem_steps");

  describe("what the body writes and the step's memo are one commit of the user's database", () => {
    test("both are there, and the value is the step's", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      let key = "";
      const process = await node(world, db.adapter, (tx, context) => {
        key = context.key;
        return withValue(db.book, { booked: 1 })(tx, context);
      });
      const runId = await send(process);
      expect(await end(process, runId)).toMatchObject({ state: "completed", output: { booked: 1 } });
      expect(await db.booked()).toEqual(["an order"]);
      const [memo] = await memos(db);
      expect(memo).toMatchObject({ key, run_id: runId, step: "write", value: '{"booked":1}' });
      // By the database's clock, in milliseconds.
      const [{ now }] = await db.rows(
        dialect === "sqlite"
          ? "select unixepoch() * 1000 as now"
          : "select cast(extract(epoch from now()) * 1000 as bigint) as now",
      );
      expect(Math.abs(Number(now) - Number(memo.created_at))).toBeLessThan(60_000);
    });

    test("a body that throws has written nothing, and is tried again with the same key", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      const keys: string[] = [];
      const process = await node(world, db.adapter, (tx, context) => {
        keys.push(context.key);
        const value = withValue(db.book, context.attempt)(tx, context);
        const fail = () => {
          throw new Error("not yet");
        };
        if (context.attempt > 1) return value;
        return dialect === "sqlite" ? fail() : (value as Promise<unknown>).then(fail);
      });
      const runId = await send(process);
      await world.clock.tick("1ms");
      await waitUntil(() => keys.length === 1);
      expect([await db.booked(), await memos(db)]).toEqual([[], []]);
      await untilEnded(world, process, runId);
      expect(await end(process, runId)).toMatchObject({ state: "completed", output: 2 });
      expect([keys.length, new Set(keys).size, await db.booked()]).toEqual([2, 1, ["an order"]]);
    });

    // A body that may not wait blocks everything else, its own limit included.
    test.skipIf(dialect === "sqlite")("a body that ends after its time has written nothing there either", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      let [waiting, aborted] = [false, false];
      const process = await node(
        world,
        db.adapter,
        async (tx, context) => {
          await db.book(tx, context);
          if (context.attempt > 1) return context.attempt;
          waiting = true;
          await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
          aborted = true;
        },
        { timeouts: { step: "10m" } },
      );
      const runId = await send(process);
      await waitUntil(() => waiting);
      await world.clock.tick("10m");
      await waitUntil(() => aborted);
      await untilEnded(world, process, runId);
      expect(await end(process, runId)).toMatchObject({ state: "completed", output: 2 });
      expect(await db.booked()).toEqual(["an order"]);
    });

    test("a process that dies between the user's commit and the engine's memo: the value comes from the row, the body is not entered again", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      let entered = 0;
      const body: Body = (tx, context) => {
        entered++;
        return withValue(db.book, { entered })(tx, context);
      };
      const first = await node(world, db.adapter, body);
      const advance = world.store.advance.bind(world.store);
      let died = () => {};
      const death = new Promise<void>((resolve) => {
        died = resolve;
      });
      world.store.advance = async (input) => {
        if (input.steps.length === 0) return advance(input);
        first.lose();
        died();
        throw errors.STORE_UNAVAILABLE({ why: "the process is dead" });
      };
      const runId = await send(first);
      await death;
      world.store.advance = advance;
      expect([await db.booked(), (await memos(db)).length]).toEqual([["an order"], 1]);
      const second = await node(world, db.another(), body);
      await untilEnded(world, second, runId);
      expect(await end(second, runId)).toMatchObject({ state: "completed", output: { entered: 1 } });
      expect([entered, await db.booked()]).toEqual([1, ["an order"]]);
    });

    test("a rerun finds the row, as any destination finds its key; with the row deleted the body is entered again", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      let entered = 0;
      const process = await node(world, db.adapter, (tx, context) => withValue(db.book, ++entered)(tx, context));
      const first = await send(process);
      await end(process, first);
      const again = async () => end(process, (await process.idem.runs.rerun(first)).runId);
      expect(await again()).toMatchObject({ state: "completed", output: 1 });
      await db.run("delete from idem_steps; delete from orders");
      expect(await again()).toMatchObject({ state: "completed", output: 2 });
      expect(await db.booked()).toEqual(["an order"]);
    });

    test("a commit nobody knows the outcome of is asked for: found, it counts", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      const lost = { ...db.adapter } as Adapter<any> & { transactionSync?: (body: any) => unknown };
      lost.transaction = async (body: any) => {
        await db.adapter.transaction(body);
        throw errors.COMMIT_UNKNOWN({ why: "the session was lost" });
      };
      // A file's commit is never unknown; what is tested there is an adapter that is awaited.
      const adapter = dialect === "sqlite" ? db.adapter : lost;
      let entered = 0;
      const process = await node(world, adapter, (tx, context) => withValue(db.book, ++entered)(tx, context), {
        retries: 0,
      });
      expect(await end(process, await send(process))).toMatchObject({ state: "completed", output: 1 });
      expect([entered, await db.booked()]).toEqual([1, ["an order"]]);
    });

    test("a commit nobody knows the outcome of is asked for: not found, the step is attempted again", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      const lost = { ...db.adapter, bodies: "async" } as Adapter<any>;
      let commits = 0;
      lost.transaction = async (body: any) => {
        if (++commits === 1) throw errors.COMMIT_UNKNOWN({ why: "the session was lost" });
        return db.adapter.transaction(body);
      };
      const adapter = dialect === "sqlite" ? db.adapter : lost;
      const process = await node(world, adapter, withValue(db.book, 1));
      const runId = await send(process);
      await untilEnded(world, process, runId);
      expect(await end(process, runId)).toMatchObject({ state: "completed", output: 1 });
      expect([await db.booked(), (await memos(db)).length]).toEqual([["an order"], 1]);
    });

    test("a value that cannot be kept undoes what was written", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      const process = await node(world, db.adapter, withValue(db.book, "x".repeat(5 * 1024 * 1024)), { retries: 0 });
      expect((await end(process, await send(process))).error).toMatch(/STEP_TOO_LARGE/);
      expect([await db.booked(), await memos(db)]).toEqual([[], []]);
    });

    test("row 28: a statement that failed and was caught is no success", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      const process = await node(
        world,
        db.adapter,
        dialect === "sqlite"
          ? (tx) => {
              tx.prepare("insert into orders (what) values ('kept')").run();
              // A statement of SQLite that fails is undone by itself: the rest is sound, and is committed.
              expect(() => tx.prepare("insert into orders (what) values ('kept')").run()).toThrow(/UNIQUE/);
              return 1;
            }
          : async (tx) => {
              await tx.query("insert into orders (what) values ('lost')");
              await tx.query("select 1 / 0").catch(() => {});
              return 1;
            },
        { retries: 0 },
      );
      const { state } = await end(process, await send(process));
      expect([state, await db.booked()]).toEqual(dialect === "sqlite" ? ["completed", ["kept"]] : ["failed", []]);
    });
  });

  test("two runs that reach one step at once enter the body once", async () => {
    const db = await orders();
    const world = oneStore("memory:");
    let entered = 0;
    const body: Body = (tx, context) => withValue(db.book, ++entered)(tx, context);
    const [one, two] = [await node(world, db.adapter, body), await node(world, db.another(), body)];
    const first = await send(one);
    const second = (await two.idem.runs.rerun(first)).runId;
    const ends = await Promise.all([end(one, first), end(two, second)]);
    expect(ends.map(({ output }) => output)).toEqual([1, 1]);
    expect([entered, (await memos(db)).length]).toEqual([1, 1]);
  });

  test("what is no adapter is refused, and the two-argument form still needs the engine's PostgreSQL", async () => {
    const world = oneStore("memory:");
    const process = world.process();
    process.idem.createFunction({ id: "a" }, { event: "a" }, ({ step }) =>
      step.transaction("write", {} as never, () => 1),
    );
    process.idem.createFunction({ id: "b" }, { event: "b" }, ({ step }) => step.transaction("write", () => 1));
    await process.idem.start();
    for (const [name, why] of [
      ["a", /needs an adapter of idem\/sql/],
      ["b", /TRANSACTION_UNSUPPORTED/],
    ] as const) {
      const { decisions } = await process.idem.send({ name });
      expect((await process.idem.runs.wait(decisions[0]!.runId!)).error?.message).toMatch(why);
    }
  });

  if (dialect === "sqlite") {
    test("row 27: an async function in a synchronous transaction is refused before any statement", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      let entered = 0;
      const process = await node(world, db.adapter, async (tx, context) => {
        entered++;
        return db.book(tx, context);
      });
      expect((await end(process, await send(process))).error).toMatch(/TRANSACTION_ASYNC/);
      expect([entered, await db.booked(), await memos(db)]).toEqual([0, [], []]);
    });

    test("row 27: one that only turns out to be async is undone, and its failure afterwards is nobody's", async () => {
      const db = await orders();
      const world = oneStore("memory:");
      const process = await node(world, db.adapter, (tx, context) => {
        db.book(tx, context);
        return Promise.reject(new Error("too late"));
      });
      expect((await end(process, await send(process))).error).toMatch(/TRANSACTION_ASYNC/);
      expect([await db.booked(), await memos(db)]).toEqual([[], []]);
    });
  }
});

/** The user's database answers in real time; the engine's clock moves by hand. */
async function untilEnded(world: ReturnType<typeof oneStore>, { idem }: { idem: any }, runId: string): Promise<void> {
  for (let i = 0; i < 2_000; i++) {
    const run = await idem.runs.get(runId);
    if (run?.endedAt !== null) return;
    await world.clock.tick("1s");
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error("the run did not end");
}

async function waitUntil(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 100_000 && !holds(); i++) await new Promise<void>((resolve) => setImmediate(resolve));
  expect(holds()).toBe(true);
}
