// The dashboard beside an embedded engine: the server's pages and API over the client's own store, under a path of an application.
import { expect, test, vi } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { serverLimits } from "../limits.ts";
import { digestThat, mounted, shop, sqliteFile } from "./mounted.suite.ts";

test.each([
  ["memory", () => "memory:"],
  ["a SQLite file", sqliteFile],
])("runs of the embedded engine are shown from its own store: %s", async (_, address) => {
  const store = address();
  const { idem, ask } = mounted(undefined, { store });
  await idem.start();
  const { decisions } = await idem.send([
    { name: "placement/saved", data: { placementId: 7 } },
    { name: "placement/saved", data: { placementId: 7 } },
  ]);
  await idem.runs.wait(decisions[0]!.runId!);
  const runs = await ask("/idem/api/runs");
  expect(runs.json.runs ?? runs.json.items).toHaveLength(1);
  expect((await ask(`/idem/api/runs/${decisions[0]!.runId}`)).status).toBe(200);
  const groups = await ask("/idem/api/groups");
  expect([groups.status, JSON.stringify(groups.json)]).toEqual([200, expect.stringContaining("shop-draft-invoice")]);
  expect((await ask("/idem/api/status")).json).toMatchObject({
    store,
    env: "default",
    environments: ["default"],
    functions: { count: 2, withoutKey: 1 },
  });
  for (const path of [
    "functions",
    "events",
    "event-types",
    "keys",
    "radar/alerts",
    "totals",
    "audit",
    "apps",
    "webhooks",
    "session",
  ]) {
    expect([path, (await ask(`/idem/api/${path}`)).status]).toEqual([path, 200]);
  }
});

test("pages and their files carry the mount path, and forbid whatever is not theirs", async () => {
  const { ask } = mounted({ base: "/admin/idem", authorize: () => "viewer" });
  const page = await ask("/admin/idem/runs", { headers: { accept: "text/html" } });
  expect(page.status).toBe(200);
  expect(page.text).toContain('<meta name="idem-base" content="/admin/idem/"');
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await ask("/admin/idem")).text).toBe(page.text);
  const [, script] = /src="(\/admin\/idem\/assets\/[^"]+\.js)"/.exec(page.text)!;
  const asset = await ask(script!);
  expect([asset.status, asset.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  expect((await ask(script!, { headers: { "if-none-match": asset.headers.get("etag")! } })).status).toBe(304);
  expect(await ask("/admin/idem/runs", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  expect((await ask("/admin/idem/nowhere")).json).toMatchObject({ code: "ROUTE_UNKNOWN" });
  expect((await ask("/idem/runs")).json).toMatchObject({ code: "REQUEST_INVALID" });
  const data = await ask("/admin/idem/api/status");
  expect(data.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(data.headers.get("cache-control")).toBe("no-store");
});

test("an operator acts through the engine that runs: a waiting run is cancelled, an event is sent, and the audit says who", async () => {
  const { idem, ask, post } = mounted({ authorize: () => ({ role: "operator", name: "mira@shop.example" }) });
  await idem.start();
  const { decisions } = await idem.send({ name: "approval/asked" });
  const runId = decisions[0]!.runId!;
  await idem.idle();
  const cancelled = await post(`/idem/api/runs/${runId}/cancel`, { reason: "asked twice" });
  expect([cancelled.status, cancelled.text]).toEqual([200, expect.anything()]);
  expect(await idem.runs.wait(runId)).toMatchObject({ state: "cancelled" });
  const sent = await post("/idem/api/events", { events: [{ name: "placement/saved", data: { placementId: 9 } }] });
  expect(sent.json.decisions).toMatchObject([{ function: "shop-draft-invoice", kind: "started" }]);
  await idem.idle();
  expect(await idem.runs.list({ function: "draft-invoice" })).toMatchObject([{ key: "9", state: "completed" }]);
  expect(JSON.stringify((await ask("/idem/api/audit")).json)).toContain("mira@shop.example");
});

test("a viewer looks and cannot act; whoever authorize does not know sees nothing, not even a page", async () => {
  const { idem, ask, post } = mounted({
    authorize: async (request) => (request.headers.get("x-user") === "viewer" ? "viewer" : null),
  });
  await idem.start();
  const { decisions } = await idem.send({ name: "approval/asked" });
  const cancel = `/idem/api/runs/${decisions[0]!.runId}/cancel`;
  const viewer = { "x-user": "viewer" };
  expect((await ask("/idem/api/session", { headers: viewer })).json).toMatchObject({ role: "viewer", csrf: null });
  expect((await post(cancel, { reason: "" }, viewer)).json).toMatchObject({ code: "FORBIDDEN_ROLE", status: 403 });
  for (const path of ["/idem/", "/idem/api/runs", "/idem/api/live", "/idem/nowhere", "/idem/api/openapi.json"]) {
    expect((await ask(path)).json).toMatchObject({ code: "DASHBOARD_REFUSED", status: 403 });
  }
  const page = await ask("/idem/", { headers: { accept: "text/html" } });
  expect([page.status, page.headers.get("content-type")]).toEqual([403, "text/plain; charset=utf-8"]);
  expect(["running", "waiting"]).toContain((await idem.runs.get(decisions[0]!.runId!))?.state);
});

test("an authorize that fails, or answers something else, lets nobody in, and its reason stays in the log", async () => {
  const failing = mounted({
    authorize: () => {
      throw new Error("the session table is gone");
    },
  });
  const answer = await failing.ask("/idem/api/runs");
  expect(answer.json).toMatchObject({ code: "SERVER_FAILED", status: 500 });
  expect(answer.text).not.toContain("session table");
  expect(failing.logged.join()).toContain("session table");
  const odd = mounted({ authorize: () => ({ role: "admin", name: "x" }) as never });
  expect((await odd.ask("/idem/api/runs")).status).toBe(403);
});

test("what belongs to a server of its own is refused with a reason, and nothing is done", async () => {
  const { post, ask } = mounted();
  const refused = [
    await post("/idem/api/apps", { url: "http://127.0.0.1:3000/api/inngest" }),
    await post("/idem/api/session", { password: "x" }),
    await post("/idem/e/any-key", { name: "placement/saved" }),
    await post("/idem/fn/register", {}),
    await ask("/idem/v1/events"),
  ];
  for (const { json } of refused) expect(json).toMatchObject({ code: "SERVER_ONLY", status: 501 });
});

test("another environment than the client's own is refused; a page that names none means that one", async () => {
  const { ask } = mounted(undefined, { env: "staging" });
  expect((await ask("/idem/api/status")).json).toMatchObject({ env: "staging" });
  expect((await ask("/idem/api/status?env=staging")).json).toMatchObject({ env: "staging" });
  expect((await ask("/idem/api/status?env=default")).json).toMatchObject({ code: "REQUEST_INVALID" });
});

test("pages hear what the engine commits as it happens", async () => {
  const { idem, raw } = mounted();
  await idem.start();
  const answer = await raw("/idem/api/live");
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const heard = digestThat(answer, ({ counts }) => counts.ended > 0);
  await idem.send({ name: "placement/saved", data: { placementId: 1 } });
  expect(await heard).toMatchObject({ counts: { ended: 1 } });
});

test("a stopped client's pages are told, and its store is not opened again behind its back", async () => {
  const store = sqliteFile();
  const { idem, raw, ask } = mounted(undefined, { store });
  await idem.start();
  const listening = await raw("/idem/api/live");
  await idem.stop();
  expect(await listening.text()).toContain("stopping");
  expect((await ask("/idem/api/runs")).json).toMatchObject({ code: "SERVER_BUSY", status: 503 });
  // The file is free: another process, or another client, may have it.
  const { idem: next } = shop({ store });
  await next.start();
  await next.stop();
  await idem.start();
  expect((await ask("/idem/api/runs")).status).toBe(200);
});

test("beside a client that is not started nothing is executed", async () => {
  const { idem, ask } = mounted();
  const { decisions } = await idem.send({ name: "placement/saved", data: { placementId: 3 } });
  expect((await ask("/idem/api/groups")).status).toBe(200);
  expect(await idem.runs.get(decisions[0]!.runId!)).toMatchObject({ state: "queued" });
});

test("options that cannot hold are refused at once", () => {
  const { idem } = shop();
  expect(() => idem.dashboard({ base: "/a b", dev: true })).toThrow("base");
  expect(() => idem.dashboard({ base: '/"><script>', dev: true })).toThrow("base");
  expect(() => idem.dashboard({ authorize: "operator" as never })).toThrow("authorize");
  expect(() => idem.dashboard({ dev: "yes" as never })).toThrow("dev");
  expect(() => idem.dashboard({ dev: true, authorize: () => "viewer" } as never)).toThrow("dev");
  const { idem: served } = shop({ store: undefined as never, server: "http://127.0.0.1:8288" });
  expect(() => served.dashboard({ dev: true })).toThrow("DASHBOARD_ELSEWHERE");
});

test("a body that is too large is refused before it is read to its end", async () => {
  const { ask } = mounted();
  const pull = vi.fn((controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(64 * 1024)));
  const body = new ReadableStream({ pull });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" } as RequestInit;
  expect((await ask("/idem/api/signals", init)).status).toBeGreaterThanOrEqual(400);
  expect(pull.mock.calls.length).toBeLessThan(10_000);
});

test("a viewer whose bodies never end keeps nobody out, neither operators nor probes, and is refused after 30 s", async () => {
  const platform = new ManualPlatform();
  const authorize = (request: Request) => (request.headers.get("x-role") === "viewer" ? "viewer" : "operator");
  const { raw, ask } = mounted({ authorize }, { platform });
  const begun = () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
    const headers = { "content-type": "application/json", "x-role": "viewer" };
    return raw("/idem/api/store/eventPage", { method: "POST", headers, body, duplex: "half" } as RequestInit);
  };
  const statuses: number[] = [];
  const slow = Array.from({ length: serverLimits.requestsInFlight + 100 }, () =>
    begun().then(({ status }) => void statuses.push(status)),
  );
  // At once: all of them are still being read.
  expect((await ask("/idem/health")).status).toBe(200);
  await expect.poll(async () => (await ask("/idem/api/status")).status).toBe(200);
  await platform.advance(30_000, async () => {});
  await Promise.all(slow);
  // Of those that came in one instant, the ones beyond the bound were told to come again.
  expect(new Set(statuses)).toEqual(new Set([400, 503]));
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(serverLimits.requestsInFlight - 10);
  expect((await ask("/idem/api/status")).status).toBe(200);
});
