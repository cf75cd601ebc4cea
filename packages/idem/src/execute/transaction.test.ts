// Steps whose writes and memo are one commit, on a real server: exactly once, whatever breaks in between.
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { hashStepId } from "../model/step-id.ts";
import { NonRetriableError } from "../model/user-errors.ts";
import { Idem } from "../sdk/client.ts";
import { runsApi } from "../sdk/reads-api.ts";
import { served } from "../serve/listening.suite.ts";
import { startServer } from "../server/start-server.ts";
import { syncApp } from "../server/sync-app.ts";
import type { Pg } from "../store/postgres/sessions.ts";
import type { TransactionClient } from "../store/transactional.ts";
import { held } from "../testing/one-run.suite.ts";
import { type PostgresWorld, until, usePostgres } from "../testing/postgres-world.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

const openWorld = usePostgres();

const effect = (tx: TransactionClient, { schema }: PostgresWorld, what: string) =>
  tx.query("insert into effects (world, what) values ($1, $2)", [schema, what]);
const effects = ({ column, schema }: PostgresWorld) =>
  column("select what from effects where world = $1 order by what", schema);
const memos = ({ column, schema }: PostgresWorld) => column(`select json from ${schema}.steps order by run_id, stamp`);

const failed = ({ column, schema }: PostgresWorld) => column(`select error from ${schema}.attempts`);

type Body = (tx: TransactionClient, context: { readonly attempt: number; readonly key: string }) => unknown;

/** A node with one function, whose one step is a transaction. */
async function node(world: PostgresWorld, body: Body, options: { pg?: Pg; url?: string } = {}): Promise<Idem> {
  const idem = await world.node(options);
  idem.createFunction({ id: "book", retries: 5, backoff: () => 0 }, { event: "order/paid" }, ({ step }) =>
    step.transaction("write", body),
  );
  await idem.start();
  return idem;
}

const send = async (idem: Idem): Promise<string> => (await idem.send({ name: "order/paid" })).decisions[0]!.runId!;
const end = async (idem: Idem) => idem.runs.wait(await send(idem));

describe("what the body writes and that the step is done are one commit", () => {
  test("nobody sees one without the other", async () => {
    const world = await openWorld();
    const [written, go] = [held(), held()];
    const idem = await node(world, async (tx) => {
      await effect(tx, world, "a row");
      written.release();
      await go.promise;
      return { booked: 1 };
    });
    const runId = await send(idem);
    await written.promise;
    expect([await effects(world), await memos(world)]).toEqual([[], []]);
    go.release();
    expect(await idem.runs.wait(runId)).toMatchObject({ state: "completed", output: { booked: 1 } });
    expect([await effects(world), await memos(world)]).toEqual([["a row"], ['{"booked":1}']]);
    const { timeline } = (await idem.runs.get(runId))!;
    expect(timeline).toMatchObject([{ name: "write", kind: "transaction", state: "completed" }]);
  });

  test("a body that throws has written nothing and is tried again, with the attempt's number and the same key", async () => {
    const world = await openWorld();
    const seen: unknown[] = [];
    const idem = await node(world, async (tx, { attempt, key }) => {
      await effect(tx, world, `attempt ${attempt}`);
      seen.push([attempt, key]);
      if (attempt < 3) throw new Error("not yet");
      return attempt;
    });
    expect(await end(idem)).toMatchObject({ state: "completed", output: 3 });
    expect(await effects(world)).toEqual(["attempt 3"]);
    expect(seen.map((each) => (each as [number])[0])).toEqual([1, 2, 3]);
    expect(new Set(seen.map((each) => (each as [number, string])[1])).size).toBe(1);
  });

  test("a body that ends after its time has written nothing, and is tried again", async () => {
    const world = await openWorld();
    const idem = await world.node();
    idem.createFunction({ id: "book", retries: 20, backoff: () => 0 }, { event: "order/paid" }, ({ step }) =>
      step.transaction({ id: "write", timeout: "50ms" }, async (tx, { attempt, signal }) => {
        await effect(tx, world, `attempt ${attempt}`);
        if (attempt === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return attempt;
      }),
    );
    await idem.start();
    const { state, output: attempts } = await end(idem);
    expect(state).toBe("completed");
    // On a slow machine later attempts may take too long, too.
    expect(attempts).toBeGreaterThanOrEqual(2);
    expect(await effects(world)).toEqual([`attempt ${attempts}`]);
    const codes = (await failed(world)).map((error) => JSON.parse(error).code);
    expect(codes).toEqual(Array((attempts as number) - 1).fill("STEP_TIMED_OUT"));
  });

  test("a final error ends the step without a retry, and a body that always fails ends after its last attempt", async () => {
    const world = await openWorld();
    const idem = await world.node();
    let tries = 0;
    idem.createFunction({ id: "final", retries: 5 }, { event: "a" }, ({ step }) =>
      step.transaction("write", async (tx) => {
        await effect(tx, world, "final");
        throw new NonRetriableError("no");
      }),
    );
    idem.createFunction({ id: "always", retries: 2, backoff: () => 0 }, { event: "b" }, ({ step }) =>
      step.transaction("write", async (tx) => {
        tries++;
        await effect(tx, world, "always");
        await tx.query("select 1 / 0");
      }),
    );
    await idem.start();
    const [a, b] = [await idem.send({ name: "a" }), await idem.send({ name: "b" })];
    expect(await idem.runs.wait(a.decisions[0]!.runId!)).toMatchObject({ state: "failed", error: { message: "no" } });
    expect(await idem.runs.wait(b.decisions[0]!.runId!)).toMatchObject({
      state: "failed",
      error: { message: "division by zero" },
    });
    expect(tries).toBe(3);
    expect(await effects(world)).toEqual([]);
  });

  test("a value that cannot be kept undoes what was written", async () => {
    const world = await openWorld();
    const idem = await node(world, async (tx) => {
      await effect(tx, world, "too much");
      return "x".repeat(5 * 1024 * 1024);
    });
    expect(await end(idem)).toMatchObject({
      state: "failed",
      error: { message: expect.stringMatching(/STEP_TOO_LARGE/) },
    });
    expect(await effects(world)).toEqual([]);
  });

  test("a statement that failed and was caught undoes all of it; behind a savepoint it does not", async () => {
    const world = await openWorld();
    const idem = await node(world, async (tx, { attempt }) => {
      await effect(tx, world, `attempt ${attempt}`);
      if (attempt > 1) await tx.query("savepoint part");
      await tx.query("select 1 / 0").catch(() => {});
      if (attempt > 1) await tx.query("rollback to savepoint part");
      return attempt;
    });
    const runId = await send(idem);
    expect(await idem.runs.wait(runId)).toMatchObject({ state: "completed", output: 2 });
    expect(await effects(world)).toEqual(["attempt 2"]);
    const [{ attempts }] = (await idem.runs.get(runId))!.timeline as [any];
    expect(attempts[0].error.message).toMatch(/a statement of its transaction failed/);
  });

  test("a commit that the server refuses is a failed attempt", async () => {
    const world = await openWorld();
    await world.column("create table if not exists accounts (id int unique deferrable initially deferred)");
    const idem = await node(world, async (tx, { attempt }) => {
      await effect(tx, world, `attempt ${attempt}`);
      if (attempt === 1) await tx.query("insert into accounts values (1), (1)");
    });
    expect(await end(idem)).toMatchObject({ state: "completed", output: null });
    expect(await effects(world)).toEqual(["attempt 2"]);
  });

  test("an event sent in it is sent exactly if the step is recorded", async () => {
    const world = await openWorld();
    const heard: number[] = [];
    const idem = await world.node();
    idem.createFunction({ id: "hear" }, { event: "order/booked" }, ({ event }) => heard.push(event.data.attempt));
    idem.createFunction({ id: "book", backoff: () => 0 }, { event: "order/paid" }, ({ step }) =>
      step.transaction("write", async (tx, { attempt }) => {
        await idem.send({ name: "order/booked", data: { attempt } }, { tx });
        if (attempt === 1) throw new Error("not yet");
      }),
    );
    await idem.start();
    expect(await end(idem)).toMatchObject({ state: "completed" });
    await until(() => expect(heard).toEqual([2]));
  });

  test("beside other steps and waits it takes its place among them", async () => {
    const world = await openWorld();
    const idem = await world.node();
    idem.createFunction({ id: "many" }, { event: "order/paid" }, async ({ step }) => {
      const all = await Promise.all([
        step.transaction("one", (tx) => effect(tx, world, "one").then(() => 1)),
        step.run("two", () => 2),
        step.waitForEvent("three", { event: "never", timeout: "50ms" }),
        step.transaction("four", (tx) => effect(tx, world, "four").then(() => 4)),
      ]);
      const first = await Promise.race([step.transaction("five", async () => "tx"), step.sleep("long", "1h")]);
      return [...all, first];
    });
    await idem.start();
    expect(await end(idem)).toMatchObject({ state: "completed", output: [1, 2, null, 4, "tx"] });
    expect(await effects(world)).toEqual(["four", "one"]);
  });
});

// ------------------------------------------------------------------------------------------------------------- what breaks

/** A driver whose sessions for steps do something of their own instead of a commit. */
function driver(atCommit: (client: pg.Client, commit: () => Promise<unknown>, nth: number) => Promise<unknown>): Pg {
  let commits = 0;
  class Client extends pg.Client {
    private readonly isForSteps: boolean;
    constructor(config: pg.ClientConfig) {
      super(config);
      this.isForSteps = config.application_name?.includes("(steps)") === true;
    }
    override query(...args: any[]): any {
      const asked = () => (super.query as any)(...args);
      return this.isForSteps && args[0]?.text === "commit" ? atCommit(this, asked, ++commits) : asked();
    }
  }
  return { Client, Pool: pg.Pool, types: pg.types } as Pg;
}

const cut = (client: pg.Client) =>
  new Promise<void>((resolve) => {
    client.once("end", () => resolve());
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  });
const lost = () => new Error("Connection terminated unexpectedly");

describe("exactly once", () => {
  test("a commit whose answer is lost counts: the body is not entered again", async () => {
    const world = await openWorld();
    let entered = 0;
    const idem = await node(
      world,
      async (tx) => {
        await effect(tx, world, `entry ${++entered}`);
        return entered;
      },
      {
        pg: driver(async (client, commit) => {
          await commit();
          await cut(client);
          throw lost();
        }),
      },
    );
    expect(await end(idem)).toMatchObject({ state: "completed", output: 1 });
    expect([entered, await effects(world), await failed(world)]).toEqual([1, ["entry 1"], []]);
  });

  test("a commit that never arrived did not happen: the body is entered again", async () => {
    const world = await openWorld();
    let entered = 0;
    const idem = await node(
      world,
      async (tx) => {
        await effect(tx, world, `entry ${++entered}`);
        return entered;
      },
      {
        pg: driver(async (client, commit, nth) => {
          if (nth > 1) return commit();
          await cut(client);
          throw lost();
        }),
      },
    );
    expect(await end(idem)).toMatchObject({ state: "completed", output: 2 });
    expect(await effects(world)).toEqual(["entry 2"]);
    expect(await failed(world)).toEqual([
      expect.stringMatching(/the connection was lost before its transaction was committed/),
    ]);
  });

  test("a commit that is still under way when its answer is given up is waited for", async () => {
    const world = await openWorld();
    await world.column("create table if not exists slow (id int)");
    await world.column(
      "create or replace function take_time() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(1); return null; end'",
    );
    await world.column(
      "create constraint trigger take_time after insert on slow deferrable initially deferred for each row execute function take_time()",
    );
    let entered = 0;
    const idem = await node(
      world,
      async (tx) => {
        await effect(tx, world, `entry ${++entered}`);
        await tx.query("insert into slow values (1)");
        return "kept";
      },
      {
        pg: driver(async (client, commit) => {
          commit().catch(() => {});
          const { processID } = client as unknown as { processID: number };
          const asked = "select query from pg_stat_activity where pid = $1 and state = 'active'";
          await until(async () => expect(await world.column(asked, processID)).toEqual(["commit"]));
          await cut(client);
          throw lost();
        }),
      },
    );
    const holder = new pg.Client({ connectionString: world.url.replace(/\?.*/, "") });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("select pg_advisory_lock(1)");
    // The node waits for the row of the job, which the commit holds until it is over.
    const waiting = `
      select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and wait_event <> 'advisory'`;
    const released = until(async () => expect(await world.column(waiting)).toEqual([1])).then(() =>
      holder.query("select pg_advisory_unlock(1)"),
    );
    expect(await end(idem)).toMatchObject({ state: "completed", output: "kept" });
    await released;
    expect([entered, await effects(world), await failed(world)]).toEqual([1, ["entry 1"], []]);
  });

  test("sessions that the server ends anywhere in the body leave one row for each run", async () => {
    const world = await openWorld();
    const places = ["begun", "written", "twice written", "waiting"] as const;
    const idem = await world.node();
    idem.createFunction({ id: "book", retries: 5, backoff: () => 0 }, { event: "order/paid" }, ({ step, event }) =>
      step.transaction("write", async (tx, { attempt }) => {
        const at = async (place: (typeof places)[number]) => {
          if (event.data.place !== place || attempt > event.data.kills) return;
          const { rows } = await tx.query("select pg_backend_pid() as pid");
          await world.column("select pg_terminate_backend($1)", rows[0].pid);
          if (place === "waiting") await tx.query("select pg_sleep(60)");
        };
        await at("begun");
        await effect(tx, world, `${event.data.place} ${event.data.kills}`);
        await at("written");
        await tx.query("update effects set by = $1 where world = $2 and what = 'nobody'", [attempt, world.schema]);
        await at("twice written");
        await at("waiting");
        return attempt;
      }),
    );
    await idem.start();
    const kinds = places.flatMap((place) => [1, 2].map((kills) => ({ place, kills })));
    const { decisions } = await idem.send(kinds.map((data) => ({ name: "order/paid", data })));
    for (const { runId } of decisions) {
      expect(await idem.runs.wait(runId!)).toMatchObject({ state: "completed" });
    }
    expect(await effects(world)).toEqual(kinds.map(({ place, kills }) => `${place} ${kills}`).sort());
    expect(await memos(world)).toHaveLength(kinds.length);
  });

  test("sessions that the server ends at any time leave one row for each run", async () => {
    const world = await openWorld();
    // No run can lose more attempts than it has, whichever sessions are met.
    const killsMax = 20;
    // One run is not over before the first kill.
    const first = held();
    const idem = await world.node();
    idem.createFunction(
      { id: "book", retries: killsMax, backoff: () => 0 },
      { event: "order/paid" },
      ({ step, event }) =>
        step.transaction("write", async (tx) => {
          await effect(tx, world, `order ${event.data.n}`);
          if (event.data.n === 100) await first.promise;
          await tx.query("select 1");
          return event.data.n;
        }),
    );
    await idem.start();
    const { decisions } = await idem.send(
      Array.from({ length: 60 }, (_, n) => ({ name: "order/paid", data: { n: 100 + n } })),
    );
    let [isOver, killed] = [false, 0];
    const kill = `
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like '%(steps)'
      order by backend_start, pid offset $1::int limit 1`;
    const killing = (async () => {
      for (let turn = 0; !isOver && killed < killsMax; turn++) {
        killed += (await world.column(kill, turn % 5)).length;
        if (killed > 0) first.release();
      }
    })();
    for (const { runId } of decisions) {
      expect(await idem.runs.wait(runId!)).toMatchObject({ state: "completed" });
    }
    isOver = true;
    await killing;
    expect(killed).toBeGreaterThan(0);
    expect(await effects(world)).toEqual(decisions.map((_, n) => `order ${100 + n}`));
  });

  test("a worker that lost the run writes nothing, and whoever has it next writes once", async () => {
    const world = await openWorld();
    const [entered, go] = [held(), held()];
    let entries = 0;
    const idem = await node(world, async (tx) => {
      await effect(tx, world, `entry ${++entries}`);
      if (entries > 1) return "done";
      entered.release();
      return go.promise;
    });
    const runId = await send(idem);
    await entered.promise;
    // As when it went silent, was rescued and another has it.
    const { schema, column } = world;
    await column(`update ${schema}.jobs set leased_by = 'another', fence = fence + 1`);
    go.release();
    await idem.idle();
    expect([await effects(world), await memos(world)]).toEqual([[], []]);
    expect((await idem.runs.get(runId))!.state).toBe("running");
    await column(`update ${schema}.jobs set leased_by = null, fence = fence + 1`);
    expect(await idem.runs.wait(runId)).toMatchObject({ state: "completed", output: "done" });
    expect(await effects(world)).toEqual(["entry 2"]);
  });

  test("a run that is cancelled in the middle of the body has written nothing", async () => {
    const world = await openWorld();
    const [entered, go] = [held(), held()];
    const idem = await node(world, async (tx) => {
      await effect(tx, world, "too late");
      entered.release();
      await go.promise;
    });
    const other = await world.node();
    const runId = await send(idem);
    await entered.promise;
    await other.runs.cancel(runId);
    go.release();
    await idem.idle();
    expect((await idem.runs.get(runId))!.state).toBe("cancelled");
    expect(await effects(world)).toEqual([]);
  });

  test("a step that has an outcome keeps it, and what was written beside it is undone", async () => {
    const world = await openWorld();
    const idem = await node(world, async (tx) => {
      await effect(tx, world, "second");
      // As left by a commit that nobody heard of.
      await world.column(
        `insert into ${world.schema}.steps
         select env, id, $1, 'write', 0, 'transaction', 'value', '"first"', 1, 1, 1, 1, 'somebody' from ${world.schema}.runs`,
        hashStepId("write", 0),
      );
      return "second";
    });
    expect(await end(idem)).toMatchObject({ state: "completed", output: "first" });
    expect(await effects(world)).toEqual([]);
  });

  test("a node that stops undoes the bodies it cannot wait for", async () => {
    const world = await openWorld();
    const entered = held();
    const idem = await node(world, async (tx) => {
      await effect(tx, world, "never");
      entered.release();
      await held().promise;
    });
    await send(idem);
    await entered.promise;
    await idem.stop({ grace: 0 });
    const sessions =
      "select pid from pg_stat_activity where datname = current_database() and application_name like '%(steps)'";
    await until(async () => expect(await world.column(sessions)).toEqual([]));
    expect(await effects(world)).toEqual([]);
  });
});

describe("the body has the transaction, and no more", () => {
  test("it cannot end it by hand: the step fails and is not recorded as done, whatever way it was said", async () => {
    const world = await openWorld();
    const words = [
      "commit",
      "/* at last */ commit",
      "select 1; commit",
      "select 1; commit; begin",
      "select 1; rollback; begin",
    ];
    const idem = await world.node();
    idem.createFunction({ id: "book", retries: 5 }, { event: "order/paid" }, ({ step, event }) =>
      step.transaction("write", async (tx) => {
        await effect(tx, world, "a row");
        await tx.query(event.data.text);
        return "done";
      }),
    );
    await idem.start();
    const { decisions } = await idem.send(words.map((text) => ({ name: "order/paid", data: { text } })));
    for (const { runId } of decisions) {
      const { state, error } = await idem.runs.wait(runId!);
      expect(state).toBe("failed");
      expect(error!.message).toMatch(/its body ended the transaction it was given.*TRANSACTION_MISUSED/);
    }
  });

  test("its client is of no use afterwards, and cannot be released or ended", async () => {
    const world = await openWorld();
    let kept: TransactionClient | null = null;
    const idem = await node(world, (tx) => {
      kept = tx;
      for (const word of ["release", "end", "connect"] as const) {
        expect(() => (tx as unknown as Record<string, () => unknown>)[word]!()).toThrow(/not its own/);
      }
      return tx instanceof pg.Client;
    });
    expect(await end(idem)).toMatchObject({ state: "completed", output: true });
    await expect(kept!.query("select 1")).rejects.toMatchObject({ code: "TRANSACTION_MISUSED" });
    expect(() => kept!.escapeLiteral("x")).toThrow(/after the body had ended/);
  });

  test("it reads types as pg does, with the server's own settings", async () => {
    const world = await openWorld();
    const idem = await node(world, async (tx) => {
      const { rows } = await tx.query("select 1::int8 as big, current_setting('enable_seqscan') as scans, 'a' as text");
      const level = await tx.query("show transaction_isolation");
      return [rows[0], level.rows[0]];
    });
    const output = [{ big: "1", scans: "on", text: "a" }, { transaction_isolation: "read committed" }];
    expect(await end(idem)).toMatchObject({ state: "completed", output });
  });

  test("another isolation can be chosen before the first statement", async () => {
    const world = await openWorld();
    const idem = await node(world, async (tx) => {
      await tx.query("set transaction isolation level serializable");
      await effect(tx, world, "a row");
      return (await tx.query("show transaction_isolation")).rows;
    });
    expect(await end(idem)).toMatchObject({ output: [{ transaction_isolation: "serializable" }] });
    expect(await effects(world)).toEqual(["a row"]);
  });

  test("more bodies than there are sessions wait in line, and nothing else waits for them", async () => {
    const world = await openWorld();
    const go = held();
    let [at, most] = [0, 0];
    const body: Body = async (tx) => {
      most = Math.max(most, ++at);
      await effect(tx, world, "a row");
      await go.promise;
      at--;
    };
    const idem = await node(world, body, { url: `${world.url}&txpool=2` });
    const { decisions } = await idem.send(Array.from({ length: 6 }, () => ({ name: "order/paid" })));
    await until(() => expect(at).toBe(2));
    const free = await world.node();
    free.createFunction({ id: "other" }, { event: "other" }, ({ step }) => step.run("x", () => 1));
    expect((await idem.send({ name: "unheard" })).ids).toHaveLength(1);
    go.release();
    for (const { runId } of decisions) expect(await idem.runs.wait(runId!)).toMatchObject({ state: "completed" });
    expect(most).toBe(2);
    expect(await effects(world)).toHaveLength(6);
  });
});

describe("where the engine has no PostgreSQL, it says what it needs", () => {
  const needs = /^step\.transaction\("write"\) needs an engine on PostgreSQL in this process/;
  const define = (idem: Idem) =>
    idem.createFunction({ id: "book", retries: 0 }, { event: "order/paid" }, ({ step }) =>
      step.transaction("write", () => 1),
    );

  test("on any other store", async () => {
    const { idem, clock } = testIdem<any>();
    onTestFinished(() => idem.stop());
    define(idem);
    await idem.start();
    const runId = await send(idem);
    await clock.advanceToEnd();
    expect((await idem.runs.wait(runId)).error!.message).toMatch(needs);
  });

  test("in an app that a server calls, whatever the server's store is; and so does sending in a transaction", async () => {
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const start = { port: 0, store: "memory:", discovery: false, poll: false } as const;
    const server = await startServer(start, { logger: quiet });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const idem = new Idem({ id: "shop", server: server.origin, logger: quiet });
    define(idem);
    await syncApp(server.world, "default", await served(idem));
    const { error } = await runsApi(() => server.world.engine("default")).wait(await send(idem));
    expect(error!.message).toMatch(needs);
    const tx = { query: async () => ({ rows: [] }) };
    await expect(idem.send({ name: "order/paid" }, { tx })).rejects.toMatchObject({ code: "TRANSACTION_UNSUPPORTED" });
  });
});
