// Deliveries that become events of the engine.

import { describe, expect, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { inside } from "../../sdk/inside.ts";
import { testIdem } from "../../testing/test-idem.ts";
import { github } from "./providers/github.ts";
import { slack } from "./providers/slack.ts";
import { stripe } from "./providers/stripe.ts";
import type { WebhookNote } from "./receive.ts";
import { signWebhook } from "./sign-webhook.ts";
import { type EngineWebhookOptions, webhook } from "./webhook.ts";

const secret = "whsec_test_secret";
const invoice = (over: object = {}) =>
  JSON.stringify({ id: "evt_1", type: "invoice.paid", data: { total: 10 }, ...over });

async function world(over: Partial<EngineWebhookOptions<any>> = {}) {
  const test = testIdem();
  const { idem, clock } = test;
  const ran: unknown[] = [];
  idem.createFunction({ id: "book" }, { event: "stripe/invoice.paid" }, async ({ event, step }) =>
    step.run("book", () => ran.push(event.data)),
  );
  await idem.start();
  const notes: WebhookNote[] = [];
  const platform: Platform = { ...nodePlatform, wallMs: () => clock.now() };
  const provider = stripe({ secrets: [secret] });
  const receive = webhook({ source: "stripe", provider, idem, platform, onNote: (note) => notes.push(note), ...over });
  const deliver = async (body: string | Uint8Array, options: { secret?: string; at?: number } = {}) => {
    const signed = { at: options.at ?? clock.now() };
    const response = await receive(signWebhook(over.provider ?? provider, options.secret ?? secret, body, signed));
    await idem.idle();
    return response;
  };
  return { ...test, ran, notes, receive, deliver, provider };
}

describe("a verified delivery", () => {
  test("is stored with its run before it is answered, and the run has its payload", async () => {
    const { idem, ran, deliver } = await world();
    const response = await deliver(invoice());
    expect(response.status).toBe(200);
    expect(response.headers.get("idempotent-replayed")).toBeNull();
    expect(ran).toEqual([{ id: "evt_1", type: "invoice.paid", data: { total: 10 } }]);
    expect(await idem.events.get("stripe:evt_1")).toMatchObject({ name: "stripe/invoice.paid" });
  });

  test("that comes again is answered 200 and Idempotent-Replayed, and nothing runs", async () => {
    const { clock, ran, deliver, notes } = await world();
    await deliver(invoice());
    await clock.advance("1h");
    const again = await deliver(invoice());
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(ran.length).toBe(1);
    expect(notes.map(({ kind }) => kind)).toEqual(["kept", "duplicate"]);
  });

  test("is not a duplicate of an event that somebody sent under its id before", async () => {
    const { idem, ran, deliver } = await world();
    await idem.send({ id: "stripe:evt_1", name: "stripe/other", data: {} }, { window: "360d" });
    const response = await deliver(invoice());
    expect(response.headers.get("idempotent-replayed")).toBeNull();
    expect(ran).toHaveLength(1);
    expect((await deliver(invoice())).headers.get("idempotent-replayed")).toBe("true");
  });

  test("keeps its function key when code of the same process sends under its source's name, also when the delivery is released or rerun", async () => {
    const { idem, deliver } = await world();
    const ids: string[] = [];
    idem.createFunction(
      { id: "once", idempotency: { key: "event.data.id", onMissing: "reject" } },
      { event: "stripe/invoice.paid" },
      async ({ event }) => ids.push(event.id),
    );
    const { decisions } = await idem.send({ id: "mine", name: "stripe/invoice.paid", data: { id: "evt_1" } });
    expect(decisions.map(({ kind }) => kind)).toEqual(["started", "started"]);
    await idem.idle();
    await idem.functions.pause("once");
    await deliver(invoice());
    await idem.functions.resume("once", { waiting: "release" });
    await idem.idle();
    expect(ids).toEqual(["mine", "stripe:evt_1"]);
    const [run] = await idem.runs.list({ function: "once" });
    expect(run!.key).toBe('stripe:"evt_1"');
    // A rerun with the same data is about the same key.
    expect((await idem.runs.rerun(run!.id, { data: { id: "evt_1", total: 11 } })).runId).not.toBe(run!.id);
  });

  // Row 31 of the pitfalls.
  test("that comes again after four days is a duplicate still, and after 34; after 36 it is not", async () => {
    const { clock, ran, deliver } = await world();
    await deliver(invoice());
    for (const [wait, count] of [
      ["4d", 1],
      ["30d", 1],
      ["2d", 2],
    ] as const) {
      await clock.advance(wait);
      expect((await deliver(invoice())).status).toBe(200);
      expect(ran.length).toBe(count);
    }
  });

  test("ten of it at once start one run", async () => {
    const { ran, deliver } = await world();
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(invoice())));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true").length).toBe(9);
    expect(ran.length).toBe(1);
  });

  test("under the same id with another payload is answered 200, flagged, and the first one stays", async () => {
    const { ran, deliver, notes } = await world();
    await deliver(invoice());
    expect((await deliver(invoice({ data: { total: 99 } }))).status).toBe(200);
    expect(ran).toMatchObject([{ data: { total: 10 } }]);
    expect(notes[1]).toMatchObject({ kind: "conflicting-payload", id: "evt_1" });
  });

  test("that no function listens for is kept once all the same", async () => {
    const { idem, deliver, notes } = await world();
    const unheard = invoice({ id: "evt_2", type: "invoice.voided" });
    for (let i = 0; i < 2; i++) await deliver(unheard);
    await deliver(invoice({ id: "evt_2", type: "invoice.voided", data: {} }));
    expect(notes.map(({ kind }) => kind)).toEqual(["kept", "duplicate", "conflicting-payload"]);
    expect((await idem.events.get("stripe:evt_2"))!.duplicateOf).toBeNull();
  });

  test("without an id of its own is known by its bytes", async () => {
    const { deliver, notes } = await world();
    for (let i = 0; i < 2; i++) await deliver('{"type":"invoice.paid"}');
    expect(notes.map(({ kind }) => kind)).toEqual(["kept", "duplicate"]);
  });

  test("under another id is the same by its business key", async () => {
    const { ran, deliver, notes } = await world({ businessKey: ({ type, payload }) => [type, payload.order] });
    await deliver(invoice({ order: 7 }));
    await deliver(invoice({ id: "evt_2", order: 7 }));
    await deliver(invoice({ id: "evt_3", order: 8 }));
    expect(ran.length).toBe(2);
    expect(notes.map(({ kind }) => kind)).toEqual(["kept", "duplicate", "kept"]);
  });
});

describe("what is not believed", () => {
  test("is answered 401 without a word, stores nothing, and is counted with its reason", async () => {
    const { idem, clock, receive, deliver, notes } = await world();
    const answers = [
      await deliver(invoice(), { secret: "another" }),
      await deliver(invoice(), { at: clock.now() - 3_600_000 }),
      await deliver(invoice(), { at: clock.now() + 3_600_000 }),
      await receive(new Request("https://localhost/", { method: "POST", body: invoice() })),
    ];
    for (const answer of answers) expect([answer.status, await answer.text()]).toEqual([401, ""]);
    expect(notes).toEqual(
      ["mismatch", "stale", "stale", "missing"].map((why) => ({ kind: "refused", source: "stripe", why })),
    );
    expect(await idem.events.list()).toEqual([]);
  });

  test("a body beyond the bound is 413, told or found out", async () => {
    const { receive, deliver, idem } = await world({ bytesMax: 100 });
    expect((await deliver("x".repeat(101))).status).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 5; i++) controller.enqueue(Buffer.alloc(50));
        controller.close();
      },
    });
    const endless = new Request("https://localhost/", { method: "POST", body: stream, duplex: "half" } as RequestInit);
    expect((await receive(endless)).status).toBe(413);
    expect(await idem.events.list()).toEqual([]);
  });

  test("nothing but POST is received", async () => {
    const { receive } = await world();
    expect((await receive(new Request("https://localhost/"))).status).toBe(405);
  });
});

describe("what is authentic and cannot be read", () => {
  test.each([
    ["no JSON", "not json"],
    ["no text", Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ["an id with a line's end", invoice({ id: "evt\n1" })],
    ["nested too deep", `{"id":"evt_9","type":"t","a":${"[".repeat(200)}${"]".repeat(200)}}`],
  ])("is kept in quarantine and answered 200, once: %s", async (_name, body) => {
    const { idem, ran, deliver, notes } = await world();
    expect((await deliver(body)).status).toBe(200);
    expect((await deliver(body)).headers.get("idempotent-replayed")).toBe("true");
    const [kept] = (await idem.events.list({ name: "stripe/quarantined" })).filter(
      ({ duplicateOf }) => duplicateOf === null,
    );
    const raw = typeof body === "string" ? { text: body } : { base64: body.toString("base64") };
    expect(kept!.data).toMatchObject({ raw });
    expect(ran).toEqual([]);
    expect(notes[0]).toMatchObject({ kind: "quarantined" });
  });

  test("and is more than an event can hold is 413", async () => {
    const { deliver } = await world();
    expect((await deliver(invoice({ text: "x".repeat(600_000) }))).status).toBe(413);
  });
});

describe("a transform", () => {
  test("makes the event, and the raw text is kept beside it", async () => {
    const { idem, deliver } = await world({
      transform: (payload, headers, query) => ({
        name: "shop/paid",
        data: { total: payload.data.total, type: headers["content-type"], query },
      }),
    });
    await deliver(invoice());
    const event = await idem.events.get("stripe:evt_1");
    expect(event).toMatchObject({ name: "shop/paid", data: { total: 10, type: "application/json", query: {} } });
  });

  test("that throws, or is async, sends the delivery to quarantine; one that gives null wants none of it", async () => {
    for (const transform of [
      () => {
        throw new Error("no such field");
      },
      async () => ({ data: {} }),
    ]) {
      const { idem, deliver } = await world({ transform: transform as never });
      expect((await deliver(invoice())).status).toBe(200);
      expect((await idem.events.list()).map(({ name }) => name)).toEqual(["stripe/quarantined"]);
    }
    const { idem, deliver, notes } = await world({ transform: () => null });
    expect((await deliver(invoice())).status).toBe(200);
    expect([await idem.events.list(), notes[0]!.kind]).toEqual([[], "ignored"]);
  });
});

// Row 30 of the pitfalls.
describe("no 2xx before it is durable", () => {
  test("a store that fails is 503 with Retry-After, and the provider's next try is processed once", async () => {
    const { idem, ran, deliver, notes } = await world();
    const { send } = idem[inside].deliveries;
    idem[inside].deliveries.send = (() => Promise.reject(new Error("the disk is full"))) as never;
    const failed = await deliver(invoice());
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(ran).toEqual([]);
    idem[inside].deliveries.send = send;
    for (let i = 0; i < 2; i++) expect((await deliver(invoice())).status).toBe(200);
    expect(ran.length).toBe(1);
    expect(notes.map(({ kind }) => kind)).toEqual(["unavailable", "kept", "duplicate"]);
  });

  test("an answer that was lost behind the commit is a duplicate the next time, and was processed once", async () => {
    const { idem, ran, deliver } = await world();
    const send = idem[inside].deliveries.send;
    idem[inside].deliveries.send = (async (...args: Parameters<typeof send>) => {
      await send(...args);
      throw new Error("the process died");
    }) as never;
    expect((await deliver(invoice())).status).toBe(503);
    idem[inside].deliveries.send = send as never;
    expect((await deliver(invoice())).headers.get("idempotent-replayed")).toBe("true");
    expect(ran.length).toBe(1);
  });

  test("a store that commits after the ack budget was over has the event, and the retry is a duplicate", async () => {
    const rings: (() => void)[] = [];
    const clocked = testIdem();
    const platform: Platform = {
      ...nodePlatform,
      wallMs: () => clocked.clock.now(),
      timer: (_ms, run) => {
        rings.push(run);
        return { cancel() {} };
      },
    };
    const { idem } = clocked;
    await idem.start();
    const send = idem[inside].deliveries.send;
    let go = () => {};
    idem[inside].deliveries.send = (async (...args: Parameters<typeof send>) => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return send(...args);
    }) as never;
    const provider = stripe({ secrets: [secret] });
    const receive = webhook({ source: "stripe", provider, idem, platform });
    const sign = () => signWebhook(provider, secret, invoice(), { at: clocked.clock.now() });
    const answering = receive(sign());
    while (rings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    rings[0]!();
    expect((await answering).status).toBe(503);
    go();
    idem[inside].deliveries.send = send as never;
    while ((await idem.events.get("stripe:evt_1")) === null) await new Promise((resolve) => setImmediate(resolve));
    expect((await receive(sign())).headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("handshakes", () => {
  test("Slack's challenge is given back when it is signed, and to nobody else", async () => {
    const provider = slack({ secrets: ["s"] });
    const { deliver, idem } = await world({ provider });
    const body = JSON.stringify({ type: "url_verification", challenge: "c-1" });
    const answer = await deliver(body, { secret: "s" });
    expect([answer.status, await answer.text()]).toEqual([200, "c-1"]);
    expect((await deliver(body, { secret: "other" })).status).toBe(401);
    expect(await idem.events.list()).toEqual([]);
  });

  test("GitHub's ping is answered and starts nothing", async () => {
    const provider = github({ secrets: ["s"] });
    const { receive, idem } = await world({ provider });
    expect((await receive(signWebhook(provider, "s", '{"zen":".","hook_id":1}', { type: "ping" }))).status).toBe(200);
    expect(await idem.events.list()).toEqual([]);
  });
});

describe("GitHub's event header, which nobody signs,", () => {
  const where = { repository: { full_name: "a/b" }, organization: { login: "a" }, sender: {} };
  const push = { ...where, ref: "refs/heads/main", before: "0", after: "1", commits: [] };
  const issue = { ...where, action: "deleted", issue: { id: 1 } };
  const comment = { ...issue, comment: { id: 2 } };
  const received = async (type: string, payload: object) => {
    const provider = github({ secrets: ["s"] });
    const { receive, idem } = await world({ provider });
    const answer = await receive(signWebhook(provider, "s", JSON.stringify(payload), { type }));
    const events = await idem.events.list();
    return { status: answer.status, names: events.map(({ name }) => name.replace(/^[^/]+\//, "")) };
  };

  test.each<[string, object, string]>([
    ["push", push, "push"],
    ["issues", issue, "issues.deleted"],
    ["issue_comment", comment, "issue_comment.deleted"],
    ["repository", { ...where, action: "deleted" }, "repository.deleted"],
    ["organization", { action: "deleted", organization: {}, sender: {} }, "organization.deleted"],
    ["release", { ...where, action: "published", release: {} }, "release.published"],
    ["dependabot_alert", { ...where, action: "created", alert: { dependency: {} } }, "dependabot_alert.created"],
  ])("names the event %s where the signed payload is one", async (type, payload, name) => {
    expect(await received(type, payload)).toEqual({ status: 200, names: [name] });
  });

  test.each<[string, object]>([
    ["issues", push],
    ["issues", comment],
    ["repository", issue],
    ["organization", issue],
    ["installation", { ...issue, installation: {} }],
    ["pull_request", issue],
    ["secret_scanning_alert", { ...where, action: "created", alert: { dependency: {} } }],
    ["ping", push],
  ])("does not make %s of another payload: it waits for a person, and none is dropped", async (type, payload) => {
    expect(await received(type, payload)).toEqual({ status: 200, names: ["quarantined"] });
  });

  test("names nothing by itself where the payload does not show it", async () => {
    expect(await received("made_up", push)).toEqual({ status: 200, names: ["event"] });
  });
});

test("options that cannot hold are refused at the start", async () => {
  const { idem, provider } = await world();
  expect(() => webhook({ source: "a:b", provider, idem })).toThrow(/source/);
  expect(() => webhook({ source: "a", provider } as never)).toThrow(/neither idem nor store/);
  expect(() => webhook({ source: "a", provider, idem, ackBudget: "1m" })).toThrow(/waits 10000 ms/);
});
