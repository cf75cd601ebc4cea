import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { EventQuotas, eventQuotaDefault, readEventQuota } from "./event-quota.ts";
import { testKeys, testServer } from "./test-server.suite.ts";

const other = "b07d31f96ce4825a";
const keys = [testKeys.event, other];
const small = { requests: 3, events: 10, bytes: 1_000, windowMs: 10_000 };

function quotas(quota = small) {
  const platform = new ManualPlatform();
  return { platform, all: new EventQuotas(quota, keys, platform) };
}

const refusalOf = (take: () => void): IdemError => {
  try {
    take();
  } catch (error) {
    if (error instanceof IdemError) return error;
  }
  throw new Error("it was taken");
};

describe("a key", () => {
  test("may send so many requests in a window, and again in the next", () => {
    const { platform, all } = quotas();
    const key = all.of(testKeys.event)!;
    for (let i = 0; i < 3; i++) key.takeRequest(0);
    platform.clock.advance(4_500);
    expect(refusalOf(() => key.takeRequest(0))).toMatchObject({
      code: "EVENT_QUOTA_REACHED",
      facts: { kind: "requests", max: 3, window: 10, seconds: 6 },
    });
    platform.clock.advance(5_499);
    expect(refusalOf(() => key.takeRequest(0)).facts.seconds).toBe(1);
    platform.clock.advance(1);
    key.takeRequest(0);
    expect(all.uses()[0]).toMatchObject({ used: { requests: 1 }, refused: { requests: 2, events: 0, bytes: 0 } });
  });

  test("may send so many events and bytes, announced or read", () => {
    const { all } = quotas();
    const key = all.of(testKeys.event)!;
    key.takeRequest(900);
    key.takeBytes(900);
    expect(refusalOf(() => key.takeRequest(101)).facts.kind).toBe("bytes");
    // Not announced, or compressed: what was read counts, and who goes on is refused by the headers.
    expect(refusalOf(() => key.takeBytes(101)).facts.kind).toBe("bytes");
    expect(refusalOf(() => key.takeRequest(1)).facts.kind).toBe("bytes");
    key.takeEvents(9);
    expect(refusalOf(() => key.takeEvents(2)).facts.kind).toBe("events");
    key.takeEvents(1);
    expect(refusalOf(() => key.takeRequest(0)).facts.kind).toBe("events");
  });

  test("takes nothing from another's", () => {
    const { all } = quotas();
    for (let i = 0; i < 3; i++) all.of(testKeys.event)!.takeRequest(0);
    refusalOf(() => all.of(testKeys.event)!.takeRequest(0));
    all.of(other)!.takeRequest(0);
    expect(all.of("nobody's")).toBeUndefined();
  });

  test("is told at once that what is larger than a whole window never fits", () => {
    const key = quotas().all.of(testKeys.event)!;
    expect(refusalOf(() => key.takeRequest(1_001)).code).toBe("BODY_TOO_LARGE");
    expect(refusalOf(() => key.takeBytes(1_001)).code).toBe("BODY_TOO_LARGE");
    expect(refusalOf(() => key.takeEvents(11)).code).toBe("EVENT_BATCH_TOO_LARGE");
  });
});

test("a quota is written as its parts, what is left out is as usual", () => {
  expect(readEventQuota("requests=5, bytes=2KiB,window=1m", "x")).toEqual({
    ...eventQuotaDefault,
    requests: 5,
    bytes: 2_048,
    windowMs: 60_000,
  });
  expect(readEventQuota("off", "x")).toBeNull();
  for (const bad of [
    "",
    "requests=",
    "requests=0",
    "requests=1.5",
    "bytes=1TB",
    "window=soon",
    "runs=7",
    "events=-1",
  ]) {
    expect(() => readEventQuota(bad, "--event-quota"), bad).toThrow(/--event-quota/);
  }
});

describe("over HTTP, with a key that may be in a browser", () => {
  const settings = { mode: "start" as const, eventKeys: keys, signingKeys: [testKeys.signing] };
  const bearer = { authorization: `Bearer ${testKeys.signing}` };
  const events = (count: number) => JSON.stringify(Array.from({ length: count }, () => ({ name: "a/b" })));
  const storedBy = async (server: Awaited<ReturnType<typeof testServer>>) =>
    (await (await server.world.engine("default")).store.reads.events("default", { limit: 100 })).length;

  test("78 bytes do not become 11 MB of store, whatever they are compressed with and whatever they say they are", async () => {
    const server = await testServer(settings);
    const event = { name: "a/b", data: { text: "x".repeat(200_000) } };
    const long = JSON.stringify(Array.from({ length: 45 }, () => event));
    const form = "a&".repeat(4_000_000);
    for (const [encoding, encode] of [
      ["br", brotliCompressSync],
      ["gzip", gzipSync],
      ["deflate", deflateSync],
    ] as const) {
      for (const [type, text] of [
        ["application/json", long],
        ["application/x-www-form-urlencoded", form],
      ] as const) {
        const answer = await server.ask(`/e/${testKeys.event}?name=a/b`, {
          method: "POST",
          body: encode(text),
          headers: { "content-type": type, "content-encoding": encoding },
        });
        expect([answer.status, answer.json.code]).toEqual([413, "BODY_TOO_LARGE"]);
      }
    }
    const zstd = { "content-type": "application/json", "content-encoding": "zstd" };
    expect((await server.ask(`/e/${testKeys.event}`, { method: "POST", body: "x", headers: zstd })).status).toBe(415);
    expect(await storedBy(server)).toBe(0);
  });

  test("who sends too much is told 429 and when to come again, nothing of it is stored, and other keys go on", async () => {
    const server = await testServer({ ...settings, eventQuota: { ...small, windowMs: 3_600_000 } });
    const send = (key: string, body: string, headers: Record<string, string> = {}) =>
      server.ask(`/e/${key}`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    expect((await send(testKeys.event, events(9))).status).toBe(200);
    const refused = await send(testKeys.event, events(2));
    expect([refused.status, refused.json]).toMatchObject([429, { code: "EVENT_QUOTA_REACHED", status: 429, ids: [] }]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_500);
    // A page reads it as well.
    expect((await send(testKeys.event, events(1), { origin: "https://shop.test" })).status).toBe(200);
    expect((await send(testKeys.event, events(1))).status).toBe(429);
    expect((await send(other, events(3))).status).toBe(200);
    expect(await storedBy(server)).toBe(13);

    const { json } = await server.ask("/api/status", { headers: bearer });
    expect(json.eventQuota).toMatchObject({
      requests: 3,
      events: 10,
      bytes: 1_000,
      windowMs: 3_600_000,
      keys: [
        { place: 1, used: { requests: 3, events: 10 }, refused: { requests: 1, events: 1, bytes: 0 } },
        { place: 2, used: { requests: 1, events: 3 }, refused: { requests: 0, events: 0, bytes: 0 } },
      ],
    });
    const { text } = await server.ask("/metrics", { headers: bearer });
    expect(text).toContain('idem_event_quota_used_ratio{env="default",key="1",kind="events"} 1');
    expect(text).toContain('idem_event_quota_refused{env="default",key="1",kind="requests"} 1');
    for (const shown of [text, JSON.stringify(json)]) for (const key of keys) expect(shown).not.toContain(key);
  });

  test("there is a bound unless somebody says off", async () => {
    const usual = await testServer(settings);
    expect((await usual.ask("/api/status", { headers: bearer })).json.eventQuota).toMatchObject(eventQuotaDefault);
    const off = await testServer({ ...settings, eventQuota: null });
    expect((await off.ask("/api/status", { headers: bearer })).json.eventQuota).toBeNull();
  });
});
