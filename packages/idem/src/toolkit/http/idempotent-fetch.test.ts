import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { createKey, type IdempotentInit, idempotentFetch } from "./idempotent-fetch.ts";

type Reply = Response | Error | "silence";

/** A server that answers with these in turn, and a client whose time moves by itself. */
function world(...replies: Reply[]) {
  const platform = new ManualPlatform();
  const asked: {
    readonly key: string | null;
    readonly body: string;
    readonly type: string | null;
    readonly at: number;
  }[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const at = platform.monoMs();
    asked.push({
      key: request.headers.get("idempotency-key"),
      body: await request.text(),
      type: request.headers.get("content-type"),
      at,
    });
    const reply = replies[Math.min(asked.length, replies.length) - 1]!;
    if (reply === "silence") return new Promise(() => {});
    if (reply instanceof Error) throw reply;
    return reply.clone() as Response;
  };
  const ask = async (init: IdempotentInit = {}, url = "https://api.test/orders?token=secret"): Promise<Response> => {
    const asking = idempotentFetch(url, { method: "POST", body: "{}", fetch, platform, ...init });
    let isOver = false;
    asking.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    const turns = async () => {
      for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => platform.soon(resolve));
    };
    await turns();
    while (!isOver) await platform.advance(platform.untilNext() ?? 1, turns);
    return asking;
  };
  return { platform, asked, ask, delays: () => asked.slice(1).map(({ at }, i) => at - asked[i]!.at) };
}

const problem = (status: number, fields: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(fields), { status, headers: { "content-type": "application/problem+json", ...headers } });
const ok = () => Response.json({ id: 7 }, { status: 201 });

test("every attempt of a call carries one key and the same bytes", async () => {
  const { ask, asked } = world(new Error("reset"), problem(503, {}), ok());
  const form = new FormData();
  form.set("item", "tea");
  expect((await ask({ body: form })).status).toBe(201);
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map(({ key, body, type }) => JSON.stringify([key, body, type]))).size).toBe(1);
  expect(asked[0]!.key).toMatch(/^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/);
});

test("the key that was stored with the intent is the one that is sent, and two calls without one have two", async () => {
  const { ask, asked } = world(ok());
  await ask({ key: "order-7" });
  await ask();
  await ask();
  expect(asked[0]!.key).toBe('"order-7"');
  expect(new Set(asked.map(({ key }) => key)).size).toBe(3);
  expect(createKey()).not.toBe(createKey());
});

test("the key is an option of the call, never a header that a shared client could keep", async () => {
  const { ask, asked } = world(ok());
  await expect(ask({ headers: { "Idempotency-Key": "k" } })).rejects.toThrow("TOOLKIT_OPTION_INVALID");
  await expect(ask({ key: "two words" })).rejects.toThrow("TOOLKIT_OPTION_INVALID");
  expect(asked).toEqual([]);
});

test.each([408, 425, 429, 500, 502, 503, 504])("%d is asked again", async (status) => {
  const { ask, asked } = world(new Response(null, { status }), ok());
  expect((await ask()).status).toBe(201);
  expect(asked).toHaveLength(2);
});

test.each([400, 401, 404, 409, 410, 422])("%d ends it, and its body is the caller's to read", async (status) => {
  const { ask, asked } = world(problem(status, { title: "no" }));
  const response = await ask();
  expect([response.status, await response.json(), asked.length]).toEqual([status, { title: "no" }, 1]);
});

test("a conflict is asked again when it is one of the key's in flight, and not when its outcome is unknown", async () => {
  const inFlight = world(problem(409, { type: "urn:idem:problem:in-flight", retryable: true }), ok());
  expect((await inFlight.ask()).status).toBe(201);
  const plain = world(new Response(null, { status: 409, headers: { "retry-after": "1" } }), ok());
  expect((await plain.ask()).status).toBe(201);
  const unknown = world(problem(409, { type: "urn:idem:problem:outcome-unknown", retryable: false }), ok());
  expect((await unknown.ask()).status).toBe(409);
});

test("what the body says about retrying wins over the status", async () => {
  expect((await world(problem(500, { retryable: false }), ok()).ask()).status).toBe(500);
  expect((await world(problem(400, { retryable: true }), ok()).ask()).status).toBe(201);
});

test("it waits as long as the server says, and a random time that grows otherwise", async () => {
  const told = world(problem(429, {}, { "retry-after": "7" }), problem(503, { retry_after_ms: 4_000 }), ok());
  await told.ask();
  expect(told.delays()[0]).toBeGreaterThanOrEqual(7_000);
  expect(told.delays()[1]).toBeGreaterThanOrEqual(4_000);
  const date = world(problem(503, {}, { "retry-after": new Date(Date.UTC(2026, 0, 1, 0, 0, 9)).toUTCString() }), ok());
  await date.ask();
  expect(date.delays()[0]).toBeGreaterThanOrEqual(9_000);
  const jitter = world(new Error("reset"));
  await expect(jitter.ask({ attempts: 5 })).rejects.toThrow("REQUEST_UNANSWERED");
  for (const [i, ms] of jitter.delays().entries()) expect(ms).toBeLessThanOrEqual(500 * 2 ** i + 1);
});

test("an attempt without an answer is given up after its time, and the next one asked", async () => {
  const { ask, delays } = world("silence", ok());
  expect((await ask({ timeout: "2s" })).status).toBe(201);
  expect(delays()[0]).toBeGreaterThanOrEqual(2_000);
});

test("no attempt begins near the end of the server's memory, as the caller or the server says", async () => {
  const given = world(problem(503, {}, { "retry-after": "50" }), ok());
  expect((await given.ask({ window: "60s" })).status).toBe(201);
  const short = world(problem(503, {}, { "retry-after": "55" }), ok());
  expect((await short.ask({ window: "60s" })).status).toBe(503);
  const expires = new Date(Date.UTC(2026, 0, 1, 0, 1)).toUTCString();
  const published = world(problem(503, {}, { "retry-after": "55", "idempotency-expires": expires }), ok());
  expect((await published.ask()).status).toBe(503);
});

test("a call does not hang for as long as a server would like it to", async () => {
  const { ask, asked } = world(problem(503, {}, { "retry-after": "3600" }), ok());
  expect((await ask()).status).toBe(503);
  expect(asked).toHaveLength(1);
});

test("who got no answer at all is told that the outcome is unknown, without what is secret in the address", async () => {
  const { ask } = world(new Error("reset"));
  const error = await ask({ attempts: 2, key: "order-7" }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "REQUEST_UNANSWERED", cause: { message: "reset" } });
  expect(error.message).not.toMatch(/secret|order-7/);
});

test("a caller who aborts is let go at once, in an attempt and between two", async () => {
  const within = new AbortController();
  const silent = world("silence");
  const asking = silent.ask({ signal: within.signal });
  within.abort(new Error("enough"));
  await expect(asking).rejects.toThrow("enough");
  const between = new AbortController();
  const failing = world(new Error("reset"));
  const waiting = failing.ask({ signal: between.signal, attempts: 100 });
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => failing.platform.soon(resolve));
  between.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});
