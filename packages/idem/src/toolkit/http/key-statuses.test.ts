// Every answer of the status table in docs/idempotency-key.md, by the facts a client sees.
import { describe, expect, test } from "vitest";
import { memoryKeys } from "../keys/memory-keys.ts";
import { idempotency } from "./idempotency.ts";
import { gate, keyedApi, settle, told } from "./keyed-api.suite.ts";
import { ANONYMOUS_SHARED } from "./read-request.ts";

const created = () => Response.json({ id: "ch_1" }, { status: 201 });

describe("a request with a key", () => {
  test("is executed once, and a retry gets the same status and bytes", async () => {
    const api = keyedApi((_, __, count) => Response.json({ id: `ch_${count}` }, { status: 201 }));
    const first = await api.ask();
    const second = await api.ask();
    expect(first.headers.get("idempotency-status")).toBe("executed");
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect([second.status, await second.text()]).toEqual([201, await first.text()]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("idempotency-status")).toBe("replayed");
    expect(second.headers.get("idempotency-expires")).toBe(first.headers.get("idempotency-expires"));
    expect(Date.parse(second.headers.get("idempotency-original-date")!)).toBe(api.platform.wallMs());
    expect(api.count()).toBe(1);
    expect(api.events.map(({ kind }) => kind)).toEqual(["executed", "replayed"]);
  });

  test("the handler reads the body as it was sent", async () => {
    const api = keyedApi(async (request) => new Response(await request.text()));
    expect(await (await api.ask({ body: '{ "total" : 1 }' })).text()).toBe('{ "total" : 1 }');
  });

  test("is the same with its key in quotes", async () => {
    const api = keyedApi(created);
    await api.ask({ key: "order-7" });
    await api.ask({ key: '"order-7"' });
    expect(api.count()).toBe(1);
  });

  test("is a new one once its window has ended", async () => {
    const api = keyedApi(created, { route: { window: "1h" } });
    await api.ask();
    await api.advance(3_600_000);
    await api.ask();
    expect(api.count()).toBe(2);
  });

  // pitfall 16
  test("is replayed long after it was completed, for the identical retry", async () => {
    const api = keyedApi(created);
    await api.ask();
    await api.advance(23 * 3_600_000);
    expect((await api.ask()).headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("a request that cannot be keyed", () => {
  test("without a key is refused with 400 and a link, and runs where the route does not require one", async () => {
    const strict = keyedApi(created);
    const answer = await strict.ask({ key: null });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("link")).toBe('<urn:idem:problem:key-missing>; rel="describedby"');
    expect(await told(answer)).toEqual({ status: 400, kind: "key-missing", retryable: false });
    const loose = keyedApi(created, { route: { required: false } });
    expect((await loose.ask({ key: null })).status).toBe(201);
    expect([strict.count(), loose.count()]).toEqual([0, 1]);
  });

  test("with a key that is none is refused with 400", async () => {
    const api = keyedApi(created);
    expect(await told(await api.ask({ key: "a, b" }))).toMatchObject({ status: 400, kind: "key-invalid" });
    expect(api.count()).toBe(0);
  });

  test("with a safe method ignores the header", async () => {
    const api = keyedApi(created);
    await api.ask({ method: "GET" });
    await api.ask({ method: "GET" });
    expect(api.count()).toBe(2);
  });

  test("whose body is over the limit is refused with 413 before anything is claimed", async () => {
    const api = keyedApi(created, { route: { requestBytesMax: 10 } });
    expect(await told(await api.ask({ body: '{"total":100}' }))).toMatchObject({ status: 413, kind: "body-too-large" });
    expect((await api.ask({ body: "{}" })).status).toBe(201);
  });

  test("over the limit is taken with a Content-Digest, which is verified on the way", async () => {
    const body = JSON.stringify({ note: "x".repeat(100) });
    const digest = async (text: string) =>
      `sha-256=:${Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("base64")}:`;
    const api = keyedApi(async (request) => new Response(await request.text()), { route: { requestBytesMax: 10 } });
    const headers = { "content-length": String(body.length), "content-digest": await digest(body) };
    expect(await (await api.ask({ body, headers })).text()).toBe(body);
    expect((await api.ask({ body, headers })).headers.get("idempotent-replayed")).toBe("true");
    const forged = { ...headers, "content-digest": await digest("other") };
    expect((await api.ask({ key: "k-2", body, headers: forged })).status).toBe(500);
  });

  test.each([
    ["is empty", () => ""],
    ["is missing", () => undefined],
    ["is null", (request: Request) => request.headers.get("x-nobody")],
    ["throws", () => Promise.reject(new Error("no session"))],
  ])("whose principal %s is refused with 403, and nothing executes", async (_, principal) => {
    const api = keyedApi(created, { principal });
    expect(await told(await api.ask())).toMatchObject({ status: 403, kind: "principal-unknown" });
    expect(api.count()).toBe(0);
  });

  test("whose body the principal has read is a mistake that is named, and nothing executes", async () => {
    const api = keyedApi(created, { principal: async (request) => request.text() });
    await expect(api.ask()).rejects.toThrow("BODY_ALREADY_READ");
    expect(api.count()).toBe(0);
  });

  test("gets the answer that principal throws", async () => {
    const api = keyedApi(created, { principal: () => Promise.reject(new Response(null, { status: 401 })) });
    expect((await api.ask()).status).toBe(401);
  });
});

describe("the same key for another request", () => {
  // pitfall 3
  test("is 422 when the first is completed, in flight or dead, and changes nothing of it", async () => {
    const work = gate();
    const api = keyedApi(
      async (_, __, count) => {
        if (count === 1) await work.opened;
        return created();
      },
      { route: { onCrash: "rerun", lease: "3s" } },
    );
    const first = api.ask();
    await settle();
    const other = { body: '{"total":11}' };
    const refused = { status: 422, kind: "key-reused", retryable: false };
    expect(await told(await api.ask(other))).toEqual(refused);
    work.open();
    await first;
    expect(await told(await api.ask(other))).toEqual(refused);
    expect((await api.ask()).headers.get("idempotent-replayed")).toBe("true");
    expect(api.count()).toBe(1);

    await api.keys.claim(await askOf(api, "k-dead"));
    await api.advance(1_000);
    expect(await told(await api.ask({ key: "k-dead", ...other }))).toEqual(refused);
    expect((await api.ask({ key: "k-dead" })).status).toBe(201);
  });

  test("on another route is another operation, or 422 where keys are the principal's", async () => {
    const byRoute = keyedApi(created);
    await byRoute.ask({ path: "/orders/1" });
    expect((await byRoute.ask({ path: "/orders/2" })).headers.get("idempotency-status")).toBe("executed");
    const byPrincipal = keyedApi(created, { route: { scope: "principal" } });
    await byPrincipal.ask({ path: "/orders/1" });
    expect((await byPrincipal.ask({ path: "/orders/2" })).status).toBe(422);
  });

  test("tells nothing of the first one but its age", async () => {
    const api = keyedApi(created);
    await api.ask();
    await api.advance(5_000);
    const body = (await (await api.ask({ body: "{}" })).json()) as Record<string, unknown>;
    expect(body.age_ms).toBe(5_000);
    expect(Object.keys(body).sort()).toEqual(["age_ms", "detail", "instance", "retryable", "status", "title", "type"]);
  });
});

describe("who asks", () => {
  // pitfall 10
  test("two principals with the same key never see each other's answer, conflict or mismatch", async () => {
    const api = keyedApi((request) => new Response(request.headers.get("x-account")));
    expect(await (await api.ask({ as: "alice" })).text()).toBe("alice");
    expect(await (await api.ask({ as: "bob" })).text()).toBe("bob");
    expect((await api.ask({ as: "carol", body: "{}" })).status).toBe(200);
    expect(api.count()).toBe(3);
  });

  // pitfall 10
  test("a caller whose permission was revoked does not get the old answer back", async () => {
    let isAllowed = true;
    const principal = () => {
      if (!isAllowed) throw new Response(null, { status: 403 });
      return "alice";
    };
    const api = keyedApi(created, { principal });
    await api.ask();
    isAllowed = false;
    expect((await api.ask()).status).toBe(403);
  });

  // pitfall 21
  test("a new token of the same user is the same caller", async () => {
    const api = keyedApi(created);
    await api.ask({ headers: { authorization: "Bearer one" } });
    const again = await api.ask({ headers: { authorization: "Bearer two" } });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("a tenant is part of the scope", async () => {
    const api = keyedApi(created, { tenant: (request) => request.headers.get("x-org") ?? "" });
    await api.ask({ headers: { "x-org": "a" } });
    await api.ask({ headers: { "x-org": "b" } });
    expect(api.count()).toBe(2);
    expect((await api.ask()).status).toBe(403);
  });

  test("one scope for all is a choice in words, and is logged at start", async () => {
    const api = keyedApi(created, { principal: ANONYMOUS_SHARED });
    expect(api.logged.join()).toContain("ANONYMOUS_SHARED");
    await api.ask({ as: "alice" });
    expect((await api.ask({ as: "bob" })).headers.get("idempotent-replayed")).toBe("true");
  });

  test("choices that were not made are errors at start", () => {
    const keys = memoryKeys();
    // @ts-expect-error principal is required
    expect(() => idempotency({ keys })).toThrow("principal");
    const own = idempotency({ keys, principal: () => "alice" });
    // @ts-expect-error onCrash is required
    expect(() => own.handler({}, created)).toThrow("onCrash");
    expect(() => own.handler({ onCrash: "park", replayHeaders: ["Set-Cookie"] }, created)).toThrow("Set-Cookie");
    expect(() => own.handler({ onCrash: "park", maxWait: "31s" }, created)).toThrow("maxWait");
    expect(() => own.handler({ onCrash: "park", window: "91d" }, created)).toThrow("window");
  });
});

/** The asking of a claimant of this key that died. */
async function askOf(api: ReturnType<typeof keyedApi>, key: string) {
  const request = new Request("http://shop.test/charges", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key, "x-account": "alice" },
    body: '{"total":10}',
  });
  const read = await api.idempotency.read(request, { onCrash: "rerun" });
  if (read.kind !== "keyed") throw new Error(`expected a key, got ${read.kind}`);
  const { id, fingerprints, about } = read.keyed;
  const onCrash = "rerun" as const;
  return { id, owner: "dead", fingerprints, about, leaseMs: 10, windowMs: 60_000, onCrash, work: null };
}
