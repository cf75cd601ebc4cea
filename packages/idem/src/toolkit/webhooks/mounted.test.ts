// The same receiver in the frameworks people have.
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { testIdem } from "../../testing/test-idem.ts";
import { nodeWebhook } from "./node-webhook.ts";
import { stripe } from "./providers/stripe.ts";
import type { WebhookReceiver } from "./receive.ts";
import { signWebhook } from "./sign-webhook.ts";
import { webhook } from "./webhook.ts";

const secret = "whsec_test_secret";
const provider = stripe({ secrets: [secret] });

type Deliver = (request: Request) => Promise<Response>;

const overNetwork =
  (port: number): Deliver =>
  async (request) =>
    fetch(`http://127.0.0.1:${port}/hook`, {
      method: "POST",
      headers: request.headers,
      body: new Uint8Array(await request.arrayBuffer()),
    });

async function onExpress(receive: WebhookReceiver, isParsed: boolean): Promise<Deliver> {
  const app = express();
  const keep = (request: object, _response: unknown, bytes: Buffer) => Object.assign(request, { rawBody: bytes });
  if (isParsed) app.use(express.json({ verify: keep }));
  app.post("/hook", nodeWebhook(receive));
  app.use(express.json());
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return overNetwork((server.address() as AddressInfo).port);
}

async function onFastify(receive: WebhookReceiver): Promise<Deliver> {
  const app = fastify();
  onTestFinished(() => app.close());
  await app.register(async (hooks) => {
    hooks.removeAllContentTypeParsers();
    hooks.addContentTypeParser("*", (_request, _body, done) => done(null));
    hooks.post("/hook", (request, reply) => {
      reply.hijack();
      nodeWebhook(receive)(request.raw, reply.raw);
    });
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return overNetwork((app.server.address() as AddressInfo).port);
}

function onHono(receive: WebhookReceiver): Deliver {
  const app = new Hono().post("/hook", (context) => receive(context.req.raw));
  return async (request) =>
    app.request("/hook", { method: "POST", headers: request.headers, body: await request.arrayBuffer() });
}

describe.each([
  ["Express, before its parsers", (receive: WebhookReceiver) => onExpress(receive, false)],
  ["Express, behind a parser that kept the bytes", (receive: WebhookReceiver) => onExpress(receive, true)],
  ["Fastify, with parsers that read nothing", onFastify],
  ["Hono", async (receive: WebhookReceiver) => onHono(receive)],
  ["Fetch", async (receive: WebhookReceiver): Promise<Deliver> => receive],
] as const)("%s", (_name, mount) => {
  test("verifies the bytes as they came, whatever a parser would make of them; the second delivery does nothing", async () => {
    const { idem } = testIdem();
    await idem.start();
    const deliver = await mount(webhook({ source: "stripe", provider, idem }));
    // Written down again by anybody, these would be other bytes.
    const body = '{ "id": "evt_1",\n "type":"invoice.paid", "price": 1.0, "name": "\\u00e9" }';
    const answers = [
      await deliver(signWebhook(provider, secret, body)),
      await deliver(signWebhook(provider, secret, body)),
      await deliver(signWebhook(provider, "whsec_other", body)),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get("idempotent-replayed")])).toEqual([
      [200, null],
      [200, "true"],
      [401, null],
    ]);
  });
});
