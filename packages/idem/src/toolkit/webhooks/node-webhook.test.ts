// Deliveries over a real socket: the bytes, and the headers as they came.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { testIdem } from "../../testing/test-idem.ts";
import { nodeWebhook } from "./node-webhook.ts";
import { stripe } from "./providers/stripe.ts";
import { signWebhook } from "./sign-webhook.ts";
import { webhook } from "./webhook.ts";

const secret = "whsec_test_secret";
const provider = stripe({ secrets: [secret] });
const body = JSON.stringify({ id: "evt_1", type: "invoice.paid" });

async function listen(
  before: (request: any) => void = () => {},
): Promise<{ port: number; idem: ReturnType<typeof testIdem>["idem"] }> {
  const { idem } = testIdem();
  await idem.start();
  const handle = nodeWebhook(webhook({ source: "stripe", provider, idem }));
  const server: Server = createServer((request, response) => {
    before(request);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, idem };
}

/** Header lines as they are, which fetch would not send twice. */
const raw = (port: number, headers: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("end", () => resolve(answer.split("\r\n")[0]!));
    socket.on("error", reject);
    const lines = [
      "POST /hook HTTP/1.1",
      "host: localhost",
      "connection: close",
      `content-length: ${body.length}`,
      ...headers,
    ];
    socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  });

test("a delivery over a socket is received once", async () => {
  const { port, idem } = await listen();
  const signature = `stripe-signature: ${signWebhook(provider, secret, body).headers.get("stripe-signature")}`;
  expect(await raw(port, [signature])).toContain(" 200 ");
  expect(await raw(port, [signature])).toContain(" 200 ");
  const firsts = (await idem.events.list()).filter(({ duplicateOf }) => duplicateOf === null);
  expect(firsts.map(({ name }) => name)).toEqual(["stripe/invoice.paid"]);
});

test("a signature header that comes twice is refused, though each is right", async () => {
  const { port, idem } = await listen();
  const signature = `stripe-signature: ${signWebhook(provider, secret, body).headers.get("stripe-signature")}`;
  expect(await raw(port, [signature, signature])).toContain(" 401 ");
  expect(await idem.events.list()).toEqual([]);
});

test("behind a body parser it fails loudly instead of refusing every signature; bytes that were kept are used", async () => {
  const signature = `stripe-signature: ${signWebhook(provider, secret, body).headers.get("stripe-signature")}`;
  const parsed = await listen((request) => {
    request.body = JSON.parse(body);
  });
  expect(await raw(parsed.port, [signature])).toContain(" 500 ");
  const kept = await listen((request) => {
    request.body = JSON.parse(body);
    request.rawBody = Buffer.from(body);
  });
  expect(await raw(kept.port, [signature])).toContain(" 200 ");
});
