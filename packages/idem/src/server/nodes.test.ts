// Whole servers over one store, as nodes: what each answers, and what becomes of a request that reached the wrong one.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Inngest } from "inngest";
import { createDefer } from "inngest/experimental";
import { serve } from "inngest/node";
import { subscribe } from "inngest/realtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { derivedUlid } from "../model/ulid.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { runsApi } from "../sdk/reads-api.ts";
import { held } from "../testing/one-run.suite.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import { bulkOf } from "./bulk-work.ts";
import { endpointLimits } from "./endpoints/limits.ts";
import { type TestServer, testServer } from "./test-server.suite.ts";
import type { ServerSettings } from "./world.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function cluster() {
  const { handle } = sharedStore(nodePlatform);
  return async (settings: Partial<ServerSettings> = {}) => {
    const { store } = handle();
    return { ...(await testServer(settings, { store })), store };
  };
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** An app of the official SDK that tells everything to `origin`. */
async function shop(origin: string, entered: string[], steps: readonly string[]): Promise<string> {
  const inngest = new Inngest({ id: "shop", isDev: true, baseUrl: origin, logger: quiet });
  const on = [{ event: "order/paid" as const }];
  const pay = inngest.createFunction({ id: "pay", triggers: on, retries: 0 }, async ({ step }) => {
    for (const id of steps) await step.run(id, () => entered.push(id));
    return "paid";
  });
  return listening(serve({ client: inngest, functions: [pay] }));
}

async function listening(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`;
}

const refusedByRole = { status: 503, json: { code: "WRONG_ROLE" } };

async function sendOrder(server: TestServer): Promise<string> {
  const { json } = await server.ask("/e/key", post({ name: "order/paid" }, { "x-idem-decisions": "true" }));
  const engine = await server.world.engine("default");
  const [decision] = await engine.store.reads.decisionsOfEvent("default", json.ids[0]);
  return decision!.runId!;
}

const endOf = (server: TestServer, runId: string) => runsApi(() => server.world.engine("default")).wait(runId);

describe("roles", () => {
  test("an app that tells one node is executed by another, each of its steps once", async () => {
    const start = cluster();
    const [api, worker] = [await start({ role: "api" }), await start({ role: "worker" })];
    const entered: string[] = [];
    const url = await shop(api.origin, entered, ["charge", "mail"]);
    expect(await api.ask("/api/apps", post({ url }))).toMatchObject({ status: 200 });
    const runId = await sendOrder(api);
    expect(await endOf(api, runId)).toMatchObject({ state: "completed", output: "paid" });
    expect(entered).toEqual(["charge", "mail"]);
    expect((await worker.world.engine("default")).worker.counts.leased).toBeGreaterThan(0);
    expect((await api.world.engine("default")).worker.counts.leased).toBe(0);
  });

  test("a node with the role worker answers for itself and sends everybody else away, to try another", async () => {
    const start = cluster();
    const worker = await start({ role: "worker" });
    expect(await worker.ask("/health")).toMatchObject({ status: 200 });
    expect(await worker.ask("/metrics")).toMatchObject({ status: 200 });
    const refused = await worker.ask("/e/key", post({ name: "order/paid" }));
    expect(refused).toMatchObject({ status: 503, json: { code: "WRONG_ROLE", ids: [] } });
    expect(refused.headers.get("retry-after")).toBe("1");
    for (const path of ["/api/runs", "/api/status", "/dev", "/v1/events"]) {
      expect(await worker.ask(path)).toMatchObject(refusedByRole);
    }
    expect(await upgrade(worker, "/connect")).toMatch(/^HTTP\/1.1 503 .*WRONG_ROLE/s);
  });

  test("a node with the role api sends workers to those that execute", async () => {
    const start = cluster();
    const api = await start({ role: "api" });
    const body = new Uint8Array(0);
    const headers = { "content-type": "application/protobuf" };
    expect(await api.ask("/v0/connect/start", { method: "POST", headers, body })).toMatchObject(refusedByRole);
    expect(await upgrade(api, "/connect", "v0.connect.inngest.com")).toMatch(/^HTTP\/1.1 503 .*WRONG_ROLE/s);
  });

  test("without others to do the work the role api is refused, and the store is let go", async () => {
    await expect(testServer({ role: "api" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("PostgreSQL"),
    });
    await expect(testServer({ role: "both" as "all" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

/** The first words of the answer to an upgrade. */
async function upgrade({ port }: TestServer, path: string, protocol = "any"): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const lines = [
    `GET ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    `sec-websocket-protocol: ${protocol}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const chunks = await socket.toArray();
  return Buffer.concat(chunks).toString();
}

describe("environments", () => {
  test("one that came into being through another node is opened here too, and its runs are executed", async () => {
    const start = cluster();
    const [one, other] = [await start({ role: "api" }), await start()];
    const url = await shop(one.origin, [], []);
    const inStaging = { "x-inngest-env": "staging" };
    expect(await one.ask("/api/apps", post({ url }, inStaging))).toMatchObject({ status: 200 });
    await one.ask("/e/key", post({ name: "order/paid" }, inStaging));
    const engine = await one.world.engine("staging");
    const [run] = await engine.store.reads.runs("staging", { limit: 1 });
    expect(await engine.ends.wait(run!.id)).toMatchObject({ state: "completed" });
    expect([...other.world.engines.keys()].sort()).toEqual(["default", "staging"]);
  });
});

// ------------------------------------------------------------------------------------------------ realtime

test("a subscriber of the SDK at one node hears what the SDK publishes through the others", async () => {
  globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
  const start = cluster();
  const nodes = [await start(), await start({ role: "api" })];
  const clients = nodes.map(({ origin }) => new Inngest({ id: "shop", isDev: true, baseUrl: origin, logger: quiet }));
  const topics = { channel: "chat", topics: ["words"] };
  const stream = await subscribe({ app: clients[0]!, ...topics });
  onTestFinished(() => stream.close());
  for (const n of [0, 1, 2, 3]) await clients[n % 2]!["inngestApi"].publish(topics, n);
  const heard: unknown[] = [];
  for await (const message of stream) if (heard.push(message.data) === 4) break;
  expect(heard).toEqual([0, 1, 2, 3]);
});

// ------------------------------------------------------------------------------------------------ durable endpoints

let runIds = 0;
/** The server refuses ids whose time is more than a day off. */
const newRunId = () => derivedUlid(nodePlatform.wallMs(), `run ${++runIds}`);

const ran = (id: string) => ({ id, op: "StepRun", name: id, displayName: id, opts: {}, data: id });

const firstReport = (runId: string) => ({
  run_id: runId,
  event: {
    name: "inngest/http.request",
    data: { domain: "http://127.0.0.1:9", method: "GET", path: "/x", query_params: "", body: "", fn: "" },
  },
  steps: [ran("a")],
  ts: 1,
  request_version: 2,
  retries: 3,
});

const report = (runId: string, ...steps: object[]) => ({ app_id: "x", fn_id: "x", run_id: runId, steps, ts: 2 });
const slept = { id: "z", op: "Sleep", name: "rest", displayName: "rest", opts: { duration: "7d" } };
const completed = (body: string) => ({
  id: "end",
  op: "RunComplete",
  name: "end",
  data: { status: 200, headers: {}, body },
});

describe("a run that an app's handler drives", () => {
  test("takes its reports through any node: each step once, and its end", async () => {
    const start = cluster();
    const nodes = [await start(), await start(), await start({ role: "api" })];
    const [one, other, api] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
    const runId = newRunId();
    const first = post(firstReport(runId));
    for (const node of nodes) expect(await node.ask("/v1/checkpoint", first)).toMatchObject({ status: 200 });
    const say = (node: TestServer, ...steps: object[]) =>
      node.ask(`/v1/checkpoint/${runId}/steps`, post(report(runId, ...steps)));
    expect(await say(other, ran("b"))).toMatchObject({ status: 200 });
    expect(await say(other, ran("b"))).toMatchObject({ status: 200 });
    expect(await say(api, ran("c"))).toMatchObject({ status: 200 });
    expect(await say(one, ran("d"))).toMatchObject({ status: 200 });
    const isStale = { status: 409, json: { code: "CHECKPOINT_STALE" } };
    expect(await say(api, { ...ran("c"), data: "another" })).toMatchObject(isStale);
    for (const node of [api, other, one]) expect(await say(node, completed("done"))).toMatchObject({ status: 200 });
    for (const node of nodes) expect(await say(node, completed("other"))).toMatchObject(isStale);
    const memo = await api.store.reads.runMemo("default", runId);
    expect(memo!.steps.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
    expect(memo!.run).toMatchObject({ state: "completed" });
    expect(memo!.attempts).toEqual([]);
  });

  test("is handed over through another node, once: its handler must not go on any more", async () => {
    const start = cluster();
    const [one, other] = [await start(), await start({ role: "api" })];
    const runId = newRunId();
    expect(await one.ask("/v1/checkpoint", post(firstReport(runId)))).toMatchObject({ status: 200 });
    const say = (...steps: object[]) => other.ask(`/v1/checkpoint/${runId}/steps`, post(report(runId, ...steps)));
    expect(await say(slept)).toMatchObject({ status: 200 });
    expect(await say(slept)).toMatchObject({ status: 200 });
    expect(await say(ran("b"))).toMatchObject({ status: 409 });
    const memo = await other.store.reads.runMemo("default", runId);
    expect([memo!.run.state, memo!.waits.length]).toEqual(["waiting", 1]);
  });

  test("is not taken for silent by its node while another hears its handler", async () => {
    const { handle } = sharedStore(nodePlatform);
    const due = new Set<() => void>();
    const timer: Platform["timer"] = (delayMs, run, options) => {
      if (delayMs !== endpointLimits.silentMs) return nodePlatform.timer(delayMs, run, options);
      due.add(run);
      return { cancel: () => void due.delete(run) };
    };
    const one = await testServer({}, { store: handle().store, platform: { ...nodePlatform, timer } });
    const other = await testServer({}, { store: handle().store });
    const runId = newRunId();
    expect(await one.ask("/v1/checkpoint", post(firstReport(runId)))).toMatchObject({ status: 200 });
    const say = (node: TestServer, ...steps: object[]) =>
      node.ask(`/v1/checkpoint/${runId}/steps`, post(report(runId, ...steps)));
    expect(await say(other, ran("b"))).toMatchObject({ status: 200 });
    for (const run of [...due]) {
      due.delete(run);
      run();
    }
    expect(await say(other, ran("c"))).toMatchObject({ status: 200 });
    expect(await say(one, ran("d"))).toMatchObject({ status: 200 });
    expect(await say(other, completed("done"))).toMatchObject({ status: 200 });
    // Nobody is at its address: entered again, it would not have been reached.
    expect(one.logged.filter(({ text }) => text.includes("reached"))).toEqual([]);
  });

  test("begins through a node that executes nothing, and is driven by one that does", async () => {
    const start = cluster();
    const [api, worker] = [await start({ role: "api" }), await start({ role: "worker" })];
    const runId = newRunId();
    expect(await api.ask("/v1/checkpoint", post(firstReport(runId)))).toMatchObject({ status: 200 });
    const end = post(report(runId, completed("done")));
    expect(await api.ask(`/v1/checkpoint/${runId}/steps`, end)).toMatchObject({ status: 200 });
    expect(await endOf(api, runId)).toMatchObject({ state: "completed" });
    expect((await worker.world.engine("default")).worker.counts.entered).toBe(1);
  });

  test("goes on through another when its node stops: the handler is not entered a second time", async () => {
    const start = cluster();
    const [one, other] = [await start(), await start()];
    const runId = newRunId();
    expect(await one.ask("/v1/checkpoint", post(firstReport(runId)))).toMatchObject({ status: 200 });
    await one.close({ graceMs: 0 });
    const steps = report(runId, ran("b"));
    expect(await other.ask(`/v1/checkpoint/${runId}/steps`, post(steps))).toMatchObject({ status: 200 });
    const memo = await other.store.reads.runMemo("default", runId);
    expect([memo!.steps.map(({ name }) => name), memo!.attempts]).toEqual([["a", "b"], []]);
  });
});

// ------------------------------------------------------------------------------------------------ checkpoints

describe("checkpoints", () => {
  const checkpoint = (server: TestServer, runId: string, said: object) =>
    server.ask(`/v1/checkpoint/${runId}/async`, post({ steps: [ran("b")], ...said }));

  test("are taken by any node, by the fence of the call they belong to, and refused once another call has begun", async () => {
    const start = cluster();
    const [one, other] = [await start(), await start({ role: "api" })];
    const end = held();
    await one.define("pack", { event: "order/paid" }, ({ step }: any) => step.run("pack", () => end.promise));
    const runId = await sendOrder(one);
    await expect.poll(() => one.store.reads.held("default", runId)).not.toBeNull();
    const { fence } = (await one.store.reads.held("default", runId))!;
    const named = [{ generation_id: fence }, { qi_id: `${runId}:${fence}` }];
    for (const said of named) expect(await checkpoint(other, runId, said)).toMatchObject({ status: 200 });
    const isStale = { status: 409, json: { code: "CHECKPOINT_STALE" } };
    expect(await checkpoint(other, runId, { generation_id: fence - 1 })).toMatchObject(isStale);
    const differs = { steps: [{ ...ran("b"), data: "another" }], generation_id: fence };
    expect(await checkpoint(other, runId, differs)).toMatchObject(isStale);
    expect(await checkpoint(other, runId, {})).toMatchObject({ status: 503 });
    end.release();
    await endOf(other, runId);
    expect(await checkpoint(other, runId, { generation_id: fence })).toMatchObject(isStale);
    const memo = await one.store.reads.runMemo("default", runId);
    expect(memo!.steps.map(({ name }) => name).sort()).toEqual(["b", "pack"]);
  });

  test("that reach another node than the run's are in the memo of its next call: no step is entered twice", async () => {
    const start = cluster();
    const [one, other] = [await start(), await start({ role: "api" })];
    const inngest = new Inngest({ id: "shop", isDev: true, baseUrl: other.origin, logger: quiet });
    const entered: string[] = [];
    const asked: number[] = [];
    const pay = inngest.createFunction(
      { id: "pay", triggers: [{ event: "order/paid" }], retries: 0 },
      async ({ step, defer }) => {
        asked.push(entered.length);
        defer("later", { function: later, data: { n: 1 } });
        for (const id of ["a", "b", "c"]) await step.run(id, () => entered.push(id));
        await step.sleep("rest", "1s");
        await Promise.all(["p", "q"].map((id) => step.run(id, () => entered.push(id))));
        return entered.length;
      },
    );
    const later = createDefer(inngest, { id: "later" }, (async () => void entered.push("later")) as never);
    const url = await listening(serve({ client: inngest, functions: [pay, later] }));
    expect(await one.ask("/api/apps", post({ url }))).toMatchObject({ status: 200 });
    const runId = await sendOrder(one);
    expect(await endOf(one, runId)).toMatchObject({ state: "completed", output: 5 });
    await expect.poll(() => entered).toContain("later");
    expect([...entered].sort()).toEqual(["a", "b", "c", "later", "p", "q"]);
    // One call up to the sleep, as with one node.
    expect(asked.slice(0, 2)).toEqual([0, 3]);
  });
});

// ------------------------------------------------------------------------------------------------ bulk work

describe("bulk work", () => {
  async function slowly() {
    const start = cluster();
    const [one, other] = [await start(), await start({ role: "api" })];
    const { cancel } = one.store;
    let isSlow = true;
    Object.assign(one.store, {
      cancel: async (input: Parameters<typeof cancel>[0]) => {
        while (isSlow) await new Promise<void>((resolve) => nodePlatform.soon(resolve));
        return cancel(input);
      },
    });
    await one.define("pack", { event: "order/paid" }, ({ step }: any) => step.sleep("long", "7d"));
    await sendOrder(one);
    const body = { id: "b-1", action: "cancel", filter: { function: "test-pack" } };
    expect((await one.ask("/api/bulk", post(body))).json.bulk).toMatchObject({ state: "running" });
    const goOn = () => {
      isSlow = false;
    };
    return { one, other, body, goOn };
  }

  test("that one node does is told by every node, and the same request begins it nowhere else", async () => {
    const { one, other, body, goOn } = await slowly();
    const running = { id: "b-1", state: "running", action: "cancel" };
    expect((await other.ask("/api/bulk", post(body))).json.bulk).toMatchObject(running);
    expect((await other.ask("/api/bulk/b-1")).json.bulk).toMatchObject(running);
    expect((await other.ask("/api/bulk")).json.bulk).toMatchObject([running]);
    goOn();
    await bulkOf(one.world).ended("default", "b-1");
    expect((await other.ask("/api/bulk/b-1")).json.bulk).toMatchObject({ state: "completed", doneCount: 1 });
  });

  test("is stopped through any node", async () => {
    const { one, other, goOn } = await slowly();
    const stopped = other.ask("/api/bulk/b-1/cancel", post({}));
    await expect.poll(() => one.store.reads.claim("default", "bulk-stop", "b-1")).not.toBeNull();
    goOn();
    await bulkOf(one.world).ended("default", "b-1");
    expect((await stopped).json.bulk).toMatchObject({
      id: "b-1",
      state: expect.stringMatching(/^(cancelled|completed)$/),
    });
  });
});
