// Permission to open an environment, and to hear of one.
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { storeCommandsOf } from "./beside/store-commands.ts";
import { serverLimits } from "./limits.ts";
import { type TestServer, testServer } from "./test-server.suite.ts";

const signingKey = (digit: string) => `signkey-prod-${digit}f2a9c0e7b1d8356af03c9e2517bd864`;
const eventKey = (name: string) => `event-key-of-${name}-0123456789abcdef`;
const passwords = { password: "an operator's long words", viewerPassword: "a viewer's long words" };
const settings = {
  mode: "start",
  eventKeys: [eventKey("default"), `staging=${eventKey("staging")}`, `late=${eventKey("late")}`],
  signingKeys: [signingKey("a"), `staging=${signingKey("b")}`, `late=${signingKey("c")}`],
  ...passwords,
} as const;

const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`x:${password}`).toString("base64")}` });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const namesOf = (server: TestServer) => [...server.world.engines.keys()].sort();

test("whoever looks opens nothing, however many environments they name, and those with keys stay reachable", async () => {
  const server = await testServer(settings);
  const before = namesOf(server);
  const viewer = { headers: basic(passwords.viewerPassword) };
  const paths = ["/api/status", "/api/groups", "/api/runs", "/api/keys", "/api/live", "/metrics", "/api/apps"];
  for (let i = 0; i < serverLimits.environments + 10; i++) {
    const answer = await server.ask(`${paths[i % paths.length]}?env=zz${i}`, viewer);
    expect(answer.status).toBe(404);
    expect(answer.json.code).toBe("ENV_UNKNOWN");
  }
  expect(namesOf(server)).toEqual(before);
  expect((await server.ask("/api/status?env=late", viewer)).status).toBe(200);
  expect((await server.ask(`/e/${eventKey("late")}`, json({ name: "a/b" }))).status).toBe(200);
});

test("in dev reading opens nothing either, by no way of naming an environment", async () => {
  const server = await testServer();
  const named = { headers: { "x-inngest-env": "nobody" } };
  for (const path of ["/api/status", "/v1/events", "/v1/apps/shop/functions", "/api/runs", "/api/live"]) {
    expect((await server.ask(path, named)).status).toBe(404);
  }
  // Here SDKs look for a server, before there is anything in their environment.
  expect((await server.ask("/dev", named)).json).toMatchObject({ functions: [], handlers: [] });
  expect((await server.ask("/health", named)).status).toBe(200);
  expect(namesOf(server)).toEqual(["default"]);
  expect((await server.ask("/e/any", json({ name: "a/b" }, named.headers))).status).toBe(200);
  expect((await server.ask("/api/status", named)).json).toMatchObject({ env: "nobody" });
});

test("environments with keys keep their places in a full house, and one more is 503", async () => {
  const server = await testServer(settings);
  const operator = basic(passwords.password);
  const answers: number[] = [];
  for (let i = 0; i < serverLimits.environments; i++) {
    const asked = json({ data: {} }, { ...operator, "x-inngest-env": `made${i}` });
    answers.push((await server.ask("/api/functions/none/invoke", asked)).status);
  }
  expect(answers.at(-1)).toBe(503);
  expect(server.world.engines.size).toBeLessThanOrEqual(serverLimits.environments);
  expect((await server.ask(`/e/${eventKey("late")}`, json({ name: "a/b" }))).status).toBe(200);
});

test("an environment of a store that was made before is known after a restart, with or without functions", async () => {
  const store = new MemoryStore(nodePlatform);
  const first = await testServer({}, { store });
  await first.ask("/e/any", json({ name: "a/b" }, { "x-inngest-env": "branch" }));
  await first.close();
  const server = await testServer({}, { store });
  const { json: listed } = await server.ask("/api/events?env=branch");
  expect(listed.events).toHaveLength(1);
});

test("a signing key hears of its own environment and of no other: metrics, status, apps, functions", async () => {
  const server = await testServer(settings);
  await server.define("secret-of-default", { event: "a/b" }, () => null);
  for (const name of ["default", "staging", "late"]) {
    expect((await server.ask(`/e/${eventKey(name)}`, json({ name: "a/b" }))).status).toBe(200);
  }
  await (await server.world.engine("default")).idle();
  const staging = { headers: bearer(signingKey("b")) };
  const metrics = (await server.ask("/metrics", staging)).text;
  const environments = (text: string) => new Set([...text.matchAll(/[{,]env="([^"]*)"/g)].map(([, env]) => env));
  expect(environments(metrics)).toEqual(new Set(["staging"]));
  expect(metrics).toContain('idem_events_accepted_total{env="staging"} 1');
  expect(metrics).toContain("idem_http_under_way");
  expect(metrics).not.toContain("secret-of-default");
  // Durations of steps of others are theirs as well.
  expect(metrics).not.toMatch(/^idem_(step|cron_late)_seconds_count(?!\{env="staging")/m);
  const whole = (await server.ask("/metrics", { headers: basic(passwords.password) })).text;
  expect(environments(whole)).toEqual(new Set(["default", "staging", "late"]));
  // Also where it names another one.
  for (const path of ["/api/status", "/api/status?env=default", "/api/functions?env=default", "/api/apps?env=late"]) {
    const { status, text } = await server.ask(path, staging);
    expect(status).toBe(200);
    expect(text).not.toMatch(/default|late|secret/);
  }
});

test("a signing key hears of its own environment's leases, and nothing about the whole store from its doctor", async () => {
  const server = await testServer(settings);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  await server.define("busy", { event: "a/b" }, () => ended);
  const begun = await server.ask(`/e/${eventKey("default")}`, json([{ name: "a/b" }, { name: "a/b" }]));
  expect(begun.status).toBe(200);
  const leasedFor = async (headers: Record<string, string>) => {
    const { workers } = (await server.ask("/api/workers", { headers })).json;
    const { answer } = (await server.ask("/api/store/workers", json({ input: [] }, headers))).json;
    const sum = (rows: { leased: number }[]) => rows.reduce((all, { leased }) => all + leased, 0);
    return [sum(workers), sum(answer)];
  };
  expect(await leasedFor(basic(passwords.password))).toEqual([2, 2]);
  expect(await leasedFor(bearer(signingKey("a")))).toEqual([2, 2]);
  expect(await leasedFor(bearer(signingKey("b")))).toEqual([0, 0]);
  end();

  const asked = vi.spyOn(storeCommandsOf(server.world), "ask").mockResolvedValue(null);
  const id = "an-id-of-mine";
  await server.ask("/api/doctor", json({ id }, basic(passwords.password)));
  await server.ask("/api/doctor", json({ id }, bearer(signingKey("b"))));
  const [operator, key] = asked.mock.calls;
  expect(operator![2]).not.toContain("--environment-only");
  expect(key![2]).toContain("--environment-only");
  // Whoever has the key is not answered with what the operator's command found under the same id.
  expect(operator!.slice(0, 2)).not.toEqual(key!.slice(0, 2));
});

test.each([
  ["an image", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }, "/api/groups?cel=true"],
  ["a script", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }, "/health"],
  ["a frame", { "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }, "/runs"],
  ["a link to data", { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, "/api/groups?cel=true"],
  ["a fetch", { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty", origin: "https://evil.example" }, "/api/runs"],
])("in dev %s of another site's page is refused before anything is read for it", async (_name, said, path) => {
  const server = await testServer();
  const { status, body } = await browse(server, path, { "sec-fetch-site": "cross-site", ...said });
  expect([status, JSON.parse(body).code]).toEqual([403, "ORIGIN_REFUSED"]);
});

test("in dev a link of another site leads to a page, tools are not asked, and a page of this machine reads", async () => {
  const server = await testServer();
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const beside = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", origin: "http://127.0.0.1:3000" };
  expect((await browse(server, "/runs", link)).status).toBe(200);
  expect((await browse(server, "/api/runs", {})).status).toBe(200);
  expect((await browse(server, "/api/runs", { "sec-fetch-site": "same-origin" })).status).toBe(200);
  expect((await browse(server, "/api/runs", beside)).status).toBe(200);
});

/** As a browser asks: Node's own fetch says what it likes in these headers. */
const browse = (server: TestServer, path: string, headers: Record<string, string>) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    get(`${server.origin}${path}`, { headers, agent: false }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode!, body }), reject);
    }).on("error", reject);
  });
