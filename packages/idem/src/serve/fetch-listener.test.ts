// A Fetch handler under Node's own server and under Express: the same bytes both ways, and a client that leaves is noticed.
import { createServer, request as nodeRequest, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { asListener } from "../node.ts";
import { Idem } from "../sdk/client.ts";
import type { FetchHandler } from "../sdk/request-address.ts";
import { notedAddress } from "../sdk/request-address.ts";

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function shop() {
  const idem = new Idem({ id: "shop", store: "memory:", logger: silent });
  idem.createFunction({ id: "draft" }, { event: "order/paid" }, () => "drafted");
  onTestFinished(() => idem.stop({ grace: 0 }));
  return idem;
}

const echo: FetchHandler = async (request) =>
  new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`, {
    status: 201,
    headers: [
      ["x-from", notedAddress(request) ?? "nobody"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ],
  });

test("the request arrives whole, the answer goes back whole, and the line's other end is known", async () => {
  const url = await listening(asListener(echo));
  const answer = await fetch(`${url}/a/b?c=d`, { method: "PUT", body: "é".repeat(100_000) });
  expect([answer.status, answer.headers.get("x-from"), answer.headers.getSetCookie()]).toEqual([
    201,
    "127.0.0.1",
    ["a=1", "b=2"],
  ]);
  expect(await answer.text()).toBe(`PUT /a/b ${"é".repeat(100_000)}`);
  expect(await (await fetch(`${url}/a`)).text()).toBe("GET /a ");
});

test("under an Express router the path is whole, and a body that a parser has read is written down again", async () => {
  const app = express();
  app.use(express.json());
  app.use("/idem", asListener(echo));
  const url = await listening(app);
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/idem/x`, { method: "POST", headers, body: '{ "a":  1 }' });
  expect(await answer.text()).toBe('POST /idem/x {"a":1}');
});

test("a reader that leaves a stream ends it", async () => {
  let ended: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const stream = () => new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1_024)), cancel: () => ended() });
  const url = await listening(asListener(async () => new Response(stream())));
  const asked = nodeRequest(url, (answer) => answer.once("data", () => asked.destroy()));
  asked.on("error", () => {});
  asked.end();
  await over;
});

test("a body that is refused unread, or half-way, is answered all the same", async () => {
  const idem = shop();
  const url = await listening(asListener(idem.dashboard({ dev: true })));
  const post = async (path: string, origin: string, bytes: number) => {
    const headers = { "content-type": "application/json", origin };
    const answer = await fetch(`${url}/idem${path}`, { method: "POST", headers, body: "x".repeat(bytes) });
    return ((await answer.json()) as { code: string }).code;
  };
  expect(await post("/api/events", "http://evil.example", 300_000)).toBe("ORIGIN_REFUSED");
  expect(await post("/api/apps", url, 300_000)).toBe("SERVER_ONLY");
  expect(await post("/api/events", url, 6_000_000)).toBe("BODY_TOO_LARGE");
  expect(await post("/api/events", url, 300_000)).toBe("BODY_INVALID");
});

test("a handler that fails is answered with 500, and a method Fetch does not know with 405", async () => {
  const url = await listening(asListener(() => Promise.reject(new Error("secret"))));
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([500, ""]);
  const status = await new Promise((resolve, reject) => {
    nodeRequest(url, { method: "TRACE" }, ({ statusCode }) => resolve(statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(405);
});

test.each([
  ["Node's own server", (listener: RequestListener) => listener],
  [
    "Express",
    (listener: RequestListener) => {
      const app = express();
      app.use(express.json());
      app.use("/idem", listener);
      return app as RequestListener;
    },
  ],
])("the dashboard of an embedded engine under %s: pages, files, API, actions and the live stream", async (_, under) => {
  const idem = shop();
  const url = await listening(under(asListener(idem.dashboard({ dev: true }))));
  await idem.start();
  const page = await (await fetch(`${url}/idem/runs`)).text();
  const [, script] = /src="(\/idem\/assets\/[^"]+\.js)"/.exec(page)!;
  expect((await fetch(url + script!)).status).toBe(200);
  const live = await fetch(`${url}/idem/api/live`);
  const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader();
  const sent = await fetch(`${url}/idem/api/signals`, { method: "POST", headers: { origin: "http://evil.example" } });
  expect(((await sent.json()) as { code: string }).code).toMatch(/ORIGIN_REFUSED|ROUTE_UNKNOWN/);
  const { decisions } = await idem.send({ name: "order/paid" });
  let heard = "";
  while (!/"ended":[1-9]/.test(heard)) heard += (await reader.read()).value ?? "";
  await reader.cancel();
  const rerun = await fetch(`${url}/idem/api/runs/${decisions[0]!.runId}/rerun`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: "{}",
  });
  expect(rerun.status).toBe(200);
  const status = await (await fetch(`${url}/idem/api/status`)).json();
  expect(status).toMatchObject({ origin: `${url}/idem`, mode: "dev", functions: { count: 1 } });
});
