// Whole servers, an app and something between them that keeps every call: a load balancer that sends it twice, then an attacker who sends it again.
import { createServer, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Idem } from "../sdk/client.ts";
import { runsApi } from "../sdk/reads-api.ts";
import { type TestServer, testKeys, testServer } from "../server/test-server.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../testing/shared-postgres.suite.ts";
import { listening, served } from "./listening.suite.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

interface Captured {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Sends every call twice. The server gets the answer to the first copy, or `losesFirst` once for each step of a run the answer to the second. */
async function balancer(app: string, losesFirst: boolean) {
  const captured: Captured[] = [];
  const lost = new Set<string>();
  const deliver = async ({ path, method, headers, body }: Captured) => {
    const answer = await fetch(new URL(path, app), { method, headers, ...(body === "" ? {} : { body }) });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
  };
  const url = await listening(
    createServer(async (request, response) => {
      const call = await read(request);
      const isCall = call.method === "POST";
      if (isCall) captured.push(call);
      const copies = [await deliver(call), ...(isCall ? [await deliver(call)] : [])];
      const step = `${call.path} ${call.headers["x-run-id"]}`;
      const isLost = isCall && losesFirst && !lost.has(step);
      if (isLost) lost.add(step);
      const { status, headers, text } = copies[isLost ? 1 : 0]!;
      for (const name of ["content-length", "transfer-encoding", "connection"]) delete headers[name];
      response.writeHead(status, headers).end(text);
    }),
  );
  return { url: `${url}/api/idem`, captured, deliver };
}

async function read(request: IncomingMessage): Promise<Captured> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  return { path: request.url!, method: request.method!, headers: headers as Record<string, string>, body };
}

let postgres: PostgresDatabase;
beforeAll(async () => {
  postgres = await postgresDatabase();
});
afterAll(() => postgres.remove());

const settings = {
  mode: "start",
  eventKeys: [testKeys.event],
  signingKeys: [testKeys.signing],
  allowHosts: ["127.0.0.1"],
  retryIntervalMs: 20,
} as const;

const stores: Record<string, () => Promise<readonly TestServer[]>> = {
  "one node in memory": async () => [await testServer(settings)],
  "two nodes on PostgreSQL": () => {
    const store = `${postgres.url}?schema=calls&pool=4`;
    return Promise.all([testServer({ ...settings, store }), testServer({ ...settings, store })]);
  },
};

describe.each(Object.keys(stores))("with %s", (name) => {
  test.each([
    ["and answered the first time", false],
    ["and answered the second time, once for each step", true],
  ])("calls that are sent twice, %s, end every run; sent again, none is executed", async (_, losesFirst) => {
    const nodes = await stores[name]!();
    const idem = new Idem({
      id: "shop",
      server: nodes[0]!.origin,
      eventKey: testKeys.event,
      signingKey: testKeys.signing,
      logger: quiet,
    });
    const executed: string[] = [];
    const note = (what: string) => executed.push(what);
    idem.createFunction({ id: "pay", retries: 0 }, { event: "order/paid" }, async ({ step }) => {
      note("code");
      await step.run("charge", () => note("charge"));
      await Promise.all(["mail", "pack"].map((each) => step.run(each, () => note(each))));
      return step.run("close", () => "closed");
    });
    idem.createFunction({ id: "refund" }, { event: "order/returned" }, () => note("refund"));
    const { url, captured, deliver } = await balancer(await served(idem), losesFirst);
    const headers = { authorization: `Bearer ${testKeys.signing}`, "content-type": "application/json" };
    const synced = await nodes[0]!.ask("/api/apps", { method: "POST", headers, body: JSON.stringify({ url }) });
    expect(synced.status).toBe(200);

    const runs = runsApi(() => nodes[0]!.world.engine("default"));
    const sent = await Promise.all(Array.from({ length: 4 }, () => idem.send({ name: "order/paid", data: {} })));
    for (const { decisions } of sent) {
      const runId = decisions.find(({ kind }) => kind === "started")!.runId!;
      expect(await runs.wait(runId)).toMatchObject({ state: "completed", output: "closed" });
    }
    // A call is executed once, and a step again only where its answer was lost.
    const calls = new Set(captured.map(({ body }) => JSON.parse(body).ctx.request_id));
    expect(calls.size).toBe(captured.length);
    expect(executed.filter((each) => each === "code").length).toBeLessThanOrEqual(captured.length);
    expect(executed.filter((each) => each === "charge")).toHaveLength(4);
    if (!losesFirst) expect(executed.filter((each) => each === "mail")).toHaveLength(4);

    const before = executed.length;
    for (const call of captured) {
      expect((await deliver(call)).status).toBe(409);
      expect((await deliver({ ...call, path: call.path.replace("shop-pay", "shop-refund") })).status).toBe(400);
    }
    expect(executed).toHaveLength(before);
  });
});
