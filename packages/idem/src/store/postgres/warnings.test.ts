// What a user would see on the console: the driver warns of whoever asks a session something while it is busy.
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { openPostgresStore } from "./postgres-store.ts";
import type { Pg } from "./sessions.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const warnings: string[] = [];
const take = (warning: Error) => warnings.push(warning.message);

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());
beforeEach(() => {
  warnings.length = 0;
  process.on("warning", take);
});
afterEach(() => void process.off("warning", take));

/** As drivers before 8.23 are: what is sent one behind the other waits in the client. */
class WithoutPipelining extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ ...config, pipeline: false } as pg.ClientConfig);
  }
}
const older = { types: pg.types, Pool: pg.Pool, Client: WithoutPipelining } as unknown as Pg;

test.each([
  ["a driver that can send several statements", pg as Pg],
  ["one that cannot", older],
])("no path of the store makes the driver warn: %s", async (_, driver) => {
  const schema = driver === older ? "older" : "newer";
  const url = `${server.url}?schema=${schema}`;
  const store = await openPostgresStore({ url, pg: driver, platform: nodePlatform, owner: "test" });
  const idem = new Idem({ id: "shop", store, platform: nodePlatform, logger: silent });
  onTestFinished(() => idem.stop());
  idem.createFunction(
    { id: "charge", idempotency: "event.data.orderId", concurrency: 5, retries: 0 },
    { event: "order/paid" },
    async ({ step }) => {
      await Promise.all([step.run("a", () => 1), step.run("b", () => 2), step.sleep("c", 5)]);
      await step.run("fails", () => Promise.reject(new Error("no"))).catch(() => null);
      // A body may ask all at once, as it may of its own pool.
      const asked = await step.transaction("write", async (tx) => {
        const answers = await Promise.all([1, 2, 3, 4].map((n) => tx.query("select $1::int as n", [n])));
        return answers.map(({ rows }) => (rows[0] as { n: number }).n);
      });
      await step.sendEvent("tell", [{ name: "order/told" }, { name: "order/told" }]);
      return asked;
    },
  );
  await idem.start();
  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, orderId) => idem.send({ name: "order/paid", data: { orderId } })),
  );
  const runIds = sent.flatMap(({ decisions }) => decisions.map(({ runId }) => runId!));
  const ended = await Promise.all(runIds.map((runId) => idem.runs.wait(runId)));
  expect(ended.map(({ output }) => output)).toEqual(runIds.map(() => [1, 2, 3, 4]));
  await idem.runs.list({ limit: 5 });
  await idem.explain(runIds[0]!);
  await idem.stop();
  expect(warnings).toEqual([]);
});
