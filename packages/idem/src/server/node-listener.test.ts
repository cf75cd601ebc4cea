import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { errors } from "../model/errors.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { bearerTokenOf } from "../protocol/signing-key.ts";
import { asJson, ask, open, raw, route } from "./listener.suite.ts";
import { json, type Route, type RouteAnswer, type RouteRequest, type SocketRoute } from "./route.ts";

const encoders = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
] as const;

/** Text that compresses to half of its length, as random bytes in hexadecimal digits do. */
const noise = (bytes: number) => Buffer.from(new ManualPlatform().randomBytes(bytes)).toString("hex");

describe("bodies", () => {
  test("a body is handed to its route as JSON, whatever it is compressed with", async () => {
    const server = await open([route({ path: "/echo" })]);
    const plain = Buffer.from('{"a":[1,"é"]}');
    for (const [encoding, body] of [
      [null, plain],
      ["identity", plain],
      ["gzip", gzipSync(plain)],
      ["x-gzip", gzipSync(plain)],
      ["deflate", deflateSync(plain)],
      ["br", brotliCompressSync(plain)],
    ] as const) {
      const headers = encoding === null ? asJson : { ...asJson, "content-encoding": encoding };
      expect(await ask(server, { headers, body })).toMatchObject({ status: 200, text: '{"got":{"a":[1,"é"]}}' });
    }
    expect(server.listener.load.bodyBytesHeld).toBe(0);
  });

  test("a body said to be too large is refused before it is sent, an unannounced one at the first byte too many", async () => {
    const server = await open([route({ path: "/echo" })]);
    const body = JSON.stringify("x".repeat(2_000));
    const announced = await ask(server, { headers: { ...asJson, "content-length": "1000000000" }, body });
    expect(announced).toMatchObject({ status: 413 });
    expect(JSON.parse(announced.text)).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
    const chunked = await ask(server, { headers: { ...asJson, "transfer-encoding": "chunked" }, body });
    expect(chunked).toMatchObject({ status: 413 });
  });

  test("a small body that expands beyond the bound is refused", async () => {
    const server = await open([route({ path: "/echo" })]);
    const bomb = Buffer.alloc(10_000_000, " ");
    for (const [encoding, body] of [
      ["gzip", gzipSync(bomb)],
      ["deflate", deflateSync(bomb)],
      ["br", brotliCompressSync(bomb)],
    ] as const) {
      const { status } = await ask(server, {
        headers: { ...asJson, "content-encoding": encoding },
        body: body.subarray(0, 900),
      });
      expect([400, 413]).toContain(status);
    }
    const br = brotliCompressSync(bomb);
    expect(br.length).toBeLessThan(1_000);
    expect(await ask(server, { headers: { ...asJson, "content-encoding": "br" }, body: br })).toMatchObject({
      status: 413,
    });
  });

  test("a body that becomes a hundred times as long, and longer than 64 KiB, is refused wherever bodies are undone", async () => {
    const bodyBytesMax = 10_000_000;
    const count = async ({ stream }: RouteRequest) => {
      let bytes = 0;
      for await (const chunk of stream!) bytes += chunk.length;
      return json({ bytes });
    };
    const server = await open([
      route({ path: "/whole", bodyBytesMax, handle: ({ body }) => json({ bytes: body.length }) }),
      route({ path: "/piecewise", bodyBytesMax, streams: true, handle: count }),
    ]);
    for (const path of ["/whole", "/piecewise"]) {
      const send = (encoding: string, body: Buffer) =>
        ask(server, { path, headers: { ...asJson, "content-encoding": encoding }, body });
      const short = Buffer.alloc(64 * 1_024, " ");
      const long = Buffer.alloc(5_000_000, " ");
      for (const [encoding, encode] of encoders) {
        expect(await send(encoding, encode(short))).toMatchObject({ status: 200, text: '{"bytes":65536}' });
        const refused = await send(encoding, encode(long));
        expect(refused).toMatchObject({ status: 413 });
        expect(JSON.parse(refused.text).error).toMatch(/bytes that \d+ compressed ones may become/);
      }
      const repeated = Buffer.from(noise(100_000).repeat(4));
      expect(await send("br", brotliCompressSync(repeated))).toMatchObject({ status: 200, text: '{"bytes":800000}' });
    }
    expect(server.listener.load.bodyBytesHeld).toBe(0);
  });

  test("what compressed bodies may become is counted before they are undone", async () => {
    const limits = { bodyBytesHeld: 300_000 };
    const server = await open([route({ path: "/echo", bodyBytesMax: 1_000_000 })], { limits });
    const body = gzipSync(noise(4_000));
    const asked = () => ask(server, { headers: { ...asJson, "content-encoding": "gzip" }, body });
    // 4 KB may become 400 KB, which is more than all bodies may have.
    expect(await asked()).toMatchObject({ status: 503 });
    expect(server.listener.load.bodyBytesHeld).toBe(0);
  });

  test("large bodies that are all there at once are made something of one by one, with the loop given back in between", async () => {
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn++;
      if (!isOver) setImmediate(count);
    };
    const turns: number[] = [];
    const note = route({
      path: "/note",
      bodyBytesMax: 100_000,
      handle: () => {
        turns.push(turn);
        return json("noted");
      },
    });
    const server = await open([note]);
    const lines = Array.from({ length: 20 }, () => connect(server.port, "127.0.0.1"));
    await expect.poll(() => server.listener.load.lines).toBe(20);
    count();
    const body = JSON.stringify("x".repeat(30_000));
    const head = `POST /note HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`;
    for (const line of lines) line.write(head + body);
    await expect.poll(() => turns.length).toBe(20);
    isOver = true;
    expect(new Set(turns).size).toBe(20);
    for (const line of lines) line.destroy();
  });

  test("an encoding that is not known is 415, one that does not decode is 400", async () => {
    const server = await open([route({ path: "/echo" })]);
    const with_ = (encoding: string) =>
      ask(server, { headers: { ...asJson, "content-encoding": encoding }, body: "{}" });
    expect(await with_("zstd")).toMatchObject({ status: 415 });
    expect(await with_("gzip, gzip")).toMatchObject({ status: 415 });
    expect(await with_("gzip")).toMatchObject({ status: 400 });
  });

  test("a wrong content type is 415 and says what to send; none at all is taken", async () => {
    const server = await open([route({ path: "/echo" })]);
    const form = await ask(server, { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "{}" });
    expect(form.status).toBe(415);
    expect(JSON.parse(form.text).error).toContain("content-type: application/json");
    expect(await ask(server, { body: "{}" })).toMatchObject({ status: 200 });
    const types = ["application/json; charset=UTF-8", "application/cloudevents+json", "Application/JSON"];
    for (const type of types) {
      expect(await ask(server, { headers: { "content-type": type }, body: "{}" })).toMatchObject({ status: 200 });
    }
    const latin = { "content-type": "application/json; charset=latin1" };
    expect(await ask(server, { headers: latin, body: "{}" })).toMatchObject({ status: 415 });
  });

  test.each([
    ["nothing", ""],
    ["half of it", '{"a":'],
    ["nesting that would overflow a stack", "[".repeat(900)],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22])],
  ])("%s is 400 with BODY_INVALID", async (_, body) => {
    const server = await open([route({ path: "/echo" })]);
    const { status, text } = await ask(server, { headers: asJson, body });
    expect([status, JSON.parse(text).code]).toEqual([400, "BODY_INVALID"]);
  });

  test("brackets inside texts are not nesting, and a byte order mark is passed over", async () => {
    const server = await open([route({ path: "/echo" })]);
    const text = JSON.stringify({ a: '[{"\\'.repeat(100) });
    expect(await ask(server, { headers: asJson, body: `\ufeff${text}` })).toMatchObject({
      status: 200,
      text: `{"got":${text}}`,
    });
  });

  test("a caller that waits to be invited sends nothing when it is refused", async () => {
    const server = await open([route({ path: "/echo" })]);
    const sent = await raw(
      server.port,
      "POST /echo HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 5000\r\n\r\n",
    );
    expect(sent).toMatch(/^HTTP\/1\.1 413/);
    expect(sent).not.toContain("100 Continue");
    const request = httpRequest({
      port: server.port,
      method: "POST",
      path: "/echo",
      headers: { expect: "100-continue", "content-length": "2" },
    });
    request.flushHeaders();
    await once(request, "continue");
    request.end("{}");
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
  });

  test("a route that streams gets the body as it arrives, bounded", async () => {
    const server = await open([
      route({
        path: "/echo",
        streams: true,
        contentTypes: ["*"],
        handle: async ({ stream }) => {
          let bytes = 0;
          for await (const chunk of stream!) bytes += chunk.length;
          return json({ bytes });
        },
      }),
    ]);
    expect(await ask(server, { body: "x".repeat(900) })).toMatchObject({ status: 200, text: '{"bytes":900}' });
    expect(await ask(server, { headers: { "transfer-encoding": "chunked" }, body: "x".repeat(1_001) })).toMatchObject({
      status: 413,
    });
    expect(await ask(server, {})).toMatchObject({ status: 200, text: '{"bytes":0}' });
    const gzip = { "content-encoding": "gzip", "transfer-encoding": "chunked" };
    expect(await ask(server, { headers: gzip, body: gzipSync("y".repeat(500)) })).toMatchObject({
      text: '{"bytes":500}',
    });
    expect(await ask(server, { headers: gzip, body: gzipSync("y".repeat(50_000)) })).toMatchObject({ status: 413 });
    expect(await ask(server, { headers: gzip, body: "no gzip" })).toMatchObject({ status: 400 });
  });
});

describe("finding a route", () => {
  const routes = [
    route({ path: "/runs/:id", method: "GET", handle: ({ params, query }) => json({ ...params, q: query.get("q") }) }),
    route({ path: "/runs/latest", method: "GET", handle: () => json("latest") }),
    route({ path: "/runs/:id", method: "DELETE", bodyBytesMax: null, handle: () => ({ status: 204, body: null }) }),
    route({ path: "/runs/:id/jobs", method: "GET", handle: () => json("jobs") }),
    route({ path: "/api/tools", errors: "problem" }),
  ];
  const get = (path: string) => ({ method: "GET", path });

  test("parameters are decoded, and a segment that is written out wins over one", async () => {
    const server = await open(routes);
    expect((await ask(server, get("/runs/a%2Fb%20c?q=1&x"))).text).toBe('{"id":"a/b c","q":"1"}');
    expect((await ask(server, get("/runs/latest"))).text).toBe('"latest"');
    expect((await ask(server, get("/runs/latest/jobs"))).text).toBe('"jobs"');
    expect((await ask(server, get("/runs/a/"))).text).toBe('{"id":"a","q":null}');
    expect((await ask(server, get("http://localhost/runs/a?q=2"))).text).toBe('{"id":"a","q":"2"}');
  });

  test("an unknown path is 404, a known one with another method 405 with what is allowed", async () => {
    const server = await open(routes);
    expect(await ask(server, get("/nothing"))).toMatchObject({ status: 404 });
    expect(await ask(server, get("/runs//jobs"))).toMatchObject({ status: 404 });
    expect(await ask(server, get(`/${"a/".repeat(500)}`))).toMatchObject({ status: 404 });
    const wrong = await ask(server, { method: "PATCH", path: "/runs/a" });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, "GET, DELETE, HEAD, OPTIONS"]);
    expect(await ask(server, { method: "OPTIONS", path: "/runs/a" })).toMatchObject({ status: 204, text: "" });
    expect(await ask(server, get("/runs/%ff"))).toMatchObject({ status: 400 });
    expect(await ask(server, { method: "OPTIONS", path: "*" })).toMatchObject({ status: 400 });
  });

  test("HEAD is GET without its body", async () => {
    const server = await open(routes);
    const { status, headers, text } = await ask(server, { method: "HEAD", path: "/runs/a" });
    expect([status, headers["content-length"], text]).toEqual([200, String('{"id":"a","q":null}'.length), ""]);
  });

  test("tools read problems of RFC 9457, SDKs read error and status", async () => {
    const server = await open(routes);
    const problem = await ask(server, { path: "/api/tools", body: "{" });
    expect(problem.headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(problem.text)).toMatchObject({
      type: "/docs/errors/BODY_INVALID",
      title: "Body invalid",
      status: 400,
      code: "BODY_INVALID",
      next: expect.stringContaining("JSON"),
    });
    expect(JSON.parse((await ask(server, get("/v1/nothing"))).text)).toMatchObject({
      status: 404,
      error: expect.any(String),
    });
  });

  test("a table with the same route twice is refused", async () => {
    const twice = [route({ path: "/a/:x" }), route({ path: "/a/:x" })];
    await expect(open(twice)).rejects.toThrow("stands twice");
  });
});

describe("errors", () => {
  test("what nobody expected is 500 with an id, and only the log knows more", async () => {
    const server = await open([
      route({ path: "/e/:key", access: "event-key", handle: () => Promise.reject(new Error("secret detail")) }),
    ]);
    const { status, text } = await ask(server, { path: "/e/my-key", body: "{}" });
    expect(status).toBe(500);
    expect(text).not.toContain("secret");
    expect(JSON.parse(text)).toMatchObject({ status: 500, code: "SERVER_FAILED", ids: [] });
    const [[line, error]] = server.logged as [[string, Error]];
    expect(line).toContain(/request (\w+)/.exec(text)![1]);
    expect(line).not.toContain("my-key");
    expect(error.message).toBe("secret detail");
  });

  test("a store that takes no more is 503 with Retry-After", async () => {
    const server = await open([
      route({ path: "/echo", handle: () => Promise.reject(errors.STORE_BUSY({ queued: 9 })) }),
    ]);
    expect(await ask(server, { body: "{}" })).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  });
});

describe("too much", () => {
  /** A route that answers when told. */
  function held() {
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = 0;
    const handle = async (): Promise<RouteAnswer> => {
      entered++;
      await until;
      return json("done");
    };
    return { handle, release: () => release(), entered: () => entered };
  }

  test("requests beyond the bound are told to come again, and those under way are finished", async () => {
    const gate = held();
    const server = await open([route({ path: "/echo", handle: gate.handle })], { limits: { requestsInFlight: 2 } });
    const first = [ask(server, { body: "1" }), ask(server, { body: "2" })];
    await expect.poll(gate.entered).toBe(2);
    expect(await ask(server, { body: "3" })).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(server.listener.load.refusedBusy).toBe(1);
    gate.release();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await ask(server, { body: "4" })).toMatchObject({ status: 200 });
  });

  test("those who wait for something do not take the places of those who want an answer now", async () => {
    const gate = held();
    const server = await open([route({ path: "/wait", waits: true, handle: gate.handle }), route({ path: "/echo" })], {
      limits: { requestsInFlight: 1, waitingStrangers: 2 },
    });
    const waiting = [ask(server, { path: "/wait", body: "1" }), ask(server, { path: "/wait", body: "2" })];
    await expect.poll(gate.entered).toBe(2);
    expect(await ask(server, { body: "{}" })).toMatchObject({ status: 200 });
    expect(await ask(server, { path: "/wait", body: "3" })).toMatchObject({ status: 503 });
    gate.release();
    await Promise.all(waiting);
  });

  test("streams with one token, or of one caller, leave places to others, and tokens never take those of callers with keys", async () => {
    const gate = held();
    const settings = { mode: "start", signingKeys: ["0123456789abcdef0123456789abcdef", "staging=aabbccdd"] } as const;
    const limits = { waitingStrangers: 5, waitingPerToken: 2, waitingRequests: 4, waitingPerPrincipal: 3 };
    const follow = route({ path: "/follow", waits: true, handle: gate.handle });
    const examine = route({ path: "/examine", access: "signing-key", waits: true, handle: gate.handle });
    const server = await open([follow, examine], { settings, limits });
    const asked: Promise<{ status: number }>[] = [];
    /** How many of them were let in. */
    const tryAll = async (count: number, path: string, key?: string) => {
      const before = gate.entered();
      const headers: Record<string, string> =
        key === undefined ? {} : { authorization: `Bearer ${bearerTokenOf(key)}` };
      let refused = 0;
      for (let n = 0; n < count; n++) {
        const one = ask(server, { path, headers });
        asked.push(one);
        void one.then(({ status }) => {
          if (status === 503) refused++;
        });
      }
      await expect.poll(() => gate.entered() - before + refused).toBe(count);
      return gate.entered() - before;
    };
    expect(await tryAll(10, "/follow?token=leaked")).toBe(2);
    expect(await tryAll(10, "/follow?token=another")).toBe(2);
    expect(await tryAll(10, "/follow?token=third")).toBe(1);
    expect(await tryAll(10, "/examine", "aabbccdd")).toBe(3);
    expect(await tryAll(10, "/examine", "0123456789abcdef0123456789abcdef")).toBe(1);
    gate.release();
    await Promise.all(asked);
    await expect.poll(() => server.listener.load.waitingRequests).toBe(0);
    expect(await ask(server, { path: "/follow?token=leaked" })).toMatchObject({ status: 200 });
  });

  test("bodies of all requests together are bounded", async () => {
    const server = await open([route({ path: "/echo" })], { limits: { bodyBytesHeld: 100 } });
    expect(await ask(server, { body: JSON.stringify("x".repeat(200)) })).toMatchObject({ status: 503 });
    expect(server.listener.load.bodyBytesHeld).toBe(0);
    expect(await ask(server, { body: "{}" })).toMatchObject({ status: 200 });
  });

  test("headers that are too large are 431, and what is not HTTP is 400", async () => {
    const server = await open([route({ path: "/echo" })]);
    const large = `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(20_000)}\r\n\r\n`;
    expect(await raw(server.port, large)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await raw(server.port, "\0\x01\x02 nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("a caller that sends its headers or its body drop by drop is cut off", async () => {
    const limits = { headersMs: 200, strangerBodyMs: 200, lookMs: 50 };
    const server = await open([route({ path: "/echo" })], { limits });
    expect(await raw(server.port, "POST /echo HTTP/1.1\r\nhost: local")).toMatch(/^HTTP\/1\.1 408 /);
    expect(await raw(server.port, "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{")).toBe("");
    expect(await ask(server, { body: "{}" })).toMatchObject({ status: 200 });
  });
});

describe("callers that leave", () => {
  test("a route learns that its caller has gone", async () => {
    let aborted = () => {};
    const left = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    let entered = false;
    const handle = async ({ signal }: RouteRequest) => {
      entered = true;
      signal.addEventListener("abort", aborted);
      await left;
      return json("nobody hears it");
    };
    const server = await open([route({ path: "/echo", handle })]);
    const request: ClientRequest = httpRequest({ port: server.port, method: "POST", path: "/echo", agent: false });
    request.on("error", () => {});
    request.end("{}");
    await expect.poll(() => entered).toBe(true);
    request.destroy();
    await left;
    await expect.poll(() => server.listener.load.requestsInFlight).toBe(0);
    expect(server.logged).toEqual([]);
  });

  test("a stream ends when its reader leaves, and goes no faster than it is read", async () => {
    let pulled = 0;
    let ended = false;
    async function* endless() {
      try {
        for (;;) {
          pulled++;
          yield "x".repeat(100_000);
        }
      } finally {
        ended = true;
      }
    }
    const stream: Route = route({
      path: "/stream",
      method: "GET",
      handle: () => ({ status: 200, headers: { "content-type": "text/plain" }, body: endless() }),
    });
    const server = await open([stream]);
    const request = httpRequest({ port: server.port, path: "/stream", agent: false });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await once(response, "readable");
    const before = pulled;
    await new Promise((resolve) => setImmediate(resolve));
    expect(pulled - before).toBeLessThan(200);
    response.on("error", () => {});
    response.destroy();
    await expect.poll(() => ended).toBe(true);
    await expect.poll(() => server.listener.load.waitingRequests).toBe(0);
  });

  test("a reader that stops reading is cut off, and its stream ends", async () => {
    let ended = false;
    async function* endless() {
      try {
        for (;;) yield "x".repeat(100_000);
      } finally {
        ended = true;
      }
    }
    const handle = () => ({ status: 200, body: endless() });
    const limits = { silentMs: 200, silentWaitingMs: 200 };
    const server = await open([route({ path: "/stream", method: "GET", handle })], { limits });
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    socket.pause();
    socket.write("GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await expect.poll(() => ended).toBe(true);
    await expect.poll(() => server.listener.load.waitingRequests).toBe(0);
  });

  test("a stream asked for with HEAD begins, says nothing, and is over for its route", async () => {
    let isOver = false;
    async function* endless() {
      for (;;) yield "x";
    }
    const handle = ({ signal }: RouteRequest) => {
      signal.addEventListener("abort", () => {
        isOver = true;
      });
      return { status: 200, headers: { "content-type": "text/event-stream" }, body: endless() };
    };
    const server = await open([route({ path: "/stream", method: "GET", handle })]);
    expect(await ask(server, { method: "HEAD", path: "/stream" })).toMatchObject({ status: 200, text: "" });
    await expect.poll(() => isOver).toBe(true);
  });

  test("a stream that fails is cut, so that its reader does not take it for whole", async () => {
    async function* failing() {
      yield "first";
      throw new Error("lost");
    }
    const server = await open([
      route({ path: "/stream", method: "GET", handle: () => ({ status: 200, body: failing() }) }),
    ]);
    await expect(ask(server, { method: "GET", path: "/stream" })).rejects.toThrow();
    expect(server.logged).toHaveLength(1);
  });
});

describe("who may ask", () => {
  const keys = {
    mode: "start" as const,
    eventKeys: ["one", "staging=two"],
    signingKeys: ["signkey-prod-0123456789abcdef0123456789abcdef", "staging=aabb"],
    password: "open sesame",
  };
  const env = ({ env }: RouteRequest) => json({ env });
  const table = [
    route({ path: "/e/:key", access: "event-key", handle: env }),
    route({ path: "/signed", access: "signing-key", handle: env }),
    route({ path: "/operator", access: "operator", errors: "problem", handle: env }),
  ];
  const hash = "223e0a160af9da0a03e6dd2c4719c56f5d66a633cbe84e78aaa9f3735865522a";

  test("with keys, each route asks for its own, and the key says the environment", async () => {
    const server = await open(table, { settings: keys });
    const signed = (authorization: string, path = "/signed") =>
      ask(server, { path, headers: { authorization }, body: "{}" });
    expect(await ask(server, { path: "/e/one", body: "{}" })).toMatchObject({ status: 200, text: '{"env":"default"}' });
    expect(await ask(server, { path: "/e/two", body: "{}" })).toMatchObject({ text: '{"env":"staging"}' });
    expect(await ask(server, { path: "/e/three", body: "{}" })).toMatchObject({ status: 401 });
    for (const token of [hash, `signkey-prod-${hash}`, `signkey-test-${hash}`, "0123456789abcdef0123456789abcdef"]) {
      expect(await signed(`Bearer ${token}`)).toMatchObject({ status: 200, text: '{"env":"default"}' });
    }
    expect(await signed("Bearer aabb")).toMatchObject({ text: '{"env":"staging"}' });
    expect(await signed("Bearer")).toMatchObject({ status: 401 });
    expect(await signed("Bearer undefined")).toMatchObject({ status: 401 });
    expect(await ask(server, { path: "/signed", body: "{}" })).toMatchObject({ status: 401 });
    expect(await signed(`Bearer ${hash}`, "/operator")).toMatchObject({ status: 200 });
    const basic = (password: string) => `Basic ${Buffer.from(`anyone:${password}`).toString("base64")}`;
    expect(await signed(basic("open sesame"), "/operator?env=staging")).toMatchObject({ text: '{"env":"staging"}' });
    expect(await signed(basic("open sesam"), "/operator")).toMatchObject({ status: 401 });
    expect(await signed(basic("open sesame"))).toMatchObject({ status: 401 });
  });

  test("a refused caller's body is never read, and its key is not repeated", async () => {
    const server = await open(table, { settings: keys });
    const { status, text } = await ask(server, { path: "/e/wrong-key", body: "{".repeat(900) });
    expect(status).toBe(401);
    expect(text).not.toContain("wrong-key");
    expect(JSON.parse(text)).toMatchObject({ status: 401, ids: [] });
  });

  test("in dev everybody may ask, and a header says the environment", async () => {
    const server = await open(table);
    const headers = { authorization: "Bearer undefined", "x-inngest-env": "feature/x" };
    expect(await ask(server, { path: "/signed", headers, body: "{}" })).toMatchObject({ text: '{"env":"feature/x"}' });
    expect(await ask(server, { path: "/e/NO_EVENT_KEY_SET", body: "{}" })).toMatchObject({ text: '{"env":"default"}' });
    const odd = { "x-inngest-env": "../../etc" };
    expect(await ask(server, { path: "/signed", headers: odd, body: "{}" })).toMatchObject({ status: 400 });
  });

  test("in dev a name that is not this machine's is refused, so that no page can have its DNS point here", async () => {
    const server = await open(table);
    const named = (host: string) => ask(server, { path: "/signed", headers: { host }, body: "{}" });
    for (const host of ["evil.example", "evil.example:8288", "127.0.0.1.evil.example"]) {
      expect(await named(host)).toMatchObject({ status: 403 });
    }
    // A resolver answers these as it likes: one of a network that somebody else runs, say.
    for (const host of [
      "idem",
      "wpad:8288",
      "evil.internal",
      "host.docker.internal:8288",
      "evil.localhost",
      "1.2.3.4.5",
      "a:b",
    ]) {
      expect(await named(host), host).toMatchObject({ status: 403 });
    }
    // An address is no name, but this server is not there: it listens on loopback.
    for (const host of ["192.168.1.7:8288", "[fe80::1]:8288", "127.0.0.999", "127.1", "0177.0.0.1", "0.0.0.0"]) {
      expect(await named(host), host).toMatchObject({ status: 403 });
    }
    for (const host of ["localhost:1", "LOCALHOST", "127.0.0.1", "127.8.8.8:8288", "[::1]:8288"]) {
      expect(await named(host), host).toMatchObject({ status: 200 });
    }
  });

  test("in dev a name that was given is this machine's, and beyond loopback so are addresses", async () => {
    const inContainer = { mode: "dev", host: "0.0.0.0", allowHosts: ["idem", "host.docker.internal"] } as const;
    const server = await open(table, { settings: inContainer });
    const named = async (host: string) =>
      (await ask(server, { path: "/signed", headers: { host }, body: "{}" })).status;
    const welcome = ["idem:8288", "Host.Docker.Internal", "192.168.1.7:8288", "[fe80::1]:8288", "localhost"];
    for (const host of welcome) expect(await named(host), host).toBe(200);
    for (const host of ["other", "x.idem", "evil.internal", "999.1.1.1"]) expect(await named(host), host).toBe(403);
  });

  test("a page of another site changes nothing in dev, and a page of this machine may", async () => {
    const server = await open(table);
    const from = (origin: string, method = "POST") =>
      ask(server, {
        method,
        path: "/signed",
        headers: { origin, ...asJson },
        ...(method === "POST" ? { body: "{}" } : {}),
      });
    expect(await from("https://evil.example")).toMatchObject({ status: 403 });
    expect(await from("null")).toMatchObject({ status: 403 });
    const own = await from("http://localhost:5173");
    expect(own).toMatchObject({ status: 200, headers: { "access-control-allow-origin": "http://localhost:5173" } });
    const asked = await from("http://localhost:5173", "OPTIONS");
    expect(asked).toMatchObject({ status: 204, headers: { "access-control-allow-methods": "POST, OPTIONS" } });
    const foreign = await from("https://evil.example", "OPTIONS");
    expect(foreign.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("with keys, a page may send events with its key, but not use a password its browser remembers", async () => {
    const server = await open(table, { settings: keys });
    const headers = { origin: "https://shop.example", authorization: `Basic ${btoa("me:open sesame")}` };
    const sent = await ask(server, { path: "/e/one", headers, body: "{}" });
    expect(sent).toMatchObject({ status: 200, headers: { "access-control-allow-origin": "*" } });
    expect(await ask(server, { path: "/operator", headers, body: "{}" })).toMatchObject({ status: 403 });
  });
});

describe("sockets", () => {
  const echo: SocketRoute = {
    path: "/socket",
    access: "signing-key",
    upgrade: (_, socket, __, env) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nenv ${env}`);
    },
  };
  const upgrade = (path: string, more = "") =>
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n${more}\r\n`;

  test("a socket is handed to its route with its environment, and cut when the server closes", async () => {
    const server = await open([], { sockets: [echo] });
    const said = raw(server.port, upgrade("/socket", "x-inngest-env: blue\r\n"));
    await expect.poll(() => server.listener.load.sockets).toBe(1);
    await server.listener.close(0);
    expect(await said).toContain("env blue");
  });

  test("unknown paths, other protocols, foreign pages and callers without a key are refused", async () => {
    const dev = await open([], { sockets: [echo] });
    expect(await raw(dev.port, upgrade("/nothing"))).toMatch(/^HTTP\/1\.1 404 /);
    expect(await raw(dev.port, upgrade("/socket", "origin: https://evil.example\r\n"))).toMatch(/^HTTP\/1\.1 403 /);
    const h2 = "GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n";
    expect(await raw(dev.port, h2)).toMatch(/^HTTP\/1\.1 400 /);
    const keyed = await open([], { sockets: [echo], settings: { mode: "start", signingKeys: ["aabb"] } });
    expect(await raw(keyed.port, upgrade("/socket"))).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("of a path there are so many and no more, until one leaves; another path has its own", async () => {
    const reading: SocketRoute = {
      ...echo,
      upgrade: (incoming, socket, ...more) => {
        socket.on("end", () => socket.end()).resume();
        echo.upgrade(incoming, socket, ...more);
      },
    };
    const server = await open([], { sockets: [reading, { ...reading, path: "/other" }], limits: { sockets: 2 } });
    const enter = async (path: string) => {
      const socket = connect(server.port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      socket.write(upgrade(path));
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 101 /);
      return socket;
    };
    const first = await enter("/socket");
    await enter("/socket");
    expect(await raw(server.port, upgrade("/socket"))).toMatch(/^HTTP\/1\.1 503 /);
    await enter("/other");
    first.end();
    await expect.poll(() => server.listener.load.sockets).toBe(2);
    await enter("/socket");
  });
});

describe("stopping", () => {
  test("what is under way is finished, new requests find nobody", async () => {
    let entered = false;
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const handle = async () => {
      entered = true;
      await until;
      return json("done");
    };
    const server = await open([route({ path: "/echo", handle })]);
    const under = ask(server, { body: "{}" });
    await expect.poll(() => entered).toBe(true);
    const closing = server.listener.close(30_000);
    await expect(ask(server, { body: "{}" })).rejects.toThrow();
    release();
    expect(await under).toMatchObject({ status: 200, text: '"done"' });
    await closing;
  });

  test("an answer that is on its way arrives whole", async () => {
    const large = "x".repeat(20_000_000);
    const server = await open([
      route({ path: "/large", method: "GET", bodyBytesMax: null, handle: () => ({ status: 200, body: large }) }),
    ]);
    const request = httpRequest({
      port: server.port,
      path: "/large",
      agent: false,
      headers: { connection: "keep-alive" },
    });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const closing = server.listener.close(30_000);
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(large.length);
    await closing;
  });

  test("a port that is taken is refused with what to do", async () => {
    const { port } = await open([]);
    await expect(open([], { settings: { port } })).rejects.toMatchObject({ code: "PORT_TAKEN" });
  });
});
