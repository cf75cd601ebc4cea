// The work of a process beside answering: it reaps, it drains, it may remember replays for a while.
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { memoryKeys } from "../keys/memory-keys.ts";
import { gate, keyedApi, settle, told } from "./keyed-api.suite.ts";

describe("draining", () => {
  test("takes nothing new, and waits for what is at work", async () => {
    const work = gate<Response>();
    const api = keyedApi(() => work.opened);
    const first = api.ask();
    await settle();
    const drained = api.idempotency.drain();
    const refused = await api.ask({ key: "k-2" });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await told(refused)).toEqual({ status: 503, kind: "draining", retryable: true });
    work.open(new Response("done"));
    await drained;
    expect(await (await first).text()).toBe("done");
    expect(api.count()).toBe(1);
  });

  test("gives back a key that was claimed while it began", async () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    const late = gate();
    const slow = keyedApi(() => new Response("done"), {
      platform,
      keys: { ...keys, claim: (ask) => late.opened.then(() => keys.claim(ask)) },
    });
    const asked = slow.ask();
    await settle();
    await slow.idempotency.drain();
    late.open();
    expect((await asked).status).toBe(503);
    const other = keyedApi(() => new Response("done"), { platform, keys });
    expect((await other.ask()).status).toBe(200);
    expect([slow.count(), other.count()]).toEqual([0, 1]);
  });

  test("leaves resumable work to another process in the end, and its caller is told to come back", async () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    const route = { onCrash: "resume" } as const;
    const stuck = keyedApi(
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      {
        platform,
        keys,
        route,
        drainWithin: "5s",
      },
    );
    const first = stuck.ask();
    await settle();
    const drained = stuck.idempotency.drain();
    await stuck.advance(5_000);
    await drained;
    expect(await told(await first)).toMatchObject({ status: 503, kind: "draining" });
    const other = keyedApi((_, { attempt }) => Response.json({ attempt }), { platform, keys, route });
    expect(await (await other.ask()).json()).toEqual({ attempt: 2 });
  });
});

describe("reaping", () => {
  test("deletes records whose window has ended, in batches, by hand or by the clock", async () => {
    const api = keyedApi(() => new Response("done"), { route: { window: "1m" } });
    await api.ask({ key: "a" });
    await api.ask({ key: "b" });
    expect(await api.idempotency.reap()).toBe(0);
    await api.advance(60_000);
    expect(await api.idempotency.reap()).toBe(2);
    await api.ask({ key: "c" });
    api.idempotency.startReaper({ every: "1m" });
    await api.advance(180_000);
    expect(api.events.filter(({ kind }) => kind === "reaped")).toHaveLength(2);
    api.idempotency.stop();
  });
});

describe("the local replay cache", () => {
  const counted = () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    let claims = 0;
    const claim: typeof keys.claim = (ask) => {
      claims++;
      return keys.claim(ask);
    };
    const api = keyedApi(() => new Response("done"), {
      platform,
      keys: { ...keys, claim },
      replayCache: { entries: 1 },
    });
    return { api, claims: () => claims };
  };

  test("answers what is completed without the store, for a minute at most", async () => {
    const { api, claims } = counted();
    await api.ask();
    await api.ask();
    expect(claims()).toBe(2);
    expect(await (await api.ask()).text()).toBe("done");
    expect(claims()).toBe(2);
    await api.advance(60_000);
    await api.ask();
    expect(claims()).toBe(3);
  });

  test("decides nothing about another request, and holds no more than it may", async () => {
    const { api, claims } = counted();
    await api.ask();
    await api.ask();
    expect((await api.ask({ body: "{}" })).status).toBe(422);
    expect(claims()).toBe(3);
    await api.ask({ key: "k-2" });
    await api.ask({ key: "k-2" });
    await api.ask();
    expect(claims()).toBe(6);
  });

  // pitfall 12
  test("compares fingerprints in constant time", async () => {
    const crypto = createRequire(import.meta.url)("node:crypto") as typeof import("node:crypto");
    const { syncBuiltinESMExports } = await import("node:module");
    const real = crypto.timingSafeEqual;
    const lengths: number[] = [];
    crypto.timingSafeEqual = (a, b) => {
      lengths.push(a.byteLength, b.byteLength);
      return real(a, b);
    };
    syncBuiltinESMExports();
    try {
      const { api } = counted();
      await api.ask();
      await api.ask();
      lengths.length = 0;
      await api.ask();
    } finally {
      crypto.timingSafeEqual = real;
      syncBuiltinESMExports();
    }
    expect(lengths).toEqual([64, 64]);
  });
});
