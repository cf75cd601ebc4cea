// Recorded effects and steps in databases of the user's, wherever a function may be executed: nodes on PostgreSQL, and apps that a server calls.
import { describe, expect, onTestFinished, test } from "vitest";
import { destination } from "../dedup/destinations.ts";
import { Idem } from "../sdk/client.ts";
import { runsApi } from "../sdk/reads-api.ts";
import { served } from "../serve/listening.suite.ts";
import { startServer } from "../server/start-server.ts";
import { syncApp } from "../server/sync-app.ts";
import { usePostgres } from "../testing/postgres-world.suite.ts";

const openWorld = usePostgres();
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe("nodes on PostgreSQL", () => {
  test("record effects, answer a rerun from the record, and park what the destination may have forgotten by the database's clock", async () => {
    const world = await openWorld();
    let calls = 0;
    const define = (idem: Idem) => {
      idem.createFunction({ id: "pay", retries: 0 }, { event: "order/paid" }, ({ event, step }) =>
        step.effect("charge", { destination: "paypal/orders", entity: event.data.order }, () => {
          calls++;
          if (event.data.order === "lost") throw new Error("socket hang up");
          return { id: `in_${calls}` };
        }),
      );
      return idem.start();
    };
    const [one, two] = [await world.node(), await world.node()];
    await define(one);
    await define(two);
    const send = async (order: string) => {
      const { decisions } = await one.send({ name: "order/paid", data: { order } });
      await one.runs.wait(decisions[0]!.runId!);
      return decisions[0]!.runId!;
    };
    const [sent, lost] = [await send("sent"), await send("lost")];
    await world.column(`update ${world.schema}.claims set taken_at = taken_at - 25200000 where scope like 'effect:%'`);
    const again = async (idem: Idem, runId: string) => {
      const rerun = await idem.runs.rerun(runId, { fromStep: "charge" });
      return idem.runs.wait(rerun.runId);
    };
    expect(await again(two, sent)).toMatchObject({ state: "completed", output: { id: "in_1" } });
    expect((await again(two, lost)).error!.message).toMatch(/OUTCOME_UNKNOWN/);
    expect(world.logged.filter((line) => line.startsWith("idem: "))).toEqual([
      expect.stringMatching(/paypal\/orders:lost/),
    ]);
    expect(calls).toBe(2);
    const parked = await one.effects.list({ parked: true });
    expect(parked).toMatchObject([{ entity: "lost", state: "parked", runId: lost, step: "charge" }]);
    await one.effects.resolve(parked[0]!.id, { receipt: "in_9" });
    expect(await again(two, lost)).toMatchObject({ state: "completed", output: { id: "in_9" } });
    expect(await two.effects.list()).toMatchObject([
      { entity: "lost", receipt: "in_9" },
      { entity: "sent", receipt: "in_1" },
    ]);
    expect(calls).toBe(2);
  });
});

describe("an app that a server calls", () => {
  async function servedApp() {
    const start = { port: 0, store: "memory:", discovery: false, poll: false } as const;
    const server = await startServer(start, { logger: quiet });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const idem = new Idem({ id: "shop", server: server.origin, logger: quiet });
    const end = async (name: string) => {
      const { decisions } = await idem.send({ name });
      return runsApi(() => server.world.engine("default")).wait(decisions[0]!.runId!);
    };
    return { idem, end, sync: async () => syncApp(server.world, "default", await served(idem)) };
  }

  test("is told that it has no store to record an effect in, before anything is sent; the destination's headers work there", async () => {
    const { idem, end, sync } = await servedApp();
    let calls = 0;
    idem.createFunction({ id: "effect", retries: 0 }, { event: "effect" }, ({ step }) =>
      step.effect("charge", { destination: "stripe", entity: "7" }, () => ++calls),
    );
    idem.createFunction({ id: "headers" }, { event: "headers" }, ({ step }) =>
      step.run("charge", (context) => destination("stripe").headers(context)),
    );
    await sync();
    expect((await end("effect")).error!.message).toMatch(/EFFECT_UNSUPPORTED/);
    expect((await end("headers")).output).toEqual({ "Idempotency-Key": expect.stringMatching(/^idem_/) });
    expect(calls).toBe(0);
    await expect(idem.effects.list()).rejects.toMatchObject({ code: "EFFECT_UNSUPPORTED" });
  });

  test("has steps in its own database as well as any", async () => {
    const { default: Database } = await import("better-sqlite3");
    const { sqliteAdapter } = await import("../toolkit/sql/better-sqlite3.ts");
    const { tablesSql } = await import("../toolkit/sql/tables.ts");
    const db = new Database(":memory:");
    onTestFinished(() => void db.close());
    db.exec(tablesSql("sqlite", ["idem_steps"]));
    db.exec("create table orders (what text)");
    const { idem, end, sync } = await servedApp();
    idem.createFunction({ id: "book" }, { event: "book" }, async ({ step }) => {
      const booked = await step.transaction("write", sqliteAdapter(db), (tx) =>
        Number(tx.prepare("insert into orders values ('a')").run().changes),
      );
      return { booked };
    });
    await sync();
    expect(await end("book")).toMatchObject({ state: "completed", output: { booked: 1 } });
    expect(db.prepare("select step, value from idem_steps").all()).toEqual([{ step: "write", value: "1" }]);
  });
});
