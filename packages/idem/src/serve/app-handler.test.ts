import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { fingerprintOf } from "../execute/code-of-run.ts";
import { canonicalJson } from "../model/json.ts";
import { readPackageText } from "../platform/package-files.ts";
import { readInBandReply, readRegisterRequest } from "../protocol/register-request.ts";
import { signatureHeader, signRequest, verifySignature } from "../protocol/request-signature.ts";
import { Idem } from "../sdk/client.ts";
import { inside } from "../sdk/inside.ts";
import { noteAddress } from "../sdk/request-address.ts";
import { version } from "./describe-app.ts";
import { fetchHandler } from "./fetch-handler.ts";
import { callBody, origin, servedWorld, type WorldOptions } from "./served-world.suite.ts";

const key = "4f2a9c0e7b1d8356af03c9e2517bd864";
const oldKey = "signkey-prod-91c7e04b6da2f385d8027fb1c45e639a";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const cloud = (options: WorldOptions = {}) => {
  const world = servedWorld({
    ...options,
    client: { signingKey: key, signingKeyFallback: oldKey, ...options.client },
    serve: { dev: false, ...options.serve },
  });
  world.idem.createFunction({ id: "fn" }, { event: "test/go" }, async ({ step }) => step.run("a", () => "ran"));
  const signed = (method: string, url: string, body: string | null, by = key) =>
    world.send(
      new Request(url, {
        method,
        headers: {
          [signatureHeader]: signRequest(
            body === null ? "" : canonicalJson(JSON.parse(body)),
            by,
            world.platform.wallMs(),
          ),
        },
        ...(body === null ? {} : { body }),
      }),
    );
  return { ...world, signed };
};

afterEach(() => {
  vi.unstubAllEnvs();
});

test("an app is not served with a signing key that can be guessed, but in dev, where nothing is signed", () => {
  for (const weak of ["ab", "signkey-prod-00000000000000000000000000000000"]) {
    expect(() => cloud({ client: { signingKey: weak } })).toThrow("idem secret make signing-key");
    expect(() => cloud({ client: { signingKeyFallback: weak } })).toThrow("idem secret make signing-key");
    expect(() => cloud({ client: { signingKey: weak }, serve: { dev: true } })).not.toThrow();
  }
});

describe("signatures", () => {
  const url = `${origin}?fnId=shop-fn&stepId=step`;
  const body = JSON.stringify(callBody({}));

  test("a call signed with any of the app's keys is executed, whatever order its fields came in", async () => {
    const { signed, platform } = cloud();
    const pretty = JSON.stringify(JSON.parse(body), null, 2);
    for (const [text, by] of [
      [body, key],
      [pretty, key],
      [body, oldKey],
    ] as const) {
      // In the same second both would be one call.
      await platform.advance(1_000, async () => {});
      const answer = await signed("POST", url, text, by);
      expect(answer.status).toBe(206);
      // The answer is signed with the key of the call, over its bytes.
      const header = answer.headers.get(signatureHeader)!;
      expect(verifySignature(header, answer.text, [by], platform.wallMs()).kind).toBe("valid");
    }
  });

  test("a value with a field toJSON does not break the signature", async () => {
    const { signed } = cloud();
    const event = { data: { toJSON: "x", b: 1, a: { toJSON: null } } };
    expect((await signed("POST", url, JSON.stringify(callBody({ event })))).status).toBe(206);
  });

  test("a call that is not signed, signed by a stranger, changed or old is refused, and nothing is told", async () => {
    const { send, signed, platform, logged } = cloud();
    const at = platform.wallMs();
    const post = (header: string | null, text = body) =>
      send(
        new Request(url, { method: "POST", body: text, headers: header === null ? {} : { [signatureHeader]: header } }),
      );
    const canonical = canonicalJson(JSON.parse(body));
    const refused = [
      await post(null),
      await post(""),
      await post("t=1&s=2"),
      await post(signRequest(canonical, key, at - 301_000)),
      await post(signRequest(canonical, key, at + 301_000)),
      await post(signRequest(canonical, key, at), body.replace("01RUN", "01ROW")),
      await post(signRequest("", key, at)),
      await signed("POST", url, body, "aabb"),
      await send(new Request(origin)),
      await send(new Request(origin, { method: "PUT", body: '{"url":"http://evil.test"}' })),
    ];
    for (const answer of refused) {
      expect([answer.status, answer.text]).toEqual([401, '{"message":"Unauthorized"}']);
      const told = [...answer.headers.keys()].filter((name) => name.startsWith("x-inngest-"));
      expect(told).toEqual(["x-inngest-sdk-handled"]);
    }
    expect(JSON.stringify(logged)).not.toContain(key);
  });

  test("without a signing key nothing is answered, unless in dev", async () => {
    const { send } = servedWorld({ serve: { dev: false } });
    const answer = await send(new Request(url, { method: "POST", body }));
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain("IDEM_SIGNING_KEY");
  });

  test.each([undefined, "", "development", "test", "production"])(
    "without a key unsigned calls run nothing unless dev was asked for, with NODE_ENV %s, and it is said at start",
    async (name) => {
      vi.stubEnv("NODE_ENV", name);
      vi.stubEnv("IDEM_DEV", undefined);
      const told: string[] = [];
      const logger = { ...quiet, warn: (text: string) => void told.push(text) };
      const ran = vi.fn();
      const serveWith = (options: { signingKey?: string }, dev?: boolean) => {
        const idem = new Idem({ id: "shop", server: "http://idem.test", logger, ...options });
        idem.createFunction({ id: "fn" }, { event: "test/go" }, ran);
        const handle = fetchHandler(idem, dev === undefined ? {} : { dev }, "fetch");
        // As any page of the web can have a browser send it, without being asked first.
        return handle(new Request(url, { method: "POST", body, headers: { "content-type": "text/plain" } }));
      };
      const answer = await serveWith({});
      expect(answer.status).toBe(500);
      for (const words of [await answer.text(), told[0]]) {
        expect(words).toContain("IDEM_SIGNING_KEY");
        expect(words).toContain("IDEM_DEV=1");
      }
      expect((await serveWith({ signingKey: key })).status).toBe(401);
      expect((await serveWith({}, false)).status).toBe(500);
      vi.stubEnv("IDEM_DEV", "0");
      expect((await serveWith({})).status).toBe(500);
      expect(ran).not.toHaveBeenCalled();

      expect((await serveWith({}, true)).status).toBe(206);
      vi.stubEnv("IDEM_DEV", "1");
      expect((await serveWith({})).status).toBe(206);
      expect(told.at(-1)).toContain("without a signature");
      expect(ran).toHaveBeenCalledTimes(2);
    },
  );

  test("the trust probe is answered with nothing, an unknown probe refused", async () => {
    const { signed } = cloud();
    const trust = await signed("POST", `${origin}?probe=trust`, "{}");
    expect([trust.status, trust.text]).toEqual([200, ""]);
    expect((await signed("POST", `${origin}?probe=other`, "{}")).status).toBe(400);
  });
});

describe("in dev, an unsigned call", () => {
  const named = { dev: { hosts: ["app", "Shop.internal:3000"] } };
  const calling = (
    headers: Record<string, string>,
    { address = null as string | null, serve = {}, method = "POST" } = {},
  ) => {
    const world = servedWorld({ serve });
    const ran = vi.fn();
    world.idem.createFunction({ id: "fn" }, { event: "test/go" }, ran);
    const request = new Request(`${origin}?fnId=shop-fn&stepId=step`, {
      method,
      headers,
      ...(method === "POST" ? { body: JSON.stringify(callBody({})) } : {}),
    });
    // Browsers and proxies send headers that Fetch refuses a test.
    Object.defineProperty(request, "headers", { value: { get: (name: string) => headers[name] ?? null } });
    if (address !== null) noteAddress(request, address);
    return world.send(request).then((answer) => ({ ...answer, ran }));
  };

  test.each<[string, Record<string, string>, string?]>([
    ["of a page that a stranger's DNS leads here", { host: "evil.test:3000" }],
    [
      "of a foreign page, in a type that browsers send without asking",
      { origin: "https://evil.test", "content-type": "text/plain" },
    ],
    ["of a page without an origin", { origin: "null" }],
    ["of a page whose browser says the site alone", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
    ["from another machine that says it was sent here", { host: "localhost:3000" }, "192.168.1.7"],
    ["from another machine, as IPv6 writes it", {}, "::ffff:10.0.0.7"],
    [
      "through a tunnel that rewrites the host",
      { host: "localhost:3000", "x-forwarded-for": "203.0.113.9" },
      "127.0.0.1",
    ],
    ["through a tunnel that adds its name", { "x-forwarded-host": "abc.ngrok.test" }, "127.0.0.1"],
    ["through a proxy of the standard", { forwarded: "for=203.0.113.9" }, "127.0.0.1"],
    ["to a container nobody named", { host: "other:3000" }, "172.18.0.2"],
    ["to a name that only begins as this machine's", { host: "localhost.evil.test" }],
    ["to a name that only begins as a named one", { host: "app.evil.test" }],
  ])("%s is refused and nothing runs", async (_, headers, address) => {
    for (const serve of [{}, named]) {
      const { status, body, ran } = await calling(
        { host: "127.0.0.1:3000", ...headers },
        { serve, address: address ?? null },
      );
      expect(status).toBe(403);
      expect(body).toMatchObject({ name: "APP_CALL_REFUSED", message: expect.stringContaining("IDEM_SIGNING_KEY") });
      expect(ran).not.toHaveBeenCalled();
    }
  });

  test.each<[string, Record<string, string>, string?]>([
    ["of this machine", { host: "127.0.0.1:3000" }, "127.0.0.1"],
    ["of this machine by its name", { host: "localhost:3000" }, "::ffff:127.0.0.1"],
    ["of this machine over IPv6", { host: "[::1]:3000" }, "::1"],
    [
      "of a page of this machine",
      { host: "localhost:3000", origin: "http://localhost:5173", "sec-fetch-site": "same-site" },
    ],
    [
      "through a proxy of this machine",
      { host: "localhost:3000", "x-forwarded-for": "::1", "x-forwarded-host": "localhost:3000" },
    ],
  ])("%s is executed", async (_, headers, address) => {
    const { status, ran } = await calling(headers, { address: address ?? null });
    expect(status).toBe(206);
    expect(ran).toHaveBeenCalled();
  });

  test("to a host that was named is executed, wherever it comes from", async () => {
    for (const host of ["app:3000", "shop.internal", "APP"]) {
      expect((await calling({ host }, { serve: named, address: "172.18.0.2" })).status).toBe(206);
    }
    vi.stubEnv("IDEM_DEV_HOSTS", "app, shop.internal");
    for (const host of ["app:3000", "shop.internal"]) {
      expect((await calling({ host }, { address: "172.18.0.2" })).status).toBe(206);
    }
  });

  test("a person who follows a link to an app sees what is served, a page that fetches it does not", async () => {
    const site = { host: "127.0.0.1:3000", "sec-fetch-site": "cross-site" };
    expect((await calling({ ...site, "sec-fetch-mode": "navigate" }, { method: "GET" })).status).toBe(200);
    expect((await calling({ ...site, "sec-fetch-mode": "no-cors" }, { method: "GET" })).status).toBe(403);
  });
});

describe("what is served", () => {
  test("in dev anyone may ask, and little is told", async () => {
    const { send, idem } = servedWorld();
    idem.createFunction({ id: "fn", onFailure: () => 1 }, { event: "test/go" }, () => 1);
    const answer = await send(new Request(origin));
    expect(answer.body).toEqual({
      extra: { native_crypto: true },
      has_event_key: false,
      has_signing_key: false,
      function_count: 2,
      mode: "dev",
      schema_version: "2024-05-24",
    });
    expect(answer.headers.get("x-inngest-sdk")).toBe(`idem:v${version}`);
  });

  test("signed, the keys are told by the beginnings of their hashes", async () => {
    const { signed } = cloud({ client: { eventKey: "event-key" } });
    const { status, body, text } = await signed("GET", origin, null);
    expect(status).toBe(200);
    expect(body).toMatchObject({ authentication_succeeded: true, app_id: "shop", mode: "cloud", function_count: 1 });
    // The vector of docs/reference/wire.md#keys.
    expect(body.signing_key_hash).toBe("60161f7b17ea");
    expect(text).not.toContain(key);
    expect(text).not.toContain("event-key");
  });

  test("other methods are refused", async () => {
    const { send } = servedWorld();
    expect((await send(new Request(origin, { method: "DELETE" }))).status).toBe(405);
  });
});

describe("registration", () => {
  const register = (world: ReturnType<typeof servedWorld>) => {
    world.idem.createFunction(
      {
        id: "full",
        name: "Full fn",
        retries: 2,
        idempotency: { key: "event.data.id", window: "1h", afterFailure: "release" },
        timeouts: { start: "10s", finish: "1m" },
        onFailure: () => 1,
      },
      [{ event: "test/go", if: "event.data.x == 1" }, { event: "shop/*" }],
      () => 1,
    );
    world.idem.createFunction({ id: "plain", idempotency: "event.data.id" }, [], () => 1);
  };
  const codesOf = (idem: Idem) => idem[inside].serving().codes();

  test("out-of-band, the server is told everything the functions were given", async () => {
    const world = servedWorld({ answer: () => ({ body: '{"ok":true,"modified":true,"status":200}' }) });
    register(world);
    const answer = await world.send(
      new Request(`${origin}?deployId=d1`, { method: "PUT", headers: { "x-inngest-server-kind": "dev" } }),
    );
    expect([answer.status, answer.body]).toEqual([200, { message: "Successfully registered", modified: true }]);
    expect(answer.headers.get("x-inngest-sync-kind")).toBe("out_of_band");
    const [asked] = world.asked;
    expect(asked).toMatchObject({ method: "POST", path: "/fn/register?deployId=d1" });
    expect(asked!.headers).toMatchObject({ "x-inngest-expected-server-kind": "dev" });
    // Read by the server's own reader: what arrives is what the author wrote.
    const read = readRegisterRequest(asked!.body);
    expect(read).toMatchObject({ app: "shop", url: origin.replace("127.0.0.1", "localhost"), framework: "fetch" });
    for (const code of codesOf(world.idem)) {
      const arrived = read.functions.find(({ fn }) => fn === code.fn)!;
      const { runtime, ...config } = arrived.config;
      expect(config).toEqual({ ...code.config, fingerprint: fingerprintOf(code) });
      expect(runtime?.kind).toBe("http");
    }
    const plain = asked!.body.functions.find(({ id }: any) => id === "shop-plain");
    expect(plain).toMatchObject({ idempotency: "event.data.id", steps: { step: { retries: { attempts: 4 } } } });
    expect(plain.steps.step.runtime.url).toBe(`${origin}?fnId=shop-plain&stepId=step`);
  });

  test("in-band, the answer is the registration and the server is not asked", async () => {
    const world = servedWorld();
    register(world);
    const put = (body: string) =>
      world.send(new Request(origin, { method: "PUT", body, headers: { "x-inngest-sync-kind": "in_band" } }));
    const answer = await put('{"url":"https://shop.test/api/idem"}');
    expect([answer.status, answer.headers.get("x-inngest-sync-kind")]).toEqual([200, "in_band"]);
    const read = readInBandReply(answer.body);
    expect(read.functions.map(({ fn }) => fn)).toEqual(["shop-full", "shop-full-failure", "shop-plain"]);
    expect(read.url).toBe("https://shop.test/api/idem");
    expect(world.asked).toEqual([]);
    expect((await put("{}")).status).toBe(400);
  });

  test("what the server refuses is passed on to whoever asked for the sync", async () => {
    const put = async (answer: { status?: number; body: string }) => {
      const { send } = servedWorld({ answer: () => answer });
      return send(new Request(origin, { method: "PUT" }));
    };
    const refused = await put({ status: 400, body: '{"error":"bad cron","status":400}' });
    expect([refused.status, refused.body.message]).toEqual([400, "bad cron"]);
    // Other servers say it in the body alone.
    expect((await put({ body: '{"error":"bad cron","status":400}' })).status).toBe(400);
    expect((await put({ body: "<html>" })).status).toBe(500);
  });

  test("signed or with a URL of its own an app registers where it really is, and nowhere else", async () => {
    const answer = () => ({ body: '{"ok":true,"modified":false,"status":200}' });
    const urlOf = (world: ReturnType<typeof servedWorld>) => world.asked.at(-1)?.body.url;
    const world = cloud({ answer });
    await world.signed("PUT", `${origin}?deployId=1`, '{"url":"https://shop.test/hook"}');
    expect(urlOf(world)).toBe("https://shop.test/hook");
    const told = cloud({ answer, serve: { url: "https://shop.test/api/idem" } });
    const unsigned = await told.send(new Request(origin, { method: "PUT", body: '{"url":"http://evil.test"}' }));
    expect(unsigned.status).toBe(200);
    expect(urlOf(told)).toBe("https://shop.test/api/idem");
  });

  test("the schemas of its events arrive as the client has them, both ways, and never make a registration too large", async () => {
    const inBand = (world: ReturnType<typeof servedWorld>) =>
      world.send(
        new Request(origin, {
          method: "PUT",
          body: JSON.stringify({ url: origin }),
          headers: { "x-inngest-sync-kind": "in_band" },
        }),
      );
    const events = { "order/paid": z.object({ total: z.number().nullable().default(null) }) };
    const world = servedWorld({ client: { events } });
    const { code } = world.idem.createFunction({ id: "charge" }, { event: "order/paid" }, () => 1);
    await world.send(new Request(origin, { method: "PUT" }));
    const outOfBand = readRegisterRequest(world.asked[0]!.body).functions;
    const told = readInBandReply((await inBand(world)).body).functions;
    expect(code.config.dataSchemas!["order/paid"]).toContain('"default":null');
    for (const [read] of [outOfBand, told]) expect(read!.config.dataSchemas).toEqual(code.config.dataSchemas);

    const large = servedWorld({
      client: { events: { "a/b": z.object({ x: z.string().describe("x".repeat(30_000)) }) } },
    });
    for (let i = 0; i < 100; i++) large.idem.createFunction({ id: `fn-${i}` }, { event: "a/b" }, () => 1);
    const answer = await inBand(large);
    expect(answer.text.length).toBeLessThan(2 * 1024 * 1024);
    const { functions } = readInBandReply(answer.body);
    expect(functions).toHaveLength(100);
    expect(functions.filter(({ config }) => config.dataSchemas !== undefined).length).toBeGreaterThan(20);
  });
});

describe("bad input", () => {
  test("a call that cannot be read is refused with the reason, and can be made again", async () => {
    const { send, idem } = servedWorld();
    idem.createFunction({ id: "fn" }, { event: "test/go" }, () => 1);
    const post = (body: string, query = "fnId=shop-fn&stepId=step") =>
      send(new Request(`${origin}?${query}`, { method: "POST", body }));
    for (const body of [
      "",
      "null",
      "[]",
      "{",
      "{}",
      '{"event":{}}',
      '{"event":{"name":"a"},"ctx":{}}',
      "[".repeat(500),
    ]) {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      expect(answer.headers.get("x-inngest-no-retry")).toBeNull();
      expect(answer.body.type).toBe("internal");
    }
    const unknown = await post(JSON.stringify(callBody({})), "fnId=shop-gone&stepId=step");
    expect([unknown.status, unknown.body.name]).toEqual([500, "FUNCTION_UNKNOWN"]);
    expect((await post(JSON.stringify(callBody({})), "")).status).toBe(500);
  });

  test("a body is bounded while it arrives", async () => {
    const { send } = servedWorld();
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const answer = await send(new Request(origin, { method: "PUT", body: endless, duplex: "half" } as RequestInit));
    expect(answer.status).toBe(413);
    expect(pulled).toBeLessThan(10);
  });
});

describe("a stranger's body", () => {
  const url = `${origin}?fnId=shop-fn&stepId=step`;
  const text = JSON.stringify(callBody({}));
  const signatureOf = (body: string, at: number) => signRequest(canonicalJson(JSON.parse(body)), key, at);

  test("is not read where the headers refuse the call", async () => {
    const { send, platform } = cloud();
    const at = platform.wallMs();
    const tooLarge = { "content-length": String(65 * 1024 * 1024) };
    for (const [status, headers] of [
      [401, {}],
      [401, tooLarge],
      [401, { [signatureHeader]: "t=1&s=2" }],
      [401, { [signatureHeader]: `t=${Math.floor(at / 1_000)}&s=${"f".repeat(63)}` }],
      [401, { [signatureHeader]: signatureOf(text, at - 301_000) }],
      [401, { [signatureHeader]: signatureOf(text, at + 301_000) }],
      [413, { [signatureHeader]: signatureOf(text, at), ...tooLarge }],
    ] as const) {
      for (const sync of [{}, { "x-inngest-sync-kind": "in_band" }]) {
        let pulled = 0;
        const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
        const request = new Request(url, {
          method: "POST",
          body,
          headers: { ...headers, ...sync },
          duplex: "half",
        } as RequestInit);
        expect((await send(request)).status).toBe(status);
        expect(pulled).toBe(0);
      }
    }
  });

  test("is parsed for its canonical form only up to 100,000 values and 8 MiB; signed as it is, it may be larger", async () => {
    const { send, signed, platform } = cloud();
    // A call carries its event twice.
    const withData = (data: unknown) => JSON.stringify(callBody({ event: { data } }));
    const asSent = (body: string) =>
      send(
        new Request(url, {
          method: "POST",
          body,
          headers: { [signatureHeader]: signatureOf(body, platform.wallMs()) },
        }),
      );
    const written = (body: string) => ` ${body}`;
    for (const [data, status] of [
      [Array(45_000).fill(1), 206],
      [Array(50_000).fill(1), 401],
      ["x".repeat(4_100_000), 206],
      ["x".repeat(4_200_000), 401],
    ] as const) {
      expect((await asSent(written(withData(data)))).status).toBe(status);
      await platform.advance(1_000, async () => {});
      const canonical = canonicalJson(JSON.parse(withData(data)));
      expect((await signed("POST", url, canonical)).status).toBe(206);
    }
  });

  test("takes its part of what all calls under way may hold, and gives it back", async () => {
    const { send, platform } = cloud({ serve: { heldBytesMax: 3_000 } });
    const headers = { [signatureHeader]: signatureOf(text, platform.wallMs()) };
    const parts = new TransformStream<Uint8Array, Uint8Array>();
    const writer = parts.writable.getWriter();
    const slow = send(
      new Request(url, { method: "POST", body: parts.readable, headers, duplex: "half" } as RequestInit),
    );
    await writer.write(new Uint8Array(2_900));
    const refused = await send(new Request(url, { method: "POST", body: text, headers }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    // Not an answer of the app's, so the server spends no attempt on it.
    expect([...refused.headers.keys()].filter((name) => name.startsWith("x-inngest"))).toEqual([]);
    await writer.close();
    expect((await slow).status).toBe(401);
    expect((await send(new Request(url, { method: "POST", body: text, headers }))).status).toBe(206);
  });

  test("that does not arrive within 30 s is given up, and what it held is free", async () => {
    const { send, platform } = cloud({ serve: { heldBytesMax: 3_000 } });
    const headers = { [signatureHeader]: signatureOf(text, platform.wallMs()) };
    const parts = new TransformStream<Uint8Array, Uint8Array>();
    const writer = parts.writable.getWriter();
    const slow = send(
      new Request(url, { method: "POST", body: parts.readable, headers, duplex: "half" } as RequestInit),
    );
    await writer.write(new Uint8Array(2_900));
    await platform.advance(30_000, async () => {});
    expect((await slow).status).toBe(400);
    expect((await send(new Request(url, { method: "POST", body: text, headers }))).status).toBe(206);
  });
});

test("the version told to servers is the package's", () => {
  expect(version).toBe(JSON.parse(readPackageText("../package.json")).version);
});

test("a client that executes from its own store is not served, and says why", async () => {
  const idem = new Idem({ id: "shop", store: "memory:" });
  expect(() => fetchHandler(idem, {}, "fetch")).toThrow(/CLIENT_EMBEDDED/);
});

test("a client that names no server sends to the one it is served for", async () => {
  vi.stubEnv("IDEM_SERVER", "");
  const idem = new Idem({ id: "shop" });
  fetchHandler(idem, {}, "fetch");
  await expect(idem.start()).rejects.toThrow("http://127.0.0.1:8288");
});
