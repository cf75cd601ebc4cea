// A key when something goes wrong: in the handler, in the store, in the process.
import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { KeyStore } from "../keys/key-store.ts";
import { memoryKeys } from "../keys/memory-keys.ts";
import type { KeyContext } from "./begin.ts";
import { gate, keyedApi, settle, told } from "./keyed-api.suite.ts";

describe("a handler that fails", () => {
  // pitfall 5
  test("after an effect is not entered again: the retry gets the same 500", async () => {
    let charges = 0;
    const api = keyedApi(() => {
      charges++;
      throw new Error("the receipt could not be sent");
    });
    const first = await api.ask();
    const again = await api.ask();
    expect([first.status, again.status]).toEqual([500, 500]);
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(charges).toBe(1);
    expect(api.logged.join()).toContain("receipt");
  });

  // pitfall 5
  test("after an effect can go on by the route's choice, and hands the same key to its destination", async () => {
    const charged = new Set<string>();
    const api = keyedApi(
      (_, { attempt, destinationKey }) => {
        charged.add(destinationKey("stripe"));
        return attempt === 1 ? new Response("no receipt", { status: 500 }) : new Response("paid", { status: 201 });
      },
      { route: { onCrash: "resume", store: ({ status }) => (status >= 500 ? "resume" : undefined) } },
    );
    expect((await api.ask()).headers.get("idempotency-status")).toBe("resumable");
    expect((await api.ask()).status).toBe(201);
    expect(charged.size).toBe(1);
    expect([...charged][0]).toMatch(/^idem_[\w-]{40}$/);
  });

  test("before any effect releases its key, and the retry executes", async () => {
    const api = keyedApi(async (_, { beforeEffects }, count) => {
      await beforeEffects(() => {
        if (count === 1) throw new Error("the rate could not be read");
      });
      return new Response("paid");
    });
    const first = await api.ask();
    expect([first.status, first.headers.get("idempotency-status")]).toEqual([500, "released"]);
    expect(await (await api.ask()).text()).toBe("paid");
  });

  test.each([
    [
      "asked for a destination's key before",
      async ({ destinationKey, beforeEffects }: KeyContext) => {
        destinationKey("stripe");
        await beforeEffects(() => Promise.reject(new Error("late")));
      },
    ],
    [
      "went on after the part that failed",
      async ({ beforeEffects }: KeyContext) => {
        await beforeEffects(() => Promise.reject(new Error("early"))).catch(() => {});
        throw new Error("the charge was refused");
      },
    ],
  ])("is taken to have had effects when it %s", async (_, fails) => {
    const api = keyedApi(async (__, context) => {
      await fails(context);
      return new Response("paid");
    });
    await api.ask();
    expect((await api.ask()).headers.get("idempotent-replayed")).toBe("true");
    expect(api.count()).toBe(1);
  });

  test("with an answer that may be another one later releases its key", async () => {
    const api = keyedApi((_, __, count) => new Response(null, { status: count === 1 ? 429 : 201 }));
    expect((await api.ask()).headers.get("idempotency-status")).toBe("released");
    expect((await api.ask()).status).toBe(201);
  });

  test("with a refusal is told again, until a new key is used", async () => {
    const api = keyedApi((_, __, count) => new Response(null, { status: count === 1 ? 402 : 201 }));
    await api.ask();
    expect((await api.ask()).status).toBe(402);
    expect((await api.ask({ key: "k-2" })).status).toBe(201);
  });

  test("cannot release a key after effects, whatever its route says", async () => {
    const api = keyedApi(() => new Response(null, { status: 503 }), { route: { store: () => "release" } });
    await api.ask();
    expect((await api.ask()).headers.get("idempotent-replayed")).toBe("true");
    expect(api.logged.join()).toContain("beforeEffects");
  });

  test("may throw its answer, which is kept or not as if it was returned", async () => {
    const refused = keyedApi(() => Promise.reject(new Response("no", { status: 404 })));
    expect([(await refused.ask()).status, (await refused.ask()).status]).toEqual([404, 404]);
    expect(refused.count()).toBe(1);
    const limited = keyedApi(() => Promise.reject(new Response(null, { status: 429 })));
    await limited.ask();
    await limited.ask();
    expect(limited.count()).toBe(2);
    const early = keyedApi((_, { beforeEffects }) =>
      beforeEffects(() => Promise.reject(new Response(null, { status: 404 }))),
    );
    expect((await early.ask()).headers.get("idempotency-status")).toBe("released");
  });
});

describe("a claimant that died", () => {
  async function died(onCrash: "park" | "rerun" | "resume") {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    // A process that is gone: it neither beats nor finishes.
    const dead = keyedApi(() => new Promise<Response>(() => {}), {
      keys: { ...keys, heartbeat: () => new Promise(() => {}) },
      platform,
      route: { onCrash, lease: "3s" },
    });
    void dead.ask();
    await settle();
    await dead.advance(3_000);
    return keyedApi((_, { attempt, fence }) => Response.json({ attempt, fence }), {
      keys,
      platform,
      route: { onCrash },
    });
  }

  test("leaves its key to the next asker where the route reruns or resumes, and that one knows it is not the first", async () => {
    for (const onCrash of ["rerun", "resume"] as const) {
      const api = await died(onCrash);
      expect(await (await api.ask()).json()).toEqual({ attempt: 2, fence: 2 });
    }
  });

  test("leaves its key to a person where the route parks, and nobody executes until they decided", async () => {
    const api = await died("park");
    const unknown = { status: 409, kind: "outcome-unknown", retryable: false };
    const answer = await api.ask();
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(await told(answer)).toEqual(unknown);
    expect(await told(await api.ask())).toEqual(unknown);
    const [record] = await api.idempotency.parked();
    expect(record!.about).toMatchObject({ principal: "alice", method: "POST", path: "/charges" });
    expect(api.count()).toBe(0);

    const response = Response.json({ id: "ch_1" }, { status: 201, headers: { "set-cookie": "a=1" } });
    expect(await api.idempotency.resolve(record!.id, { response })).toBe("resolved");
    const told_ = await api.ask();
    expect([told_.status, await told_.json(), told_.headers.get("set-cookie")]).toEqual([201, { id: "ch_1" }, null]);
    expect(await api.idempotency.resolve(record!.id, "retry")).toBe("not-parked");
    expect(api.count()).toBe(0);
  });

  test.each(["retry", "forget"] as const)("is executed again once a person said %s", async (resolution) => {
    const api = await died("park");
    await api.ask();
    const [record] = await api.idempotency.parked();
    await api.idempotency.resolve(record!.id, resolution);
    expect((await api.ask()).status).toBe(200);
    expect(api.count()).toBe(1);
  });
});

describe("a store that is away", () => {
  const failing = (keys: KeyStore, calls: Partial<KeyStore>): KeyStore => ({ ...keys, ...calls });
  const down = () => Promise.reject(new Error("connection refused"));

  // pitfall 19
  test.each([
    ["fails", down],
    ["never answers", () => new Promise<never>(() => {})],
  ])("and %s before the claim: 503, and the handler never runs", async (_, claim) => {
    const platform = new ManualPlatform();
    const api = keyedApi(() => new Response("paid"), { platform, keys: failing(memoryKeys({ platform }), { claim }) });
    const asked = api.ask();
    await api.advance(2_000);
    const answer = await asked;
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await told(answer)).toEqual({ status: 503, kind: "store-unavailable", retryable: true });
    expect(api.count()).toBe(0);
  });

  test("a claim that was made and whose answer was lost is the asker's own", async () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    let isLost = true;
    const api = keyedApi(() => new Response("paid"), {
      platform,
      keys: failing(keys, {
        claim: async (ask) => {
          const answer = await keys.claim(ask);
          if (!isLost) return answer;
          isLost = false;
          throw new Error("connection reset");
        },
      }),
    });
    const asked = api.ask();
    await api.advance(100);
    expect((await asked).headers.get("idempotency-status")).toBe("executed");
  });

  test("a claim that is made after its asker gave up is given back", async () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    const late = gate();
    const api = keyedApi(() => new Response("paid"), {
      platform,
      keys: failing(keys, { claim: (ask) => late.opened.then(() => keys.claim(ask)) }),
    });
    const asked = api.ask();
    await api.advance(2_000);
    expect((await asked).status).toBe(503);
    late.open();
    await settle();
    expect((await api.ask()).headers.get("idempotency-status")).toBe("executed");
  });

  // pitfall 19
  test("when the outcome is to be saved: the caller gets it as unstored, and a retry goes by onCrash", async () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    const away = failing(keys, { complete: down, heartbeat: down });
    const api = keyedApi(() => new Response("paid"), { platform, keys: away, route: { lease: "12s" } });
    const asked = api.ask();
    await api.advance(12_000);
    const answer = await asked;
    expect([answer.status, answer.headers.get("idempotency-status"), await answer.text()]).toEqual([
      200,
      "unstored",
      "paid",
    ]);
    expect(api.events.map(({ kind }) => kind)).toContain("unstored");
    expect(await told(await api.ask())).toMatchObject({ kind: "outcome-unknown" });
    expect(api.count()).toBe(1);
  });

  test("for a moment, when the outcome is to be saved: it is saved after all", async () => {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    let failures = 3;
    const complete: KeyStore["complete"] = (...args) => (failures-- > 0 ? down() : keys.complete(...args));
    const api = keyedApi(() => new Response("paid"), { platform, keys: failing(keys, { complete }) });
    const asked = api.ask();
    await api.advance(1_000);
    expect((await asked).headers.get("idempotency-status")).toBe("executed");
    expect((await api.ask()).headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("logs and events", () => {
  test("never carry the key or the body", async () => {
    const api = keyedApi(() => {
      throw new Error("failed");
    });
    await api.ask({ key: "secret-key", body: '{"card":"4242"}' });
    await api.ask({ key: "secret-key", body: "{}" });
    const all = JSON.stringify([api.logged, api.events]);
    expect(all).not.toContain("secret-key");
    expect(all).not.toContain("4242");
    expect(api.events.map(({ kind, route, hint }) => [kind, route, hint.length])).toEqual([
      ["executed", "POST /charges", 8],
      ["mismatch", "POST /charges", 8],
    ]);
  });

  test("a listener that throws changes nothing", async () => {
    const api = keyedApi(() => new Response("paid"), {
      on: () => {
        throw new Error("metrics are down");
      },
    });
    expect((await api.ask()).status).toBe(200);
  });
});
