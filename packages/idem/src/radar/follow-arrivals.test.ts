import { expect, test, vi } from "vitest";
import { Turns } from "../model/turns.ts";
import { makeUlid } from "../model/ulid.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { newEvent, startPair } from "../store/contract/world.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { watchedClosely } from "./close-watch.ts";
import { ArrivalFollower, radarLimits } from "./follow-arrivals.ts";
import { makeRule, ruleKind } from "./rules.ts";
import { sendEffect } from "./sent-effect.suite.ts";

const env = "default";

function world() {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  let count = 0;
  const newId = () => makeUlid(platform.wallMs(), Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, count >> 8, count++ & 255]));
  const announced: Record<string, any>[] = [];
  const warned: string[] = [];
  const keys = new Map<string, string>();
  const follower = () =>
    new ArrivalFollower({
      store,
      env,
      now: () => platform.wallMs(),
      newId,
      functionOf: (fn) => ({ name: fn, keyExpression: keys.get(fn) ?? null }),
      announce: async (events) => void announced.push(...events),
      warn: (line) => void warned.push(line),
      turns: new Turns((run) => platform.soon(run)),
    });
  const send = (data: unknown, over: { callerId?: string; name?: string; key?: string; fn?: string } = {}) => {
    const { callerId = null, name = "shop/order", key = null, fn = "bill" } = over;
    const event = newEvent(newId(), { callerId, name, data: JSON.stringify(data) });
    const pair = startPair(newId(), { fn, key });
    return store.ingest({ env, registration: null, events: [event], pairs: [pair], leaseTo: null });
  };
  const pass = (ms: number) => platform.advance(ms, async () => {});
  const alerts = () => store.reads.alerts(env, { limit: 100 });
  return { store, platform, follower, send, pass, alerts, announced, warned, newId, keys };
}

const look = async (w: ReturnType<typeof world>, follower = w.follower()) => {
  await w.pass(3_000);
  return follower.look();
};

test("10,000 events are read in pages of 500, each once, and the few that came twice are found", async () => {
  const w = world();
  for (let call = 0; call < 20; call++) {
    const events = Array.from({ length: 500 }, (_, i) => {
      const n = call * 500 + i;
      // Every hundredth comes twice in a row.
      const data = JSON.stringify({ orderId: n % 100 === 1 ? n - 1 : n });
      return newEvent(w.newId(), { name: "shop/order", data });
    });
    const pairs = events.map((_, i) => startPair(w.newId(), { fn: "bill", event: i }));
    await w.store.ingest({ env, registration: null, events, pairs, leaseTo: null });
  }
  const asked = vi.spyOn(w.store.reads, "arrivals");
  const follower = w.follower();
  await w.pass(3_000);
  let read = 0;
  for (let page = await follower.look(); page > 0; page = await follower.look()) read += page;
  expect(read).toBe(10_000);
  expect(Math.max(...asked.mock.calls.map(([, { limit }]) => limit))).toBe(radarLimits.pageMax);
  expect(await w.alerts()).toMatchObject([{ kind: "doubled-runs", subject: "event.data.orderId", pairCount: 100 }]);
  expect(w.warned).toHaveLength(1);
});

test("a suppressed event with another amount is an alert, by key and by id", async () => {
  const w = world();
  w.keys.set("bill", "event.data.orderId");
  await w.send({ orderId: 1, amount: 4_280 }, { key: "1" });
  await w.send({ orderId: 1, amount: 4_820 }, { key: "1" });
  await w.send({ cartId: 1, total: 5 }, { callerId: "paid-1", name: "shop/paid", fn: "mail" });
  await w.send({ cartId: 1, total: 6 }, { callerId: "paid-1", name: "shop/paid", fn: "mail" });
  await look(w);
  expect(await w.alerts()).toMatchObject([
    { kind: "id-too-broad", subject: "shop/paid", pairCount: 1 },
    { kind: "key-too-broad", fn: "bill", subject: "event.data.orderId", pairCount: 1 },
  ]);
  expect(w.warned.join()).toContain("event.data.amount");
});

test("one event id under two names, a missing key, and a key that ran again are alerts", async () => {
  const w = world();
  w.keys.set("bill", "event.data.orderId");
  await w.send({}, { callerId: "cart-1", name: "cart/paid", fn: "mail" });
  await w.send({}, { callerId: "cart-1", name: "cart/emptied", fn: "mail" });
  await w.send({ other: 1 });
  await w.send({ orderId: 2 }, { key: "2" });
  await w.store.release({ env, scope: "fn:bill", key: "2", fence: null, reason: "a mistake" });
  await w.send({ orderId: 2 }, { key: "2" });
  await look(w);
  expect((await w.alerts()).map(({ kind, pairCount }) => [kind, pairCount]).sort()).toEqual([
    ["id-under-two-names", 1],
    ["key-missing", 1],
    ["key-ran-again", 1],
  ]);
});

test("equal events without an id, or with the time in it, that ran under two keys are an alert; apart, or under ids of their own, they are not", async () => {
  const w = world();
  w.keys.set("bill", "event.data.orderId + event.data.sentAt");
  const order = (n: number, sentAt: number) => ({ orderId: n, amount: 5, sentAt });
  await w.send(order(1, 1), { key: '"1-1"' });
  await w.send(order(1, 2), { key: '"1-2"' });
  await w.send(order(2, 1), { key: '"2-1"', callerId: "order-2-a" });
  await w.send(order(2, 2), { key: '"2-2"', callerId: "order-2-b" });
  await look(w);
  expect(await w.alerts()).toMatchObject([{ kind: "equal-events", fn: "bill", pairCount: 1 }]);
  expect(w.warned.join()).toContain("without an id");
});

test("equal events whose ids hold the time of sending, though they ran under two keys, are an alert that says so", async () => {
  const w = world();
  w.keys.set("bill", "event.data.orderId + event.data.sentAt");
  const sendAt = (n: number) => {
    const now = w.platform.wallMs();
    return w.send({ orderId: n, sentAt: now }, { key: JSON.stringify(`${n}-${now}`), callerId: `order-${n}-${now}` });
  };
  await sendAt(1);
  await w.pass(700);
  await sendAt(1);
  await w.pass(700);
  await sendAt(2);
  await look(w);
  expect(await w.alerts()).toMatchObject([{ kind: "equal-events", fn: "bill", pairCount: 1 }]);
  expect(w.warned).toEqual([expect.stringContaining("the time of sending")]);
});

test("a run that was let start because the one before failed and gave its key back is no alert", async () => {
  const w = world();
  w.keys.set("bill", "event.data.orderId");
  await w.send({ orderId: 2 }, { key: "2" });
  const [run] = await w.store.reads.runs(env, { limit: 1 });
  await w.store.cancel({ env, runId: run!.id, result: '"no"', releaseKey: true, ingest: null });
  await w.send({ orderId: 2 }, { key: "2" });
  await look(w);
  expect(await w.alerts()).toEqual([]);
});

test("a new function is told of equal data without any id: maybe the same; after seven days it is not", async () => {
  const w = world();
  const follower = w.follower();
  await w.send({ note: "hello" });
  await w.send({ note: "hello" });
  await look(w, follower);
  expect(await w.alerts()).toMatchObject([{ kind: "maybe-doubled", pairCount: 1 }]);
  await w.pass(8 * 86_400_000);
  await w.send({ note: "hello" });
  await w.send({ note: "hello" });
  await look(w, follower);
  // Seven days without another closed it, and what came now is too weak.
  expect(await w.alerts()).toMatchObject([{ state: "closed", judgedBy: "idem", pairCount: 1 }]);
});

test("two orders of one customer in a minute are no duplicate, though everything else is equal", async () => {
  const w = world();
  await w.send({ customerId: 5, orderRef: "A-1" });
  await w.send({ customerId: 5, orderRef: "A-2" });
  await look(w);
  expect(await w.alerts()).toEqual([]);
});

test("a rule that a person made counts runs and events by a field, and a muted default rule is silent", async () => {
  const w = world();
  const put = (name: string, value: object) =>
    w.store.set({
      env,
      kind: "radar-rule",
      name,
      value: JSON.stringify({ name, ...value }),
      over: null,
      reason: "test",
    });
  const rule = { more: 2, withinMs: 10_000, fn: null, isMuted: false };
  await put("default", { more: 1, what: "runs", of: "best-guess", withinMs: 60_000, fn: null, isMuted: true });
  await put("thrice", { ...rule, what: "runs", of: "event.data.orderId" });
  await put("chatty", { ...rule, what: "events", of: "event.data.shop" });
  for (let i = 0; i < 3; i++) await w.send({ orderId: 1, shop: "a" });
  await look(w);
  expect((await w.alerts()).map(({ kind, about, fn, pairCount }) => [kind, about, fn, pairCount]).sort()).toEqual([
    ["rule", "rule:chatty", "", 1],
    ["rule", "rule:thrice", "bill", 1],
  ]);
});

test("a muted alert is counted and not told; its event is sent once for each entity", async () => {
  const w = world();
  const follower = w.follower();
  for (let i = 0; i < 3; i++) await w.send({ orderId: 1 });
  await look(w, follower);
  expect(w.announced).toMatchObject([
    { name: "idem/duplicate.detected", data: { entity: 1, subject: "event.data.orderId" } },
  ]);
  const [alert] = await w.alerts();
  await w.store.judge({ env, id: alert!.id, verdict: "mute", until: null, by: "ada", note: "known" });
  await w.send({ orderId: 2 });
  await w.send({ orderId: 2 });
  await look(w, follower);
  expect(await w.alerts()).toMatchObject([{ state: "muted", pairCount: 3 }]);
  expect(w.announced).toHaveLength(1);
  expect(w.warned).toHaveLength(1);
});

test("a look that could not be finished is made again, and tells the same once", async () => {
  const w = world();
  const follower = w.follower();
  await w.send({ orderId: 1 });
  await w.send({ orderId: 1 });
  const follow = vi.spyOn(w.store, "follow").mockRejectedValueOnce(new Error("gone"));
  await expect(look(w, follower)).rejects.toThrow("gone");
  follow.mockRestore();
  expect(await look(w, follower)).toBe(2);
  expect(await w.alerts()).toMatchObject([{ pairCount: 1 }]);
  expect(w.warned).toHaveLength(1);
  expect(await look(w, follower)).toBe(0);
});

test("of nodes that take turns each reads an arrival once, and finds the duplicate of what another one told of", async () => {
  const w = world();
  const nodes = [w.follower(), w.follower()];
  let readTwice = 0;
  for (let n = 0; n < 10; n++) {
    await w.send({ orderId: n });
    if (n === 9) await w.send({ orderId: 8 });
    const asked = vi.spyOn(w.store.reads, "arrivals");
    await look(w, nodes[n % 2]);
    for (const { value } of asked.mock.settledResults) readTwice += Math.max(0, (value?.rows.length ?? 0) - 2);
    asked.mockRestore();
  }
  expect(readTwice).toBe(0);
  expect(await w.alerts()).toMatchObject([{ kind: "doubled-runs", pairCount: 1 }]);
});

test("the very first pair of a new source of webhooks is an alert, under whatever names; after seven days it is not", async () => {
  const w = world();
  const source = (createdAt: number, events?: string) =>
    JSON.stringify({
      config: { provider: "stripe", ...(events === undefined ? {} : { events }) },
      secrets: [],
      createdAt,
    });
  const set = (name: string, value: string) =>
    w.store.set({ env, kind: "webhook-source", name, value, over: null, reason: "test" });
  const now = w.platform.wallMs();
  await set("bullhorn", source(now, "ats"));
  await set("stripe", source(now - radarLimits.newForMs));
  for (const [n, name] of ["INSERTED", "UPDATED"].entries()) {
    await w.send({ placementId: 7, eventType: name }, { callerId: `d-${n}`, name: `ats/${name}`, fn: `on-${name}` });
    await w.send({ placementId: 7, eventType: name }, { callerId: `s-${n}`, name: `stripe/${name}`, fn: `on-${name}` });
  }
  await look(w);
  const alerts = await w.alerts();
  expect(alerts.filter(({ kind }) => kind === "doubled-deliveries")).toMatchObject([
    { about: "source:bullhorn", subject: "bullhorn", fn: "", pairCount: 1 },
  ]);
  expect(w.warned.join()).toContain('The new source "bullhorn" delivered the same thing again 1 time');
});

test("a receiver of webhooks in code is watched closely from its first delivery on, by the source its events name", async () => {
  const w = world();
  const deliver = (id: string, placementId: number) => {
    const extra = JSON.stringify({ meta: { webhook: { source: "bullhorn", id, type: "x" } } });
    const data = JSON.stringify({ placementId, eventType: id });
    const event = newEvent(w.newId(), { callerId: `bullhorn:${id}`, name: `placements/${id}`, data, extra });
    const pair = startPair(w.newId(), { fn: `on-${id}`, key: null });
    return w.store.ingest({ env, registration: null, events: [event], pairs: [pair], leaseTo: null });
  };
  const follower = w.follower();
  const since = w.platform.wallMs();
  await deliver("a", 7);
  await deliver("b", 7);
  await look(w, follower);
  const found = async () => (await w.alerts()).filter(({ kind }) => kind === "doubled-deliveries");
  expect(await found()).toMatchObject([{ about: "source:bullhorn", pairCount: 1 }]);
  const closely = await watchedClosely(w.store.reads, env, w.platform.wallMs());
  expect(closely).toContainEqual({ what: "source", name: "bullhorn", until: since + radarLimits.newForMs });
  expect(closely.map(({ name }) => name).sort()).toEqual(["bullhorn", "on-a", "on-b"]);
  await w.pass(radarLimits.newForMs);
  await deliver("c", 8);
  await deliver("d", 8);
  // Another process, which remembers nothing but the position.
  await look(w);
  expect(await found()).toMatchObject([{ pairCount: 1 }]);
  expect((await watchedClosely(w.store.reads, env, w.platform.wallMs())).map(({ name }) => name)).toEqual([
    "on-c",
    "on-d",
  ]);
});

test("more effects for one entity than a rule allows are one alert, and closed it stays closed for the next process", async () => {
  const w = world();
  const rule = makeRule("twice", { what: "effects", within: "60s" });
  await w.store.set({ env, kind: ruleKind, name: "twice", value: JSON.stringify(rule), over: null, reason: "test" });
  const send = (key: string) => sendEffect(w.store, "placement-7", key, w.platform.wallMs());
  await send("k1");
  await w.pass(800);
  await send("k2");
  await look(w);
  await look(w);
  expect(await w.alerts()).toMatchObject([{ kind: "rule", about: "rule:twice", pairCount: 1 }]);
  expect(w.warned).toEqual([expect.stringContaining('Rule "twice": more than 1 effects for one entity')]);
  const [alert] = await w.alerts();
  const pairs = await w.store.reads.alertPairs(env, alert!.id, { limit: 10 });
  expect(pairs).toMatchObject([{ entity: '"stripe: placement-7"', firstId: "run-k1", laterId: "run-k2" }]);
  await w.store.judge({ env, id: alert!.id, verdict: "close", until: null, by: "Ada", note: "mended" });
  await look(w);
  expect(await w.alerts()).toHaveLength(1);
  await send("k3");
  await look(w);
  expect((await w.alerts()).map(({ state }) => state)).toEqual(["open", "closed"]);
});
