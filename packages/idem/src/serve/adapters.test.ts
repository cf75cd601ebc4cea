// Each adapter on the framework it is for: a server that listens, called as an Idem server calls it.
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { type HttpBindings, type ServerType, serve as serveHttp } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { expect, onTestFinished, test, vi } from "vitest";
import { serve as serveBun } from "../bun.ts";
import { serve as serveExpress } from "../express.ts";
import { serve as serveFastify } from "../fastify.ts";
import { serve as serveHono } from "../hono.ts";
import { canonicalJson } from "../model/json.ts";
import { serve as serveNext } from "../next.ts";
import { serve as serveNode } from "../node.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { signatureHeader, signRequest, verifySignature } from "../protocol/request-signature.ts";
import { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import { serve as serveFetch } from "../serve.ts";
import { serve as serveSvelteKit } from "../sveltekit.ts";
import { held } from "../testing/one-run.suite.ts";
import { listening } from "./listening.suite.ts";
import { callBody, classic } from "./served-world.suite.ts";

const key = "4f2a9c0e7b1d8356af03c9e2517bd864";
const begun = new Map<string, () => void>();
const aborted = new Map<string, () => void>();

function client(options: Partial<IdemOptions> = {}): Idem {
  // Nobody listens there: nothing of these tests needs the server.
  const idem = new Idem({
    ...options,
    id: "shop",
    server: "http://127.0.0.1:9",
    signingKey: key,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  idem.createFunction({ id: "fn" }, { event: "test/go" }, ({ step, event }) =>
    step.run("a", async ({ signal }) => {
      const { hold, text } = event.data as { hold?: string; text?: string };
      if (hold === undefined) return { length: text?.length ?? 0 };
      signal.addEventListener("abort", () => aborted.get(hold)?.());
      begun.get(hold)?.();
      return new Promise(() => {});
    }),
  );
  return idem;
}

const path = "/api/idem";

/** Every adapter, as its documentation shows it; the answer is where it is served. */
const adapters: Record<string, (idem: Idem) => Promise<string>> = {
  node: async (idem) => (await listening(createServer(serveNode(idem)))) + path,
  express: async (idem) => {
    const app = express();
    app.use(path, serveExpress(idem));
    return (await listening(createServer(app))) + path;
  },
  "express behind express.json()": async (idem) => {
    const app = express();
    app.use(express.json({ limit: "16mb" }));
    app.use(path, serveExpress(idem));
    return (await listening(createServer(app))) + path;
  },
  fastify: async (idem) => {
    const app = fastify({ forceCloseConnections: true });
    app.route({ url: path, ...serveFastify(idem) });
    onTestFinished(() => app.close());
    return (await app.listen({ port: 0, host: "127.0.0.1" })) + path;
  },
  hono: async (idem) => {
    const app = new Hono();
    app.on(["GET", "PUT", "POST"], path, serveHono(idem));
    return listenFetch(app.fetch);
  },
  next: async (idem) => {
    const route = serveNext(idem);
    return listenFetch((request) => route[request.method as "GET" | "PUT" | "POST"](request));
  },
  fetch: async (idem) => listenFetch(serveFetch(idem)),
  sveltekit: async (idem) => {
    const route = serveSvelteKit(idem);
    return listenFetch((request, { incoming }) =>
      route[request.method as "GET" | "PUT" | "POST"]({
        request,
        getClientAddress: () => incoming.socket.remoteAddress!,
      }),
    );
  },
  bun: async (idem) => {
    const handle = serveBun(idem);
    return listenFetch((request, { incoming }) =>
      handle(request, { requestIP: () => ({ address: incoming.socket.remoteAddress! }) }),
    );
  },
};

function listenFetch(fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>): Promise<string> {
  return new Promise((resolve) => {
    const server: ServerType = serveHttp({ fetch: fetch as never, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}${path}`),
    );
    onTestFinished(() => {
      (server as { closeAllConnections?: () => void }).closeAllConnections?.();
      server.close();
    });
  });
}

const signed = (method: string, url: string, body: unknown, signal?: AbortSignal) => {
  const text = body === null ? "" : canonicalJson(JSON.parse(JSON.stringify(body)));
  return fetch(url, {
    method,
    headers: {
      [signatureHeader]: signRequest(text, key, Date.now()),
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    ...(body === null ? {} : { body: text }),
    ...(signal === undefined ? {} : { signal }),
  });
};

test.each(Object.keys(adapters))("%s: calls, syncs and probes are answered and signed", async (name) => {
  const url = await adapters[name]!(client());
  const described = await signed("GET", url, null);
  expect([described.status, ((await described.json()) as any).function_count]).toEqual([200, 1]);
  expect((await fetch(url)).status).toBe(401);

  const text = "x".repeat(2 * 1024 * 1024);
  const call = await signed(
    "POST",
    `${url}?fnId=shop-fn&stepId=step`,
    callBody({ ctx: classic, event: { data: { text } } }),
  );
  const body = await call.text();
  expect([call.status, JSON.parse(body)[0].data]).toEqual([206, { length: text.length }]);
  expect(verifySignature(call.headers.get(signatureHeader)!, body, [key], Date.now()).kind).toBe("valid");

  const sync = await fetch(url, {
    method: "PUT",
    headers: {
      "content-type": "application/json",
      "x-inngest-sync-kind": "in_band",
      [signatureHeader]: signRequest(canonicalJson({ url }), key, Date.now()),
    },
    body: JSON.stringify({ url }),
  });
  expect([sync.status, ((await sync.json()) as any).functions[0].steps.step.runtime.url]).toEqual([
    200,
    `${url}?fnId=shop-fn&stepId=step`,
  ]);

  const probe = await signed("POST", `${url}?probe=trust`, {});
  expect([probe.status, await probe.text()]).toEqual([200, ""]);
});

test.each(Object.keys(adapters))(
  "%s: a captured call is executed once, at whichever address it is served",
  async (name) => {
    const idem = client();
    const [url, other] = [await adapters[name]!(idem), await adapters[name]!(idem)];
    const query = "?fnId=shop-fn&stepId=step";
    const text = canonicalJson(callBody({ ctx: { ...classic, request_id: "01J00000000000000000000000" } }));
    const headers = { "content-type": "application/json", [signatureHeader]: signRequest(text, key, Date.now()) };
    const send = async (to: string, body: string) =>
      (await fetch(`${to}${query}`, { method: "POST", headers, body })).status;
    expect(await send(url, text)).toBe(206);
    for (const to of [url, other]) {
      for (const body of [text, JSON.stringify(JSON.parse(text), null, 1)]) expect(await send(to, body)).toBe(409);
    }
  },
);

// A parser that stands before reads by its own bound.
const unparsed = Object.keys(adapters).filter((name) => !name.includes("express.json"));

test.each(unparsed)("%s: 60 MB that nobody signed are refused before the first of them is sent", async (name) => {
  const url = await adapters[name]!(client());
  const headers = { "content-type": "application/json", "content-length": "60000000" };
  for (const signature of [undefined, `t=1&s=${"f".repeat(64)}`]) {
    const signed = signature === undefined ? {} : { [signatureHeader]: signature };
    const asked = request(`${url}?fnId=shop-fn&stepId=step`, { method: "POST", headers: { ...headers, ...signed } });
    asked.on("error", () => {});
    asked.flushHeaders();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(401);
    asked.destroy();
  }
});

test.each(unparsed)(
  "%s: bodies that are begun and never end are refused after 30 s, and calls go on meanwhile",
  async (name) => {
    const platform = new ManualPlatform();
    const url = await adapters[name]!(client({ platform }));
    const query = "?fnId=shop-fn&stepId=step";
    const signatureNow = (text: string) => signRequest(text, key, platform.wallMs());
    const slow = Array.from({ length: 20 }, () => {
      const headers = {
        "content-type": "application/json",
        "content-length": "1000",
        [signatureHeader]: signatureNow("{}"),
      };
      const asked = request(`${url}${query}`, { method: "POST", headers });
      const status = new Promise<number | "cut">((resolve) => {
        asked.on("response", (answer) => resolve(answer.statusCode!));
        asked.on("error", () => resolve("cut"));
      });
      asked.write('{"event":');
      return { asked, status };
    });
    const text = canonicalJson(callBody({ ctx: classic }));
    const call = await fetch(`${url}${query}`, {
      method: "POST",
      headers: { "content-type": "application/json", [signatureHeader]: signatureNow(text) },
      body: text,
    });
    expect(call.status).toBe(206);
    let over = 0;
    for (const { status } of slow) void status.then(() => over++);
    await expect
      .poll(async () => {
        await platform.advance(1_000, async () => {});
        return over;
      })
      .toBe(slow.length);
    for (const { asked, status } of slow) {
      expect([400, "cut"]).toContain(await status);
      asked.destroy();
    }
  },
);

test.each(["node", "express", "fastify", "hono", "sveltekit", "bun"])(
  "%s: in dev it is looked at who is at the other end",
  async (name) => {
    vi.stubEnv("IDEM_DEV", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const url = await adapters[name]!(client());
    expect((await fetch(url)).status).toBe(200);
    const far = await fetch(url, { headers: { "x-forwarded-for": "203.0.113.9" } });
    expect(far.status).toBe(403);
  },
);

test.each(Object.keys(adapters))("%s: a step hears when its caller has gone", async (name) => {
  const url = await adapters[name]!(client());
  const [began, gone] = [held(), held()];
  begun.set(name, began.release);
  aborted.set(name, gone.release);
  const abort = new AbortController();
  const body = callBody({ ctx: classic, event: { data: { hold: name } } });
  const calling = signed("POST", `${url}?fnId=shop-fn&stepId=step`, body, abort.signal).catch(() => null);
  await began.promise;
  abort.abort();
  await gone.promise;
  await calling;
});

test("an app registers the address it was reached at, proxies and mounted routers included", async () => {
  const registered: string[] = [];
  const server = await listening(
    createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      registered.push(JSON.parse(body).url);
      response.end('{"ok":true,"modified":true,"status":200}');
    }),
  );
  const idem = new Idem({ id: "shop", server });
  const router = express.Router();
  router.use("/idem", serveExpress(idem, { dev: { hosts: ["shop.test"] } }));
  const app = express();
  app.use("/api", router);
  const url = `${await listening(createServer(app))}/api/idem`;
  const put = (headers: Record<string, string>) => fetch(`${url}?deployId=1&fnId=x&kept=1`, { method: "PUT", headers });
  expect((await put({})).status).toBe(200);
  await put({ "x-forwarded-proto": "https,http", "x-forwarded-host": "shop.test" });
  expect(registered).toEqual([`${url}?kept=1`, "https://shop.test/api/idem?kept=1"]);
});
