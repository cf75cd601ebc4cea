import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { HttpRequest, HttpResponse } from "../platform/platform.ts";
import { Idem } from "./client.ts";
import type { IdemOptions } from "./client-options.ts";

type Answer = (request: HttpRequest, tries: number) => Partial<HttpResponse>;

function remote(answer: Answer = () => ({}), options: Partial<IdemOptions<any>> = {}) {
  const asked: HttpRequest[] = [];
  const platform = new ManualPlatform({
    fetch: async (request) => {
      asked.push(request);
      const { status = 200, headers = {}, body = '{"ids":["01A"],"status":200}' } = answer(request, asked.length);
      return { status, headers, body };
    },
  });
  const idem = new Idem({ id: "shop", server: "http://idem.test:8288/", ...options, platform });
  /** Lets the pauses between tries pass. */
  const inTime = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    const settled = promise.finally(() => {
      isOver = true;
    });
    settled.catch(() => {});
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      const left = platform.untilNext();
      if (left !== null) await platform.advance(left, async () => {});
    }
    return settled;
  };
  return { idem, asked, inTime, bodies: () => asked.map(({ body }) => JSON.parse(body!)) };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

test("send posts the events and returns their ids and what was decided", async () => {
  const decision = { function: "shop-fn", kind: "started", runId: "01RUN", key: null, differs: [] };
  const { idem, asked, bodies } = remote(() => ({
    body: JSON.stringify({ ids: ["01A", "01B"], decisions: [decision], status: 200 }),
  }));
  idem.createFunction({ id: "fn" }, { event: "a/b" }, () => 1);
  const sent = await idem.send([
    { name: "a/b", data: { n: 1 } },
    { id: "mine", name: "c/d", ts: 1_700_000_000_000, v: "2" },
  ]);
  expect(sent).toEqual({ ids: ["01A", "01B"], decisions: [{ ...decision, function: "fn" }] });
  expect(asked[0]).toMatchObject({ method: "POST", url: "http://idem.test:8288/e/dev" });
  expect(asked[0]!.headers).toMatchObject({ "content-type": "application/json", "x-idem-decisions": "1" });
  expect(asked[0]!.headers["x-inngest-event-id-seed"]).toMatch(/^\d{13},[A-Za-z0-9+/]{14}==$/);
  // Without a time of its own an event has the server's: an app whose clock is ahead must not delay its runs.
  expect(bodies()[0]).toEqual([
    { name: "a/b", data: { n: 1 } },
    { id: "mine", name: "c/d", ts: 1_700_000_000_000, data: {}, v: "2" },
  ]);
});

test("every try of a send carries the same seed, so that none of them is a second event", async () => {
  const { idem, asked, inTime } = remote((_, tries) => {
    if (tries === 1) throw new Error("ECONNRESET");
    return tries === 2 ? { status: 503, headers: { "retry-after": "1" }, body: "" } : {};
  });
  expect((await inTime(idem.send({ name: "a/b" }))).ids).toEqual(["01A"]);
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map(({ headers }) => headers["x-inngest-event-id-seed"])).size).toBe(1);
  expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
});

test("a server that cannot be reached is said to be so, after five tries, with its address and without keys", async () => {
  const { idem, asked, inTime } = remote(
    () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
    },
    { eventKey: "secret-event-key", signingKey: "0123456789abcdef" },
  );
  const error = await inTime(idem.send({ name: "a/b" })).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "SERVER_UNREACHABLE", retry: "later" });
  expect(error.message).toContain("http://idem.test:8288");
  expect(error.message).toContain("ECONNREFUSED");
  expect(error.message).not.toContain("secret");
  expect(asked).toHaveLength(5);
});

test("what the server refuses is not tried again, and its reason is told", async () => {
  const { idem, asked } = remote(() => ({
    status: 401,
    body: '{"error":"its event key is not known here","status":401}',
  }));
  const error = await idem.send({ name: "a/b" }).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: "SERVER_REFUSED",
    facts: { status: 401, why: "its event key is not known here" },
  });
  expect(asked).toHaveLength(1);
  const page = remote(() => ({ body: "<html>" }));
  await expect(page.idem.send({ name: "a/b" })).rejects.toMatchObject({ code: "SERVER_REFUSED" });
});

test("events are checked before anything is posted, as they are where the store is", async () => {
  const { idem, asked } = remote(() => ({}), { events: { "order/paid": z.object({ total: z.number() }) } });
  await expect(idem.send([{ name: "ok/ok" }, { name: "" }])).rejects.toMatchObject({ code: "EVENT_INVALID" });
  await expect(idem.send({ name: "order/paid", data: { total: "10" } })).rejects.toMatchObject({
    code: "EVENT_SCHEMA",
  });
  await expect(idem.send({ name: "a/b", data: { n: Number.NaN } })).rejects.toMatchObject({
    code: "VALUE_UNSERIALIZABLE",
  });
  expect(await idem.send([])).toEqual({ ids: [], decisions: [], unmatched: true });
  expect(asked).toEqual([]);
});

test("keys, environment and window go with what is sent", async () => {
  const { idem, asked } = remote(() => ({ body: '{"ids":["01A"],"data":{"run_id":"01RUN"}}' }), {
    eventKey: "key/1",
    signingKey: "signkey-prod-0123456789abcdef0123456789abcdef",
    env: "staging",
  });
  await idem.send({ name: "a/b" }, { window: "2h" });
  expect(asked[0]!.url).toBe("http://idem.test:8288/e/key%2F1");
  expect(asked[0]!.headers).toMatchObject({ "x-idem-window": "7200000ms", "x-inngest-env": "staging" });
  expect(await idem.sendSignal({ signal: "go", data: { n: 1 } })).toEqual({ runId: "01RUN" });
  expect(asked[1]).toMatchObject({ url: "http://idem.test:8288/v1/signals", body: '{"signal":"go","data":{"n":1}}' });
  // The vector of docs/reference/wire.md#keys.
  expect(asked[1]!.headers.authorization).toBe(
    "Bearer signkey-prod-223e0a160af9da0a03e6dd2c4719c56f5d66a633cbe84e78aaa9f3735865522a",
  );
});

test("a signal nobody waits for is an answer, not an error", async () => {
  const { idem } = remote(() => ({ status: 404, body: '{"error":"nobody waits","status":404}' }));
  expect(await idem.sendSignal({ signal: "go" })).toEqual({ runId: null });
});

test("while keys are changed, the other one is tried when the first is not known", async () => {
  const { idem, asked } = remote((_, tries) => (tries === 1 ? { status: 401, body: "{}" } : { body: '{"data":{}}' }), {
    signingKey: "aa",
    signingKeyFallback: "bb",
  });
  await idem.sendSignal({ signal: "go" });
  expect(new Set(asked.map(({ headers }) => headers.authorization)).size).toBe(2);
});

test("a rerun is asked for once: a second asking would be a second run", async () => {
  const { idem, asked } = remote(() => ({ status: 503, body: "" }));
  await expect(idem.runs.rerun("01RUN")).rejects.toMatchObject({ code: "SERVER_REFUSED" });
  expect(asked).toHaveLength(1);
});

test("a client with a server is not started: it says what to do instead", async () => {
  const { idem } = remote();
  const error = await idem.start().catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "CLIENT_SERVED" });
  expect(error.message).toContain("serve()");
  await idem.idle();
  await idem.stop();
});

test("server, event key and signing key can come from the environment; what is given to the client comes first", async () => {
  vi.stubEnv("IDEM_SERVER", "http://from.env:1");
  vi.stubEnv("IDEM_EVENT_KEY", "env-key");
  const { idem, asked } = remote(() => ({}), { server: undefined as never });
  await idem.send({ name: "a/b" });
  expect(asked[0]!.url).toBe("http://from.env:1/e/env-key");
  const told = remote(() => ({}), { eventKey: "told" });
  await told.idem.send({ name: "a/b" });
  expect(told.asked[0]!.url).toBe("http://idem.test:8288/e/told");
  // A store that is given is meant.
  const embedded = new Idem({ id: "shop", store: "memory:", platform: new ManualPlatform() });
  expect((await embedded.send({ name: "a/b" })).unmatched).toBe(true);
  await embedded.stop();
});

test("what cannot be right is refused when the client is made", () => {
  const made = (options: Partial<IdemOptions>) => () => new Idem({ id: "shop", ...options });
  expect(made({ server: "http://a", store: "memory:" })).toThrow(/store/);
  expect(made({ server: "not a url" })).toThrow(/server/);
  expect(made({ server: "ftp://a" })).toThrow(/server/);
  expect(made({ server: "http://a", signingKey: "not hex" })).toThrow(/signing key/);
});
