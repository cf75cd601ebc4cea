import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Inngest } from "inngest";
import { serve } from "inngest/node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import type { HttpCalls } from "../platform/node-http.ts";
import type { HttpRequest, HttpResponse } from "../platform/platform.ts";
import { signRequest } from "../protocol/request-signature.ts";
import { registerApp } from "./routes/wire/register-app.ts";
import { type RouteWorld, routeWorld } from "./routes/world.suite.ts";
import { syncApp } from "./sync-app.ts";

const key = "signkey-prod-0123456789abcdef0123456789abcdef";
const oldKey = "signkey-prod-ffffffffffffffffffffffffffffffff";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Listens on any free port of loopback; answers its origin. */
async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An app of the official SDK, with two functions. */
async function app(options: ConstructorParameters<typeof Inngest>[0]): Promise<string> {
  const inngest = new Inngest({ ...options, logger: silent });
  const functions = [
    inngest.createFunction({ id: "pay", triggers: [{ event: "order/paid" }], retries: 2 }, async () => null),
    inngest.createFunction({ id: "ship", triggers: [{ event: "order/paid" }] }, async () => null),
  ];
  return `${await listen(serve({ client: inngest, functions }))}/api/inngest`;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The SDK compares signatures with the real time. */
async function worldNow(...settings: Parameters<typeof routeWorld>): Promise<RouteWorld> {
  const made = await routeWorld(...settings);
  made.platform.clock.stepWall(Date.now() - made.platform.wallMs());
  return made;
}

const start = (signingKeys: string[]) => worldNow({ mode: "start", signingKeys, allowHosts: ["localhost"] });

const refusal = async (promise: Promise<unknown>): Promise<IdemError> => {
  const error = await promise.then(JSON.stringify, (caught) => caught);
  expect(error).toBeInstanceOf(IdemError);
  return error;
};

const functionsOf = async (made: RouteWorld) =>
  (await made.engine.store.reads.functions("default")).functions.map(({ fn }) => fn);

describe("an app of the official SDK", () => {
  test("in dev mode is asked once and registered; asked again nothing is modified", async () => {
    const made = await worldNow();
    // Nobody listens at its own server: it is never asked to reach it.
    const url = await app({ id: "shop", isDev: true, baseUrl: "http://127.0.0.1:9" });
    expect(await syncApp(made.world, "default", url)).toEqual({ app: "shop", modified: true });
    expect(await functionsOf(made)).toEqual(["shop-pay", "shop-ship"]);
    expect(made.engine.registry.get("shop-pay")!.config).toMatchObject({
      retries: 2,
      runtime: { kind: "http", url: url.replace("127.0.0.1", "localhost") },
    });
    expect(await syncApp(made.world, "default", url)).toEqual({ app: "shop", modified: false });
    expect(await made.world.apps.list("default")).toMatchObject([
      { app: "shop", sdk: expect.stringMatching(/^js:v4/), framework: "nodejs", functionCount: 2, error: null },
    ]);
  });

  test("in cloud mode takes a signed request, and its answer's signature is checked", async () => {
    const made = await start([key]);
    const url = await app({ id: "shop", isDev: false, signingKey: key, eventKey: "e", baseUrl: "http://127.0.0.1:9" });
    expect(await syncApp(made.world, "default", url)).toEqual({ app: "shop", modified: true });
  });

  test("that still has the old key is synced while both are accepted", async () => {
    const made = await start([key, oldKey]);
    const url = await app({
      id: "shop",
      isDev: false,
      signingKey: oldKey,
      eventKey: "e",
      baseUrl: "http://127.0.0.1:9",
    });
    expect(await syncApp(made.world, "default", url)).toEqual({ app: "shop", modified: true });
  });

  test("with another key is not synced, and the reason is kept where apps are listed", async () => {
    const made = await start([key]);
    const url = await app({
      id: "shop",
      isDev: false,
      signingKey: oldKey,
      eventKey: "e",
      baseUrl: "http://127.0.0.1:9",
    });
    const error = await refusal(syncApp(made.world, "default", url));
    expect(error).toMatchObject({ code: "APP_SYNC_FAILED" });
    expect(error.message).toContain("INNGEST_SIGNING_KEY");
    expect(error.message).not.toContain("0123456789abcdef");
    expect(await made.world.apps.list("default")).toMatchObject([{ error: error.message, functionCount: 0 }]);
    expect(await functionsOf(made)).toEqual([]);
  });

  test("in cloud mode under idem dev is told what to set", async () => {
    const made = await worldNow();
    const url = await app({ id: "shop", isDev: false, signingKey: key, eventKey: "e", baseUrl: "http://127.0.0.1:9" });
    expect((await refusal(syncApp(made.world, "default", url))).message).toContain("INNGEST_DEV=1");
  });

  test("with a function that cannot be registered is refused whole, with the function and the reason", async () => {
    const made = await worldNow();
    const inngest = new Inngest({ id: "shop", isDev: true, logger: silent });
    const functions = [
      inngest.createFunction({ id: "fine", triggers: [{ event: "a/b" }] }, async () => null),
      inngest.createFunction({ id: "limited", triggers: [{ event: "a/b" }], concurrency: -5 }, async () => null),
    ];
    const url = `${await listen(serve({ client: inngest, functions }))}/api/inngest`;
    const error = await refusal(syncApp(made.world, "default", url));
    expect(error.message).toContain('Function "shop-limited"');
    expect(error.message).toContain('Option "concurrency"');
    expect(await functionsOf(made)).toEqual([]);
  });

  describe("that was told not to answer with its functions", () => {
    // The SDK reads it whenever it is asked.
    beforeEach(() => {
      process.env.INNGEST_ALLOW_IN_BAND_SYNC = "false";
    });
    afterEach(() => {
      delete process.env.INNGEST_ALLOW_IN_BAND_SYNC;
    });

    test("sends them here instead, and that counts", async () => {
      const made = await worldNow();
      const server = await listen(async (request, response) => {
        const { body } = await made.ask(registerApp, { body: await textOf(request), headers: request.headers as any });
        response.setHeader("content-type", "application/json").end(JSON.stringify(body));
      });
      expect(await syncApp(made.world, "default", await app({ id: "shop", isDev: true, baseUrl: server }))).toEqual({
        app: null,
        modified: true,
      });
      expect(await functionsOf(made)).toEqual(["shop-pay", "shop-ship"]);
    });

    test("and sends them to another server is told which one is meant", async () => {
      const made = await worldNow();
      const other = await listen((_, response) => {
        response.setHeader("content-type", "application/json").end('{"ok":true,"modified":true,"status":200}');
      });
      const error = await refusal(
        syncApp(made.world, "default", await app({ id: "shop", isDev: true, baseUrl: other })),
      );
      expect(error.message).toContain("INNGEST_DEV=http://127.0.0.1:8288");
    });
  });
});

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("what is no app says so", () => {
  test("nothing listens there", async () => {
    const made = await worldNow();
    const origin = await listen(() => {});
    await Promise.all(closing.splice(0).map((close) => close()));
    expect((await refusal(syncApp(made.world, "default", `${origin}/api/inngest`))).message).toContain(
      "nothing listens",
    );
  });

  test("something else listens there", async () => {
    const made = await worldNow();
    const origin = await listen((_, response) => {
      response.statusCode = 404;
      response.end("<h1>not found</h1>");
    });
    const error = await refusal(syncApp(made.world, "default", `${origin}/wrong`));
    expect(error.message).toContain("status 404, but not an SDK");
  });
});

describe("with made-up answers", () => {
  const sdk = { "x-inngest-sdk": "inngest-js:v4.24.0", "x-inngest-sync-kind": "in_band" };
  const reply = JSON.stringify({ app_id: "shop", url: "https://shop.example/api/inngest", functions: [] });
  const answers = (answer: (request: HttpRequest) => Partial<HttpResponse> | Promise<never>): HttpCalls => ({
    call: async (request) => ({ status: 200, headers: sdk, body: reply, ...(await answer(request)) }),
    close: () => {},
  });
  const url = "https://shop.example/api/inngest";
  const public_ = () => routeWorld({ mode: "start", signingKeys: [key] });

  test("an answer that is not signed, or with another key, registers nothing", async () => {
    const made = await public_();
    const signed = (by: string) => ({ ...sdk, "x-inngest-signature": signRequest(reply, by, made.platform.wallMs()) });
    for (const headers of [sdk, signed(oldKey)]) {
      const error = await refusal(syncApp(made.world, "default", url, { http: answers(() => ({ headers })) }));
      expect(error.message).toContain("cannot be trusted");
    }
    const fine = await syncApp(made.world, "default", url, { http: answers(() => ({ headers: signed(key) })) });
    expect(fine.app).toBe("shop");
  });

  test("an SDK that is too old is refused for its version, whatever it answers", async () => {
    const headers = { "x-inngest-sdk": "inngest-js:v3.11.0" };
    const refusals: Partial<HttpResponse>[] = [
      { headers, body: '{"message":"Successfully registered","modified":true}' },
      { headers, status: 400, body: '{"message":"Function cannot be registered","modified":false}' },
      { headers: { ...headers, "x-inngest-sync-kind": "in_band" } },
      { headers: sdk, body: JSON.stringify({ ...JSON.parse(reply), sdk: "js:v3.11.0" }) },
    ];
    for (const answer of refusals) {
      const made = await routeWorld();
      const error = await refusal(syncApp(made.world, "default", url, { http: answers(() => answer) }));
      expect(error.code).toBe("SDK_VERSION_UNSUPPORTED");
      expect(error.message).toContain(`App "${url}" cannot be registered: it uses inngest 3.11.0`);
      expect(await made.world.apps.list("default")).toMatchObject([{ url, functionCount: 0, error: error.message }]);
    }
  });

  test("a redirect is followed on the same host, and nowhere else", async () => {
    const made = await routeWorld();
    const asked: string[] = [];
    const redirects = (location: string) =>
      answers((request) => {
        asked.push(request.url);
        return request.url === url ? { status: 308, headers: { location } } : {};
      });
    await syncApp(made.world, "default", url, { http: redirects("/api/inngest/") });
    expect(asked).toEqual([url, `${url}/`]);
    const error = await refusal(syncApp(made.world, "default", url, { http: redirects("https://evil.example/?k=1") }));
    expect(error.message).toContain("redirects to https://evil.example/");
    expect(asked).toHaveLength(3);
    const endless = answers(() => ({ status: 308, headers: { location: url } }));
    expect((await refusal(syncApp(made.world, "default", url, { http: endless }))).message).toContain("redirects");
  });

  test("in start a private address is not even asked", async () => {
    const made = await public_();
    const http = answers(() => Promise.reject(new Error("it was asked")));
    const error = await refusal(syncApp(made.world, "default", "http://10.0.0.5/api/inngest", { http }));
    expect(error.code).toBe("APP_URL_REFUSED");
  });

  test("an app that never answers is given up after a minute", async () => {
    const made = await routeWorld();
    const http = answers(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
    );
    const syncing = refusal(syncApp(made.world, "default", url, { http }));
    await made.platform.advance(60_000, async () => {});
    expect((await syncing).message).toContain("did not answer in time");
  });

  test("without a key for its environment no app is asked in start", async () => {
    const made = await routeWorld({ mode: "start" });
    expect((await refusal(syncApp(made.world, "default", url))).message).toContain("no signing key");
  });
});
