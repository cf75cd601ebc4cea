import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../cli/store-world.ts";
import { errors } from "../model/errors.ts";
import { metrics as listed, prometheusName } from "../observe/metric-list.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { callOwner } from "../sdk/owner-socket.ts";
import { MemoryStore } from "../store/memory/store.ts";
import type { Store } from "../store/store.ts";
import { startServer } from "./start-server.ts";
import { testKeys, testServer } from "./test-server.suite.ts";

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

test("a server answers on the port it was given, until it is closed", async () => {
  const server = await testServer();
  expect(await server.ask("/health")).toMatchObject({ status: 200, json: { status: 200, message: "OK" } });
  await server.close();
  await expect(server.ask("/health")).rejects.toThrow();
  await server.close();
});

test("an event sent over HTTP starts a run of each function it reaches, and the same event again starts none", async () => {
  const server = await testServer();
  let runs = 0;
  await server.define("count", { event: "order/paid" }, () => {
    runs++;
  });
  const event = { name: "order/paid", id: "order-7", data: { total: 10 } };
  const first = await server.ask("/e/any", post([event]));
  expect(first).toMatchObject({ status: 200, json: { status: 200, ids: [expect.any(String)] } });
  const second = await server.ask("/e/any", post([event]));
  expect(second.json.status).toBe(200);
  const engine = await server.world.engine("default");
  await engine.worker.idle();
  expect(runs).toBe(1);
});

test.each([
  ["is away", errors.STORE_UNAVAILABLE({ why: "connect ECONNREFUSED" }), "5"],
  ["has too many calls waiting", errors.STORE_BUSY({ queued: 10_000 }), "1"],
])("every API answers 503 with Retry-After while the store %s", async (_, error, seconds) => {
  const memory: Store = new MemoryStore(nodePlatform);
  let isAway = false;
  const answer = (target: object) =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name) as unknown;
        if (name === "reads") return reads;
        if (typeof value !== "function") return value;
        return (...input: unknown[]) => (isAway ? Promise.reject(error) : value.apply(of, input));
      },
    });
  const reads = answer(memory.reads);
  const server = await testServer({ radar: false }, { store: answer(memory) as Store });
  isAway = true;
  const requests = [
    ["/e/any", post({ name: "order/paid" })],
    ["/api/runs"],
    ["/api/runs/01J00000000000000000000000/cancel", post({ reason: "test" })],
    ["/v1/events"],
  ] as const;
  for (const [path, init] of requests) {
    const { status, headers, json } = await server.ask(path, init);
    expect([path, status, headers.get("retry-after"), json.code]).toEqual([path, 503, seconds, error.code]);
  }
  isAway = false;
});

test("metrics say what was accepted, decided, recognised, executed and queued", async () => {
  const server = await testServer();
  await server.define("pay", { event: "order/paid" }, ({ step }) => step.run("charge", () => 1));
  const event = { name: "order/paid", id: "order-7" };
  for (let i = 0; i < 3; i++) await server.ask("/e/any", post(event));
  await (await server.world.engine("default")).worker.idle();
  const { status, headers, text } = await server.ask("/metrics");
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  for (const line of [
    'idem_events_accepted_total{env="default"} 3',
    'idem_decisions_total{env="default",kind="started"} 1',
    'idem_decisions_total{env="default",kind="duplicate-event"} 2',
    'idem_suppressed_duplicates_total{env="default",layer="event-id"} 2',
    'idem_step_seconds_count{env="default",kind="run",outcome="value"} 1',
    'idem_runs_ended_total{env="default",state="completed"} 1',
    'idem_queue_depth{env="default"} 0',
    'idem_queue_oldest_seconds{env="default"} 0',
    'idem_runs{env="default",state="waiting"} 0',
    'idem_http_under_way{kind="request"} 1',
    "idem_commit_calls_count 0",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(text).toMatch(/^idem_event_loop_delay_seconds\{quantile="0.99"\} \d/m);
  const shown = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
  expect(shown.sort()).toEqual(Object.values(listed).map(prometheusName).sort());
});

test("metrics say who stands in line, what waits to be decided, and how schedules keep time", async () => {
  const store = new MemoryStore(nodePlatform);
  const config = { name: "x", retries: 0, idempotency: null, startTimeoutMs: null, finishTimeoutMs: null };
  const limited = {
    ...config,
    id: "pay",
    triggers: [{ event: "order/paid" }],
    concurrency: [{ limit: 1, key: null, scope: "fn" }],
  };
  const gathered = {
    ...config,
    id: "mail",
    triggers: [{ event: "order/paid" }],
    batch: { maxSize: 9, timeoutMs: 60_000, key: null, if: null },
  };
  const scheduled = { ...config, id: "nightly", triggers: [{ cron: "0 0 1 1 *" }] };
  const functions = [limited, gathered, scheduled].map((each) => ({
    fn: `gone-${each.id}`,
    id: each.id,
    config: JSON.stringify(each),
    crons: each === scheduled ? ["0 0 1 1 *"] : [],
  }));
  await store.register({ env: "default", app: "gone", functions });
  const server = await testServer({}, { store });
  for (let i = 0; i < 2; i++) await server.ask("/e/any", post({ name: "order/paid" }));
  const { text } = await server.ask("/metrics");
  for (const line of [
    'idem_runs_in_line{env="default",function="gone-pay"} 2',
    'idem_slots_in_use{env="default",function="gone-pay"} 0',
    'idem_events_pending{env="default",kind="batched"} 2',
    'idem_events_pending{env="default",kind="held"} 0',
    'idem_decisions_total{env="default",kind="batched"} 2',
    'idem_cron_overdue_seconds{env="default"} 0',
    "# TYPE idem_cron_late_seconds histogram",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(text).not.toContain("gone-mail");
});

test("how long the oldest due run has waited is shown while nobody can take it up", async () => {
  const store = new MemoryStore(nodePlatform);
  const config = { id: "pay", name: "pay", triggers: [{ event: "order/paid" }], retries: 0, idempotency: null };
  const full = { ...config, startTimeoutMs: null, finishTimeoutMs: null };
  const functions = [{ fn: "gone-pay", id: "pay", config: JSON.stringify(full), crons: [] }];
  await store.register({ env: "default", app: "gone", functions });
  const server = await testServer({}, { store });
  await server.ask("/e/any", post({ name: "order/paid" }));
  const { text } = await server.ask("/metrics");
  expect(text).toContain('idem_queue_depth{env="default"} 1');
  expect(text).toMatch(/^idem_queue_oldest_seconds\{env="default"\} \d/m);
});

test("a run that fails is told as an error, with its function, reason and stack", async () => {
  const server = await testServer();
  await server.define("pay", { event: "order/paid" }, () => {
    throw new TypeError("no card\nat all");
  });
  await server.ask("/e/any", post({ name: "order/paid" }));
  await expect
    .poll(() => server.logged.filter(({ level }) => level === "error").map(({ text }) => text))
    .toEqual([expect.stringMatching(/^idem: run \w+ of "pay" failed: TypeError: no card\n {4}at all\n {4}at .*test/)]);
});

test("the OpenAPI document describes every route that is meant for tools", async () => {
  const server = await testServer();
  const { json } = await server.ask("/api/openapi.json");
  expect(json.openapi).toBe("3.1.0");
  expect(Object.keys(json.paths)).toContain("/api/runs/{run}");
  for (const operations of Object.values(json.paths) as Record<string, any>[]) {
    for (const operation of Object.values(operations)) {
      expect(operation).toMatchObject({ operationId: expect.any(String), summary: expect.any(String) });
      expect(operation.responses["200"].content["application/json"].schema).toBeTypeOf("object");
    }
  }
});

test("a problem's type leads to a page about its code", async () => {
  const server = await testServer();
  const { json } = await server.ask("/api/nothing");
  expect(json).toMatchObject({ code: "ROUTE_UNKNOWN", type: "/docs/errors/ROUTE_UNKNOWN" });
  const { status, text } = await server.ask(json.type);
  expect([status, text]).toEqual([200, expect.stringContaining("There is nothing at ‹method› ‹path›")]);
  expect((await server.ask("/docs/errors/__proto__")).status).toBe(404);
});

const withKeys = { mode: "start" as const, eventKeys: [testKeys.event], signingKeys: [testKeys.signing] };

test("with keys, the API and the metrics are closed to strangers, and health is open", async () => {
  const server = await testServer({ ...withKeys, password: "a word between us" });
  expect((await server.ask("/health")).status).toBe(200);
  expect((await server.ask("/metrics")).status).toBe(401);
  expect((await server.ask("/api/runs")).headers.get("www-authenticate")).toBe('Basic realm="idem"');
  const authorization = `Basic ${btoa("me:a word between us")}`;
  expect((await server.ask("/metrics", { headers: { authorization } })).status).toBe(200);
  expect((await server.ask("/api/runs", { headers: { authorization } })).status).toBe(200);
  expect((await server.ask("/e/wrong", post({ name: "a" }))).json).toMatchObject({ status: 401, ids: [] });
});

test.each([
  [{ mode: "start" as const }, "KEYS_MISSING"],
  [{ mode: "start" as const, eventKeys: ["a"] }, "KEYS_MISSING"],
  [{ mode: "start" as const, eventKeys: [testKeys.event], signingKeys: ["not hex"] }, "KEY_INVALID"],
  [{ ...withKeys, eventKeys: ["a/b"] }, "KEY_INVALID"],
  [{ ...withKeys, host: "0.0.0.0" }, "PASSWORD_MISSING"],
  [{ ...withKeys, eventKeys: ["a"] }, "SECRET_WEAK"],
  [{ ...withKeys, eventKeys: [testKeys.event, "staging=a"] }, "SECRET_WEAK"],
  [{ ...withKeys, signingKeys: ["ab"] }, "SECRET_WEAK"],
  [{ ...withKeys, signingKeys: [testKeys.signing, "signkey-prod-00000000000000000000000000000000"] }, "SECRET_WEAK"],
  [{ ...withKeys, password: "x", host: "0.0.0.0" }, "SECRET_WEAK"],
  [{ ...withKeys, password: "Password1234" }, "SECRET_WEAK"],
  [{ ...withKeys, password: "a word between us", viewerPassword: "viewer" }, "SECRET_WEAK"],
  [{ host: "0.0.0.0" }, "DEV_EXPOSED"],
  [{ mode: "dev" as const, host: "::" }, "DEV_EXPOSED"],
  [{ port: 70_000 }, "OPTION_INVALID"],
  [{ sdkUrls: ["localhost:3000"] }, "OPTION_INVALID"],
  [{ traceUrl: "https://jaeger.example/trace/" }, "OPTION_INVALID"],
  [{ traceUrl: "javascript:alert('{traceId}')" }, "OPTION_INVALID"],
  [{ store: "redis://x" }, "STORE_URL_INVALID"],
])("settings %j are refused with %s, before anything is opened", async (settings, code) => {
  await expect(startServer(settings)).rejects.toMatchObject({ code });
});

test("every environment that has functions goes on after a restart, and a new one opens when it is asked for", async () => {
  const store = new MemoryStore(nodePlatform);
  const config = JSON.stringify({ id: "f", name: "f", triggers: [], retries: 0, idempotency: null });
  await store.register({ env: "staging", app: "a", functions: [{ fn: "a-f", id: "f", config, crons: [] }] });
  const server = await testServer({}, { store });
  expect([...server.world.engines.keys()].sort()).toEqual(["default", "staging"]);
  expect((await server.ask("/e/any", post({ name: "a/b" }, { "x-inngest-env": "feature/x" }))).status).toBe(200);
  expect([...server.world.engines.keys()]).toContain("feature/x");
});

test("strangers cannot make a dev server open environments without end: a full house is 503", async () => {
  const server = await testServer();
  const answers = [];
  for (let i = 0; i < 110; i++) {
    answers.push((await server.ask("/e/any", post({ name: "a/b" }, { "x-inngest-env": `e${i}` }))).status);
  }
  expect(new Set(answers)).toEqual(new Set([200, 503]));
  expect(server.world.engines.size).toBe(100);
});

test("the command line of this machine writes through a running server, on its own engines", async () => {
  const path = join(temporaryFolder(), "server.db");
  const server = await testServer({ store: `sqlite:${path}` });
  const ran: unknown[] = [];
  await server.define("count", { event: "order/paid" }, ({ event }) => void ran.push(event.data.n));
  const owner = (await callOwner(nodePlatform.local!, path, nodePlatform, 10_000))!;
  onTestFinished(() => owner.close());
  const { decisions } = await owner.ask("send", "default", { event: { name: "order/paid", data: { n: 7 } } });
  expect(decisions).toMatchObject([{ kind: "started", function: "count" }]);
  await (await server.world.engine("default")).worker.idle();
  expect(ran).toEqual([7]);
  await server.close();
  expect(await callOwner(nodePlatform.local!, path, nodePlatform, 1_000)).toBeNull();
});

test("a server that cannot listen lets go of its store", async () => {
  const first = await testServer();
  const path = join(temporaryFolder(), "server.db");
  const settings = { port: first.port, store: `sqlite:${path}`, discovery: false, poll: false };
  await expect(startServer(settings)).rejects.toMatchObject({ code: "PORT_TAKEN" });
  await testServer({ store: `sqlite:${path}` });
});
