// Traces over HTTP, recorded by the real SDK of OpenTelemetry: from a provider's delivery or a sender's request to the apps that are called.
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { Inngest } from "inngest";
import { serve as serveInngest } from "inngest/node";
import { expect, onTestFinished, test } from "vitest";
import { drawTraces, idOf, parentOf, recordSpans, traceOfSpan } from "../observe/recorded-spans.suite.ts";
import { Idem } from "../sdk/client.ts";
import { listening, served } from "../serve/listening.suite.ts";
import { stripe } from "../toolkit/webhooks/providers/stripe.ts";
import { type TestServer, testServer } from "./test-server.suite.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const json = { "content-type": "application/json" };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const idle = async (server: TestServer) => (await server.world.engine("default")).idle();

const send = (server: TestServer, headers: Record<string, string> = {}) =>
  server.ask("/e/dev?decisions=1", {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify({ name: "order/paid", data: {} }),
  });

async function webhooks() {
  const secret = "whsec_of_the_shop";
  const server = await testServer();
  await server.define("draft-invoice", { event: "stripe/order.paid" }, async ({ step }) => {
    await step.run("read-order", () => ({ total: 10 }));
    await step.effect("create-invoice", { destination: "stripe", entity: "order-7" }, () => ({ id: "in_1" }));
  });
  const body = JSON.stringify({ name: "stripe", provider: "stripe", secret });
  await server.ask("/api/webhooks", { method: "POST", headers: json, body });
  const deliver = async (more: Record<string, string> = {}) => {
    const bytes = Buffer.from(JSON.stringify({ id: "evt_1", type: "order.paid", data: { object: { id: "7" } } }));
    const signing = { secret, bytes, url: `${server.origin}/w/stripe`, id: "", type: null, at: Date.now() };
    const { headers } = stripe({ secrets: [secret] }).sign(signing);
    const answer = await server.ask("/w/stripe", {
      method: "POST",
      headers: { ...json, ...headers, ...more },
      body: bytes,
    });
    await idle(server);
    return answer.status;
  };
  return { server, deliver };
}

test("a webhook that comes twice is one trace with its run, and one that says why there is no other and leads to the first", async () => {
  const recorded = recordSpans();
  const { deliver } = await webhooks();
  expect([await deliver(), await deliver()]).toEqual([200, 200]);
  const [first, second] = recorded.named("receive stripe/order.paid");
  const run = recorded.one("run draft-invoice");
  const again = recorded.one("duplicate-event draft-invoice");
  expect(parentOf(run)).toBe(idOf(first!));
  expect(traceOfSpan(second!)).not.toBe(traceOfSpan(first!));
  expect(parentOf(again)).toBe(idOf(second!));
  expect(again.links[0]!.context).toMatchObject({ traceId: traceOfSpan(first!), spanId: idOf(first!) });
  // The drawing for people is made of what was exported.
  const page = readFileSync(new URL("../../../../docs/observability.md", import.meta.url), "utf8");
  const drawn = drawTraces(recorded.all());
  expect(page, `docs/observability.md should have this drawing:\n${drawn}\n`).toContain(drawn);
});

test("a delivery and a request that name their span are continued, whoever else traces", async () => {
  const { server, deliver } = await webhooks();
  const recorded = recordSpans();
  await deliver({ traceparent });
  const received = recorded.one("receive stripe/order.paid");
  expect([traceOfSpan(received), parentOf(received)]).toEqual([traceId, "b7ad6b7169203331"]);
  await send(server, { traceparent });
  const sent = recorded.one("send order/paid");
  expect([traceOfSpan(sent), parentOf(sent)]).toEqual([traceId, "b7ad6b7169203331"]);
  for (const odd of ["", "00-1-2-3", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, `ff${traceparent.slice(2)}`]) {
    recorded.forget();
    expect((await send(server, { traceparent: odd })).status).toBe(200);
    expect(traceOfSpan(recorded.one("send order/paid"))).not.toBe(traceId);
  }
});

/** An app of the official SDK, and the headers of the calls it got. */
async function officialApp(server: TestServer) {
  const client = new Inngest({ id: "shop", isDev: true, baseUrl: server.origin, logger: silent });
  const bill = client.createFunction({ id: "bill", triggers: [{ event: "order/paid" }] }, ({ step }) =>
    step.run("price", () => 10),
  );
  const called: IncomingHttpHeaders[] = [];
  const handle = serveInngest({ client, functions: [bill] });
  const url = await listening(
    createServer((request, response) => {
      if (request.method === "POST") called.push(request.headers);
      void handle(request, response);
    }),
  );
  const body = JSON.stringify({ url: `${url}/api/inngest` });
  expect((await server.ask("/api/apps", { method: "POST", headers: json, body })).status).toBe(200);
  return called;
}

test("an app of the official SDK is called with the span of the call, inside the trace of its event", async () => {
  const recorded = recordSpans();
  const server = await testServer();
  const called = await officialApp(server);
  const sent = await send(server, { traceparent });
  const engine = await server.world.engine("default");
  expect(await engine.ends.wait(sent.json.decisions[0].runId)).toMatchObject({ state: "completed" });
  await idle(server);
  const calls = recorded.named("call shop-bill");
  expect(called.map((headers) => headers.traceparent)).toEqual(calls.map((span) => `00-${traceId}-${idOf(span)}-01`));
  for (const call of calls) {
    expect(parentOf(call)).toBe(idOf(recorded.one("run shop-bill")));
    expect(call.attributes["http.response.status_code"]).toBeGreaterThanOrEqual(200);
  }
});

test("where nobody traces, a request's trace still reaches the app and the run's page", async () => {
  const server = await testServer();
  const called = await officialApp(server);
  const { runId } = (await send(server, { traceparent })).json.decisions[0];
  const engine = await server.world.engine("default");
  await engine.ends.wait(runId);
  expect(called.length).toBeGreaterThan(0);
  expect(new Set(called.map((headers) => String(headers.traceparent).split("-")[1]))).toEqual(new Set([traceId]));
  expect((await server.ask(`/api/runs/${runId}`)).json.trace.id).toBe(traceId);
});

test("a client of a server sends inside the caller's trace, and its served functions make their spans inside of the call", async () => {
  const recorded = recordSpans();
  const server = await testServer();
  const idem = new Idem({ id: "shop", server: server.origin, logger: false });
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
    await step.run("price", () => 10);
    await step.sendEvent("tell", { name: "order/billed", data: {} });
    await step.sleep("nap", "1ms");
  });
  const body = JSON.stringify({ url: await served(idem) });
  await server.ask("/api/apps", { method: "POST", headers: json, body });
  const tracer = trace.getTracer("app");
  const { decisions } = await tracer.startActiveSpan("POST /orders", async (span) => {
    const sent = await idem.send({ name: "order/paid", data: {} });
    span.end();
    return sent;
  });
  const engine = await server.world.engine("default");
  expect(await engine.ends.wait(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  await idle(server);
  const order = recorded.one("POST /orders");
  expect(parentOf(recorded.one("send order/paid"))).toBe(idOf(order));
  expect(new Set(recorded.all().map(traceOfSpan))).toEqual(new Set([traceOfSpan(order)]));
  const calls = recorded.named("call shop-bill").map(idOf);
  const passes = recorded.named("run bill");
  expect(calls).toEqual(expect.arrayContaining(passes.map((span) => parentOf(span)!)));
  expect(passes.map(idOf)).toContain(parentOf(recorded.one("step price")));
  expect(parentOf(recorded.one("send order/billed"))).toBe(idOf(recorded.one("step tell")));
  // Planned by the server, which has its row.
  expect(parentOf(recorded.one("step nap"))).toBe(idOf(recorded.named("run shop-bill")[0]!));
});

test("the official exporter hands the spans to a collector", async () => {
  const taken: string[] = [];
  const collector = await listening(
    createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { resourceSpans } = JSON.parse(Buffer.concat(pieces).toString("utf8"));
      for (const { scopeSpans } of resourceSpans) {
        for (const { scope, spans } of scopeSpans) {
          for (const { name } of spans) taken.push(`${request.url} ${scope.name} ${name}`);
        }
      }
      response.writeHead(200, json).end("{}");
    }),
  );
  const exporter = new OTLPTraceExporter({ url: `${collector}/v1/traces` });
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  provider.register();
  onTestFinished(() => trace.disable());
  const idem = new Idem({ id: "shop", store: "memory:", logger: false, radar: false });
  onTestFinished(() => idem.stop());
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => 1);
  await idem.start();
  const { decisions } = await idem.send({ name: "order/paid", data: {} });
  await idem.runs.wait(decisions[0]!.runId!);
  await idem.idle();
  await provider.shutdown();
  expect(taken).toEqual(["/v1/traces idem send order/paid", "/v1/traces idem run bill"]);
});
