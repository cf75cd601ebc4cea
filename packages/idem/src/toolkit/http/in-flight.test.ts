// Duplicates that come while the first one is at work, and the lease that says it still is.
import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { memoryKeys } from "../keys/memory-keys.ts";
import { gate, keyedApi, settle, told } from "./keyed-api.suite.ts";

function working(options: Parameters<typeof keyedApi>[1] = {}) {
  const work = gate<Response>();
  return { work, api: keyedApi(() => work.opened, options) };
}

describe("a duplicate of a request in flight", () => {
  test("is 409 with a time to come back, and the handler runs once", async () => {
    const { api, work } = working();
    const first = api.ask();
    await settle();
    const second = await api.ask();
    expect(second.headers.get("retry-after")).toBe("60");
    expect(await told(second)).toEqual({ status: 409, kind: "in-flight", retryable: true });
    work.open(new Response("done"));
    expect(await (await first).text()).toBe("done");
    expect(await (await api.ask()).text()).toBe("done");
    expect(api.count()).toBe(1);
  });

  test("is told to come back after as long as the route usually takes", async () => {
    const works = [gate<Response>(), gate<Response>()];
    const api = keyedApi((_, __, count) => works[count - 1]!.opened);
    const before = api.ask({ key: "before" });
    await api.advance(4_200);
    works[0]!.open(new Response("done"));
    await before;
    const now = api.ask({ key: "now" });
    await settle();
    expect((await api.ask({ key: "now" })).headers.get("retry-after")).toBe("5");
    works[1]!.open(new Response("done"));
    await now;
  });

  test("waits where the route says so, and gets the first one's answer", async () => {
    const { api, work } = working({ route: { onDuplicate: "wait" } });
    const both = [api.ask(), api.ask()];
    await api.advance(3_000);
    work.open(new Response("done"));
    await api.advance(500);
    const [first, second] = await Promise.all(both);
    expect(second!.headers.get("idempotent-replayed")).toBe("true");
    expect(await second!.text()).toBe(await first!.text());
    expect(api.count()).toBe(1);
  });

  test("waits no longer than its budget", async () => {
    const { api, work } = working({ route: { onDuplicate: "wait", maxWait: "2s" } });
    const first = api.ask();
    await settle();
    const second = api.ask();
    await api.advance(2_000);
    expect((await second).status).toBe(409);
    work.open(new Response("done"));
    await first;
  });

  test("waits when its client asks for it, up to what the route allows", async () => {
    const { api, work } = working({ route: { maxWait: "5s" } });
    const first = api.ask();
    await settle();
    const short = api.ask({ headers: { prefer: "respond-async, wait=2" } });
    const long = api.ask({ headers: { prefer: "wait=3600" } });
    await api.advance(2_000);
    expect((await short).headers.get("preference-applied")).toBe("wait=2");
    expect((await short).status).toBe(409);
    work.open(new Response("done"));
    await api.advance(1_000);
    expect((await long).headers.get("preference-applied")).toBe("wait=5");
    expect(await (await long).text()).toBe("done");
    await first;
  });

  test("does not wait when eight others do, or the route forbids it", async () => {
    const { api, work } = working({ route: { onDuplicate: "wait" } });
    const first = api.ask();
    await settle();
    const waiting = Array.from({ length: 8 }, () => api.ask());
    await settle();
    expect((await api.ask()).status).toBe(409);
    work.open(new Response("done"));
    await api.advance(1_000);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    await first;

    const never = working({ route: { maxWait: 0 } });
    const other = never.api.ask();
    await settle();
    expect((await never.api.ask({ headers: { prefer: "wait=5" } })).status).toBe(409);
    never.work.open(new Response("done"));
    await other;
  });

  test("executes when the first one was released while it waited", async () => {
    const work = gate();
    const api = keyedApi(
      async (_, __, count) => {
        if (count > 1) return new Response("second");
        await work.opened;
        return new Response(null, { status: 429 });
      },
      { route: { onDuplicate: "wait" } },
    );
    const first = api.ask();
    await settle();
    const second = api.ask();
    await api.advance(100);
    work.open();
    await api.advance(1_000);
    expect((await first).status).toBe(429);
    expect(await (await second).text()).toBe("second");
  });
});

describe("a request at work", () => {
  test("keeps its lease for as long as it runs", async () => {
    const { api, work } = working({ route: { lease: "3s", onCrash: "rerun" } });
    const first = api.ask();
    await api.advance(60_000);
    expect((await api.ask()).status).toBe(409);
    work.open(new Response("done"));
    await first;
    expect(api.platform.untilNext()).toBeNull();
    expect(api.count()).toBe(1);
  });

  // pitfall 24
  test("goes on when its client leaves, and a retry gets its outcome", async () => {
    const { api, work } = working();
    const leave = new AbortController();
    const first = api.ask({ signal: leave.signal });
    await settle();
    leave.abort();
    await settle();
    work.open(new Response("done"));
    await first;
    expect(await (await api.ask()).text()).toBe("done");
    expect(api.count()).toBe(1);
  });

  // pitfall 6
  test("is not taken over by a node whose clock is wrong", async () => {
    const middle = new ManualPlatform();
    const keys = memoryKeys({ platform: middle });
    const [early, late] = [new ManualPlatform({ seed: 2 }), new ManualPlatform({ seed: 3 })];
    early.clock.stepWall(-600_000);
    late.clock.stepWall(600_000);
    const route = { lease: "5s", window: "1m", onCrash: "rerun" } as const;
    const { api, work } = working({ keys, platform: early, route });
    const other = keyedApi(() => new Response("other"), { keys, platform: late, route });
    const first = api.ask();
    await settle();
    expect((await other.ask()).status).toBe(409);
    work.open(new Response("done"));
    await first;
    expect(await (await other.ask()).text()).toBe("done");
    middle.clock.advance(60_000);
    expect(await (await other.ask()).text()).toBe("other");
  });
});

describe("a request that lost its lease", () => {
  /** Heartbeats of a frozen process do not arrive. */
  async function overtaken(second: (work: Promise<Response>) => Response | Promise<Response>) {
    const platform = new ManualPlatform();
    const keys = memoryKeys({ platform });
    const frozen = { ...keys, heartbeat: async () => "lost" as const };
    const route = { lease: "3s", onCrash: "rerun" } as const;
    const [firstWork, secondWork] = [gate<Response>(), gate<Response>()];
    const signals: AbortSignal[] = [];
    const slow = keyedApi(
      (_, { signal }) => {
        signals.push(signal);
        return firstWork.opened;
      },
      { keys: frozen, platform, route },
    );
    const fast = keyedApi(
      (_, { attempt }) => {
        expect(attempt).toBe(2);
        return second(secondWork.opened);
      },
      { keys, platform, route },
    );
    const first = slow.ask();
    await settle();
    await slow.advance(3_000);
    const taken = fast.ask();
    await settle();
    return { first, taken, firstWork, secondWork, signals, slow, fast };
  }

  test("is told so, and gets what the winner recorded instead of its own", async () => {
    const { first, taken, firstWork, signals, slow, fast } = await overtaken(() => new Response("winner"));
    expect(signals[0]!.reason).toBe("lease-lost");
    await taken;
    firstWork.open(new Response("loser", { status: 500 }));
    const answer = await first;
    expect(answer.headers.get("idempotent-replayed")).toBe("true");
    expect(await answer.text()).toBe("winner");
    expect(slow.events.map(({ kind }) => kind)).toContain("lease-lost");
    expect(fast.events.map(({ kind }) => kind)).toContain("takeover");
  });

  test("is a conflict while the winner is still at work, and takes nothing away from it", async () => {
    const { first, taken, firstWork, secondWork } = await overtaken((work) => work);
    firstWork.open(new Response(null, { status: 429 }));
    expect(await told(await first)).toEqual({ status: 409, kind: "in-flight", retryable: true });
    secondWork.open(new Response("winner"));
    expect(await (await taken).text()).toBe("winner");
  });
});
