// Sources that people make in a running server: what a provider delivers there becomes events, once each.
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../cli/store-world.ts";
import { defineFunction } from "../../../sdk/create-function.ts";
import { github } from "../../../toolkit/webhooks/providers/github.ts";
import { stripe } from "../../../toolkit/webhooks/providers/stripe.ts";
import { type TestServer, testServer } from "../../test-server.suite.ts";

const secret = "whsec_of_the_shop";
const other = "whsec_the_next_one";

const json = { "content-type": "application/json" };
const post = (server: TestServer, path: string, body: unknown, method = "POST") =>
  server.ask(path, { method, headers: json, body: JSON.stringify(body) });

const make = (server: TestServer, more: Record<string, unknown> = {}) =>
  post(server, "/api/webhooks", { name: "stripe", provider: "stripe", secret, ...more });

function deliver(server: TestServer, body: object, signedWith = secret, path = "/w/stripe") {
  const bytes = Buffer.from(JSON.stringify(body));
  const provider = stripe({ secrets: [signedWith] });
  const signing = { secret: signedWith, bytes, url: server.origin + path, id: "", type: null, at: Date.now() };
  const { headers } = provider.sign(signing);
  return server.ask(path, { method: "POST", headers: { ...json, ...headers }, body: bytes });
}

const paid = (id: string, amount = 10) => ({ id, type: "invoice.paid", data: { object: { id: "in_1", amount } } });

async function shop(settings = {}) {
  const server = await testServer(settings);
  const ran: string[] = [];
  await server.define("book", { event: "stripe/invoice.paid" }, ({ event }) => ran.push(event.id));
  const idle = async () => (await server.world.engine("default")).idle();
  return { server, ran, idle };
}

describe("a source made over the API", () => {
  test("what is delivered three times starts one run, and the second and third are told it was known", async () => {
    const { server, ran, idle } = await shop();
    expect(await make(server)).toMatchObject({ status: 200, json: { source: { name: "stripe" }, secret: null } });
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await deliver(server, paid("evt_1")));
    await idle();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true", "true"]);
    expect(ran).toEqual(["stripe:evt_1"]);
  });

  test("an event sent under the id a delivery will have does not take its place, whatever window it asks for", async () => {
    const { server, ran, idle } = await shop();
    await make(server);
    const forged = { id: "stripe:evt_1", name: "shop/nothing", data: {}, meta: { webhook: { source: "stripe" } } };
    const headers = { ...json, "x-idem-window": "360d" };
    expect((await server.ask("/e/dev", { method: "POST", headers, body: JSON.stringify(forged) })).status).toBe(200);
    const first = await deliver(server, paid("evt_1"));
    const again = await deliver(server, paid("evt_1"));
    await idle();
    expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect(ran).toEqual(["stripe:evt_1"]);
    // The id means the delivery; the other one is there as well.
    expect((await server.ask("/api/events/stripe:evt_1")).json.event.name).toBe("stripe/invoice.paid");
    expect((await server.ask("/api/events/stripe:evt_1?scope=event")).json.event.name).toBe("shop/nothing");
  });

  test("an event key alone cannot speak for a provider: ids of deliveries are taken with the signing key", async () => {
    const signingKey = "signkey-test-5c0e7a91d3b84f26a7e19d40c8b5f3627f2b9de1450a83c6";
    const eventKeys = ["7d1f4b90c2e85a36b8f0d94c1e7a2b65"];
    const { server } = await shop({ mode: "start", eventKeys, signingKeys: [signingKey] });
    const body = JSON.stringify({ id: "stripe:evt_1", name: "stripe/invoice.paid", data: {} });
    const send = (more: Record<string, string>) =>
      server.ask(`/e/${eventKeys[0]}`, { method: "POST", headers: { ...json, "x-idem-delivery": "1", ...more }, body });
    expect((await send({})).status).toBe(401);
    expect((await send({ authorization: "Bearer 00" })).status).toBe(401);
    expect((await send({ authorization: `Bearer ${signingKey}` })).status).toBe(200);
    const { store } = await server.world.engine("default");
    expect(await store.reads.claim("default", "event", "stripe:evt_1")).toBeNull();
    expect(await store.reads.claim("default", "webhook", "stripe:evt_1")).not.toBeNull();
  });

  test("what is delivered again after a restart starts nothing", async () => {
    const store = `sqlite:${join(temporaryFolder(), "server.db")}`;
    const first = await shop({ store });
    await make(first.server);
    await deliver(first.server, paid("evt_1"));
    await first.idle();
    await first.server.close({ graceMs: 0 });
    const second = await shop({ store });
    const again = await deliver(second.server, paid("evt_1"));
    await second.idle();
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect([first.ran, second.ran]).toEqual([["stripe:evt_1"], []]);
  });

  test("whose secrets are sealed with a key the server lacks loses nothing: 503 until the key is there, and the rest goes on", async () => {
    const store = `sqlite:${join(temporaryFolder(), "server.db")}`;
    onTestFinished(() => void vi.unstubAllEnvs());
    const keys = { sealed: "11".repeat(32), other: "22".repeat(32) };
    const openedWith = (key: string) => {
      vi.stubEnv("IDEM_SECRET_KEY", key);
      return shop({ store });
    };
    const first = await openedWith(keys.sealed);
    await make(first.server);
    await deliver(first.server, paid("evt_1"));
    await first.idle();
    await first.server.close({ graceMs: 0 });

    const without = await openedWith(keys.other);
    expect(without.server.logged.map(({ text }) => text).filter((text) => /IDEM_SECRET_KEY/.test(text))).toHaveLength(
      1,
    );
    await make(without.server, { name: "second" });
    const refused = await deliver(without.server, paid("evt_2"));
    expect([refused.status, refused.json.code]).toEqual([503, "SECRET_KEY_MISSING"]);
    expect((await deliver(without.server, paid("evt_2"), secret, "/w/second")).status).toBe(200);
    const story = await without.server.ask("/api/explain?q=stripe:evt_1");
    expect(story.text).toContain("SECRET_KEY_MISSING");
    expect(story.status).toBe(200);
    await without.server.close({ graceMs: 0 });

    const again = await openedWith(`${keys.other},${keys.sealed}`);
    expect((await deliver(again.server, paid("evt_2"))).headers.get("idempotent-replayed")).toBe(null);
    await again.idle();
    expect(again.ran).toEqual(["stripe:evt_2"]);
    await again.server.close({ graceMs: 0 });

    const lost = await openedWith(keys.other);
    const removed = await post(lost.server, "/api/webhooks/stripe", { reason: "its key is lost" }, "DELETE");
    expect(removed).toMatchObject({ status: 200, json: { removed: "stripe" } });
    expect((await make(lost.server)).status).toBe(200);
    expect((await deliver(lost.server, paid("evt_3"))).status).toBe(200);
  });

  test("what nobody with the secret signed is refused without a word, and nothing of it is stored", async () => {
    const { server, ran } = await shop();
    await make(server);
    const wrong = await deliver(server, paid("evt_1"), other);
    const bare = await post(server, "/w/stripe", paid("evt_1"));
    expect([wrong, bare].map(({ status, text }) => [status, text])).toEqual([
      [401, ""],
      [401, ""],
    ]);
    expect((await server.ask("/api/events")).json.events).toEqual([]);
    expect(ran).toEqual([]);
    const { json: shown } = await server.ask("/api/webhooks/stripe");
    expect(shown.counts).toEqual({ refused: 2 });
    expect(shown.deliveries.map(({ why }: { why: string }) => why)).toEqual(["missing", "mismatch"]);
  });

  test("while a secret is rotated both are accepted, and the old one no longer once it is dropped", async () => {
    const { server } = await shop();
    await make(server);
    const added = await post(server, "/api/webhooks/stripe/secrets", { secret: other });
    expect(added.json.source.secrets).toHaveLength(2);
    expect((await deliver(server, paid("evt_1"), secret)).status).toBe(200);
    expect((await deliver(server, paid("evt_2"), other)).status).toBe(200);
    expect((await post(server, "/api/webhooks/stripe/secrets/old", {}, "DELETE")).status).toBe(200);
    expect((await deliver(server, paid("evt_3"), secret)).status).toBe(401);
    expect((await deliver(server, paid("evt_3"), other)).status).toBe(200);
  });

  test("a secret made by the server is shown once and never again, in no answer and no log", async () => {
    const { server } = await shop();
    const made = await post(server, "/api/webhooks", { name: "ci", provider: "github" });
    const shown: string = made.json.secret;
    expect(shown).toMatch(/^[0-9a-f]{64}$/);
    const bytes = Buffer.from('{"ref":"refs/heads/main","before":"0","after":"1"}');
    const signing = { secret: shown, bytes, url: "", id: "d-1", type: "push", at: 0 };
    const { headers } = github({ secrets: [shown] }).sign(signing);
    expect((await server.ask("/w/ci", { method: "POST", headers, body: bytes })).status).toBe(200);
    const later = [
      await server.ask("/api/webhooks"),
      await server.ask("/api/webhooks/ci"),
      await post(server, "/api/webhooks", { name: "ci", provider: "github" }),
      await server.ask("/api/events"),
      await server.ask("/metrics"),
      await post(server, "/api/webhooks/ci", { reason: "test" }, "DELETE"),
    ];
    for (const { text } of later) expect(text).not.toContain(shown);
    expect(server.logged.map(({ text }) => text).join()).not.toContain(shown);
    expect(later[4]!.text).toMatch(/idem_webhook_deliveries_total\{env="default",source="ci",kind="kept"\} 1/);
  });

  test("with a business key two deliveries of one thing are one, whatever their ids", async () => {
    const { server, ran, idle } = await shop();
    await make(server, { key: ["data.object.id"] });
    await deliver(server, paid("evt_1"));
    const second = await deliver(server, paid("evt_2", 11));
    await idle();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(ran).toHaveLength(1);
  });

  test("each environment has sources of its own, under its own address", async () => {
    const { server, ran, idle } = await shop();
    const made = await server.ask("/api/webhooks?env=staging", {
      method: "POST",
      headers: json,
      body: JSON.stringify({ name: "stripe", provider: "stripe", secret }),
    });
    expect(made.json.source.url).toBe(`${server.origin}/w/staging/stripe`);
    expect((await deliver(server, paid("evt_1"))).status).toBe(404);
    expect((await deliver(server, paid("evt_1"), secret, "/w/staging/stripe")).status).toBe(200);
    await idle();
    expect(ran).toEqual([]);
    expect((await server.ask("/api/events?env=staging")).json.events).toHaveLength(1);
  });

  test("two sources whose events share a name keep their ids apart", async () => {
    const { server, ran, idle } = await shop();
    await make(server, { name: "live", events: "stripe" });
    await make(server, { name: "test", events: "stripe" });
    await deliver(server, paid("evt_1"), secret, "/w/live");
    await deliver(server, paid("evt_1"), secret, "/w/test");
    await idle();
    expect(ran).toEqual(["live:evt_1", "test:evt_1"]);
    const notes = (await server.ask("/api/webhooks/live")).json;
    expect(notes.counts).toEqual({ kept: 1 });
  });

  test("whoever names an environment that has no such source opens nothing by it", async () => {
    const { server } = await shop();
    const before = [...server.world.engines.keys()];
    for (let i = 0; i < 20; i++) {
      expect((await deliver(server, paid("evt_1"), secret, `/w/made-up-${i}/stripe`)).status).toBe(404);
    }
    expect([...server.world.engines.keys()]).toEqual(before);
  });

  test.each([
    ["a name that is no part of a path", { name: "a/b" }, 400],
    ["a provider nobody knows", { provider: "acme" }, 400],
    ["a provider's own secret that is missing", { secret: undefined }, 400],
    ["a secret with a line's end", { secret: "whsec_x\n" }, 400],
    ["a generic one without its header", { provider: "generic-hmac" }, 400],
    ["a window that is none", { window: "soon" }, 400],
    ["a field nobody knows", { secrte: "x" }, 400],
  ])("%s is refused with a reason, and makes nothing", async (_, more, status) => {
    const server = await testServer();
    const answer = await make(server, more);
    expect(answer.status).toBe(status);
    expect(answer.json.detail.length).toBeGreaterThan(10);
    expect((await server.ask("/api/webhooks")).json.sources).toEqual([]);
  });

  test("a name is taken once; who removes one says why", async () => {
    const server = await testServer();
    await make(server);
    expect(await make(server, { secret: other })).toMatchObject({ status: 409, json: { code: "SOURCE_TAKEN" } });
    expect((await post(server, "/api/webhooks/stripe", {}, "DELETE")).status).toBe(400);
    expect((await post(server, "/api/webhooks/stripe", { reason: "moved" }, "DELETE")).json).toEqual({
      removed: "stripe",
    });
    expect((await deliver(server, paid("evt_1"))).status).toBe(404);
  });
});

describe("names of a source's events", () => {
  const eventKey = "7d1f4b90c2e85a36b8f0d94c1e7a2b65";
  const signingKey = "signkey-test-5c0e7a91d3b84f26a7e19d40c8b5f3627f2b9de1450a83c6";
  const keys = { mode: "start", eventKeys: [eventKey], signingKeys: [signingKey] } as const;
  const bearer = { authorization: `Bearer ${signingKey}` };
  const forged = { name: "stripe/invoice.paid", data: { id: "evt_victim" } };
  const refused = { status: 403, json: { code: "EVENT_NAME_RESERVED" } };

  async function guarded(more: Record<string, unknown> = {}) {
    const known = await shop(keys);
    const { server } = known;
    const api = (path: string, body: unknown, method = "POST") =>
      server.ask(path, { method, headers: { ...json, ...bearer }, body: JSON.stringify(body) });
    const made = await api("/api/webhooks", { name: "stripe", provider: "stripe", secret, ...more });
    expect(made.status).toBe(200);
    const sent = (body: unknown, headers: Record<string, string> = {}) =>
      server.ask(`/e/${eventKey}`, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
    return { ...known, api, sent };
  }

  test("are reserved for it: by every other way in they are refused, alone or in a batch, and nothing of the call is stored", async () => {
    const { server, ran, idle, api, sent } = await guarded();
    expect(await sent(forged)).toMatchObject({
      status: 403,
      json: { error: expect.stringContaining("stripe"), ids: [] },
    });
    expect((await sent(forged)).text).toContain("EVENT_NAME_RESERVED");
    expect(await sent([{ name: "shop/fine", data: {} }, forged])).toMatchObject({ status: 403 });
    // A note beside the event, an id and a signing key without the delivery's header make no delivery of it.
    expect(await sent({ ...forged, id: "stripe:evt_victim", meta: { webhook: { source: "stripe" } } })).toMatchObject({
      status: 403,
    });
    expect(await sent(forged, bearer)).toMatchObject({ status: 403 });
    const form = {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "id=evt_victim",
    };
    expect(await server.ask(`/e/${eventKey}?name=stripe/invoice.paid`, form)).toMatchObject({ status: 403 });
    expect(await api("/api/events", { events: [forged] })).toMatchObject(refused);
    // What the receiver itself makes of a delivery is its own as well.
    expect(await sent({ name: "stripe/quarantined", data: {} })).toMatchObject({ status: 403 });
    await idle();
    expect(ran).toEqual([]);
    const { store } = await server.world.engine("default");
    expect((await store.reads.eventPage("default", { limit: 10, examinedMax: 10 })).rows).toEqual([]);
    expect((await deliver(server, paid("evt_victim"))).headers.get("idempotent-replayed")).toBeNull();
    await idle();
    expect(ran).toEqual(["stripe:evt_victim"]);
  });

  test("are those with its prefix, and of a source with names of its own both; others' are not", async () => {
    const { sent } = await guarded({ events: "billing" });
    for (const name of ["stripe/a", "billing/a", "billing/"]) expect((await sent({ name, data: {} })).status).toBe(403);
    for (const name of ["stripe", "stripe.a", "stripes/a", "Stripe/a", "my/stripe/a"]) {
      expect((await sent({ name, data: {} })).status, name).toBe(200);
    }
  });

  test("may be sent by others where the source allows it, and the delivery still runs under its own key", async () => {
    const { server, sent, idle } = await guarded({ allowOtherSenders: true });
    const ran: string[] = [];
    await server.define("once", { event: "stripe/invoice.paid" }, ({ event }) => ran.push(event.id), {
      idempotency: "event.data.id",
    });
    expect((await sent({ ...forged, id: "by-hand" })).status).toBe(200);
    await idle();
    await deliver(server, paid("evt_victim"));
    await idle();
    expect(ran).toEqual(["by-hand", "stripe:evt_victim"]);
  });

  test("are not reached by the provider of another source that chooses a type, though one's prefix begins with the other's", async () => {
    const { server, ran, api, idle } = await guarded();
    await api("/api/webhooks", { name: "live", provider: "stripe", secret: other, events: "stripe/live" });
    await server.define("live", { event: "stripe/live/*" }, ({ event }) => ran.push(event.name));
    const typed = (type: string) => ({ id: `evt ${type}`, type });
    expect((await deliver(server, typed("live/paid"))).status).toBe(200);
    expect((await deliver(server, typed("paid"), other, "/w/live")).status).toBe(200);
    await idle();
    expect(ran).toEqual(["stripe/live/paid"]);
    const { store } = await server.world.engine("default");
    const { rows } = await store.reads.eventPage("default", { limit: 10, examinedMax: 10 });
    expect(rows.map(({ name }) => name).sort()).toEqual(["stripe/live/paid", "stripe/quarantined"]);
  });

  test("are reserved from the moment the source is made until it is removed", async () => {
    const { server, sent, api } = await guarded();
    expect((await sent(forged)).status).toBe(403);
    expect((await api("/api/webhooks/stripe", { reason: "moved" }, "DELETE")).status).toBe(200);
    expect((await sent(forged)).status).toBe(200);
    expect((await api("/api/webhooks", { name: "stripe", provider: "stripe", secret })).status).toBe(200);
    expect((await sent(forged)).status).toBe(403);
    // Another environment's names are its own.
    const { store } = await server.world.engine("default");
    expect(await store.reads.settings("other", "webhook-source")).toEqual([]);
  });

  test("are reserved on a server for a receiver in an app, from its first delivery on, until the source is removed", async () => {
    const { server, sent, api } = await guarded();
    const delivery = { id: "ats:1", name: "ats/placed", data: {} };
    const passedOn = (header: string) => sent(delivery, { ...bearer, "x-idem-delivery": header });
    expect((await sent({ name: "ats/placed", data: {} })).status).toBe(200);
    expect((await passedOn("1")).status).toBe(200);
    expect((await sent({ name: "ats/placed", data: {} })).status).toBe(403);
    expect((await passedOn("1")).status).toBe(200);
    expect((await api("/api/webhooks/ats", { reason: "no longer" }, "DELETE")).status).toBe(200);
    expect((await sent({ name: "ats/placed", data: {} })).status).toBe(200);
    // A receiver that allows other senders reserves nothing.
    expect((await passedOn("shared")).status).toBe(200);
    expect((await sent({ name: "ats/placed", data: {} })).status).toBe(200);
    expect((await server.ask("/health")).status).toBe(200);
  });
});

test("the function key of a delivery has its source's scope: an event by another way under another name cannot take it", async () => {
  const { server, idle } = await shop();
  const ran: string[] = [];
  const engine = await server.world.engine("default");
  const triggers = [{ event: "stripe/invoice.paid" }, { event: "shop/paid" }];
  const options = { id: "once", retries: 0, idempotency: "event.data.id" } as const;
  await engine.register(defineFunction("test", options, triggers, ({ event }: any) => ran.push(event.id)));
  await make(server);
  const send = (event: object) => post(server, "/e/dev", event);
  for (const id of ["evt_1", 'stripe:"evt_1"', "stripe:evt_1"]) {
    const forged = {
      name: "shop/paid",
      id: `forged ${id}`,
      data: { id },
      meta: { webhook: { source: "stripe" } },
      source: "stripe",
    };
    expect((await send(forged)).status).toBe(200);
  }
  await idle();
  expect(ran).toHaveLength(3);
  await deliver(server, paid("evt_1"));
  await idle();
  expect(ran.at(-1)).toBe("stripe:evt_1");
  // Within the source the key is one: a second source's delivery of it is another, a second event of the same source is not.
  await make(server, { name: "stripe2", events: "stripe" });
  await deliver(server, paid("evt_1"), secret, "/w/stripe2");
  await idle();
  expect(ran.at(-1)).toBe("stripe2:evt_1");
  expect(ran).toHaveLength(5);
});
