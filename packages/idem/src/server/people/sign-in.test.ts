// Signing in over HTTP: each way in, and each way of being refused, on a server as `idem start` runs it.
import { describe, expect, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { type TestServer, testKeys, testServer } from "../test-server.suite.ts";
import type { ServerSettings } from "../world.ts";

const { signing: signingKey, otherSigning } = testKeys;
const keys = {
  mode: "start" as const,
  eventKeys: [testKeys.event],
  signingKeys: [signingKey, `staging=${otherSigning}`],
};
const passwords = { password: "open sesame tonight", viewerPassword: "look but not touch" };
const jsonHeaders = { "content-type": "application/json" };

const started = (over: Partial<ServerSettings> = {}, store = new MemoryStore(nodePlatform)) =>
  testServer({ ...keys, ...passwords, ...over }, { store });

const signIn = (server: TestServer, password: string, headers: Record<string, string> = {}) =>
  server.ask("/api/session", {
    method: "POST",
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify({ password }),
  });

/** Requests of a browser with the cookie, from a page of the server itself. */
async function signedIn(server: TestServer, password = passwords.password) {
  const answer = await signIn(server, password);
  expect(answer.status).toBe(200);
  const cookie = answer.headers.get("set-cookie")!.split(";")[0]!;
  const headers = { ...jsonHeaders, cookie, origin: server.origin, "x-idem-csrf": answer.json.csrf as string };
  const act = (over: Record<string, string | undefined> = {}, path = "/api/signals", method = "POST") =>
    server.ask(path, {
      method,
      headers: Object.fromEntries(
        Object.entries({ ...headers, ...over }).filter((pair): pair is [string, string] => pair[1] !== undefined),
      ),
      ...(method === "GET" ? {} : { body: path === "/api/signals" ? '{"signal":"nobody"}' : "{}" }),
    });
  return { cookie, csrf: answer.json.csrf as string, act };
}

const audited = async (server: TestServer) =>
  (await (await server.world.engine("default")).store.reads.auditPage("default", { limit: 50 })).rows;

describe("a person who signs in", () => {
  test("is given a cookie that no script reads and no other site sends, and may act", async () => {
    const server = await started();
    const answer = await signIn(server, passwords.password);
    expect(answer).toMatchObject({ status: 200, json: { role: "operator", csrf: expect.any(String) } });
    const cookie = answer.headers.get("set-cookie")!;
    expect(cookie).toMatch(/^idem_session=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/);
    const { act } = await signedIn(server);
    expect(await act()).toMatchObject({ status: 200, json: { runId: null } });
    expect(await act({}, "/api/runs", "GET")).toMatchObject({ status: 200 });
  });

  test("is told who they are, until when, and what to send along", async () => {
    const server = await started();
    const { act, csrf } = await signedIn(server, passwords.viewerPassword);
    const { json } = await act({ "x-idem-csrf": undefined, origin: undefined }, "/api/session", "GET");
    expect(json).toMatchObject({ role: "viewer", actor: expect.stringMatching(/^viewer session \w{6}$/), csrf });
    expect(json.endsAt - json.startedAt).toBeGreaterThan(3_600_000);
    expect((await server.ask("/api/session")).status).toBe(401);
  });

  test("has a cookie for https only where the page came that way, or where the server is told so", async () => {
    const server = await started();
    const given = async (from: TestServer, headers: Record<string, string>) =>
      (await signIn(from, passwords.password, headers)).headers.get("set-cookie")!;
    const forHttps = /^__Host-idem_session=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200; Secure$/;
    expect(await given(server, {})).toMatch(/^idem_session=.*Max-Age=43200$/);
    const cookie = await given(server, { "x-forwarded-proto": "https" });
    expect(cookie).toMatch(forHttps);
    expect((await server.ask("/api/session", { headers: { cookie: cookie.split(";")[0]! } })).status).toBe(200);
    expect(await given(await started({ secureCookies: true }), {})).toMatch(forHttps);
  });

  test("is not made somebody else by a cookie that a sibling domain put beside theirs", async () => {
    const server = await started();
    const cookieOf = async (password: string, headers: Record<string, string> = {}) =>
      (await signIn(server, password, headers)).headers.get("set-cookie")!.split(";")[0]!;
    const planted = await cookieOf(passwords.viewerPassword);
    const own = await cookieOf(passwords.password, { "x-forwarded-proto": "https" });
    for (const cookie of [`${planted}; ${own}`, `${own}; ${planted}`]) {
      expect((await server.ask("/api/session", { headers: { cookie } })).json).toMatchObject({ role: "operator" });
    }
    // Where cookies are for https only, the other kind is nobody's.
    const strict = await started({ secureCookies: true });
    const [, token] = (await signIn(strict, passwords.password)).headers.get("set-cookie")!.split(/[=;]/);
    expect((await strict.ask("/api/session", { headers: { cookie: `__Host-idem_session=${token}` } })).status).toBe(
      200,
    );
    expect((await strict.ask("/api/session", { headers: { cookie: `idem_session=${token}` } })).status).toBe(401);
  });

  test("is known to every node of the store, and to a node that was restarted", async () => {
    const store = new MemoryStore(nodePlatform);
    const first = await started({}, store);
    const { cookie } = await signedIn(first);
    await first.close({ graceMs: 0 });
    const second = await started({}, store);
    const asked = await second.ask("/api/session", { headers: { cookie } });
    expect(asked).toMatchObject({ status: 200, json: { role: "operator" } });
    const changed = await started({ password: "another of them" }, store);
    expect((await changed.ask("/api/session", { headers: { cookie } })).status).toBe(401);
  });

  test("signs out on every node at once, a viewer too", async () => {
    const store = new MemoryStore(nodePlatform);
    const [here, there] = [await started({}, store), await started({}, store)];
    const { act, cookie } = await signedIn(here, passwords.viewerPassword);
    const out = await act({}, "/api/session", "DELETE");
    expect(out).toMatchObject({ status: 200, json: { signedOut: true } });
    expect(out.headers.get("set-cookie")).toMatch(/^idem_session=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/);
    for (const server of [here, there]) {
      const answer = await server.ask("/api/runs", { headers: { cookie } });
      expect(answer).toMatchObject({ status: 401, json: { code: "UNAUTHORIZED" } });
    }
  });

  test("has one session in a browser: signing in again ends the one before", async () => {
    const server = await started();
    const { cookie } = await signedIn(server);
    const again = await signIn(server, passwords.viewerPassword, { cookie });
    expect(again.json.role).toBe("viewer");
    expect((await server.ask("/api/session", { headers: { cookie } })).status).toBe(401);
  });

  test("is asked again once the session has ended", async () => {
    const store = new MemoryStore(nodePlatform);
    const server = await started({}, store);
    const { act } = await signedIn(server);
    const [setting] = await store.reads.settings("default", "session");
    const kept = JSON.parse(setting!.value);
    const threeHoursAgo = JSON.stringify({ ...kept, seenAt: kept.seenAt - 3 * 3_600_000 });
    await store.set({ ...setting!, env: "default", value: threeHoursAgo, over: null, reason: null });
    expect(await act({}, "/api/runs", "GET")).toMatchObject({ status: 401 });
    expect(await act()).toMatchObject({ status: 401, json: { detail: expect.stringContaining("session has ended") } });
  });
});

describe("refused is", () => {
  test("a wrong password, with how many tries are left, then for a minute whatever is tried", async () => {
    const server = await started();
    const details: string[] = [];
    for (let i = 0; i < 5; i++) {
      const answer = await signIn(server, `guess ${i}`);
      expect([answer.status, answer.json.code]).toEqual([401, "SIGN_IN_REFUSED"]);
      expect(answer.headers.get("set-cookie")).toBeNull();
      details.push(answer.json.detail);
    }
    expect(details[0]).toBe("Wrong password. 4 tries left, then wait 1 minute");
    expect(details[3]).toBe("Wrong password. 1 try left, then wait 1 minute");
    expect(details[4]).toBe("Wrong password. Wait 1 minute before the next try");
    const limited = await signIn(server, passwords.password);
    expect([limited.status, limited.json.code]).toEqual([429, "SIGN_IN_LIMITED"]);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(50);
    // The other way to show a password is no way around.
    const authorization = `Basic ${btoa(`me:${passwords.password}`)}`;
    expect((await server.ask("/api/runs", { headers: { authorization } })).status).toBe(429);
    // A signing key is nothing one could guess, and its tools go on.
    const bearer = { authorization: `Bearer ${signingKey}` };
    expect((await server.ask("/api/runs", { headers: bearer })).status).toBe(200);
  });

  test("not who got in before with the same browser, while others guess from the same address", async () => {
    const server = await started();
    const { known } = (await signIn(server, passwords.password)).json;
    for (let i = 0; i < 5; i++) await signIn(server, `guess ${i}`);
    expect((await signIn(server, passwords.password)).status).toBe(429);
    const shown = (word: string) =>
      server.ask("/api/session", {
        method: "POST",
        headers: jsonHeaders,
        body: JSON.stringify({ password: passwords.password, known: word }),
      });
    expect((await shown(`${known}x`)).status).toBe(429);
    expect((await shown(known)).status).toBe(200);
    // It is no key: without the password it opens nothing.
    const headers = { cookie: `idem_session=${known}`, authorization: `Bearer ${known}` };
    expect((await server.ask("/api/runs", { headers })).status).toBe(401);
  });

  test("a guess that is made at the same time as others counts like one made after them", async () => {
    const server = await started();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => signIn(server, `guess ${i}`)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  test("a change without the session's csrf, or with another's", async () => {
    const server = await started();
    const { act } = await signedIn(server);
    const other = await signedIn(server);
    for (const csrf of [undefined, "", "x", other.csrf]) {
      const answer = await act({ "x-idem-csrf": csrf });
      expect([csrf, answer.status, answer.json.code]).toEqual([csrf, 403, "CSRF_REFUSED"]);
    }
    // Looking needs none: no page of another site can read the answer.
    expect((await act({ "x-idem-csrf": undefined, origin: undefined }, "/api/runs", "GET")).status).toBe(200);
  });

  test("a change from a page of another site, or from one that does not say which it is", async () => {
    const server = await started();
    const { act } = await signedIn(server);
    for (const origin of ["https://evil.example", "null", undefined, server.origin.replace("127.0.0.1", "localhost")]) {
      const answer = await act({ origin });
      expect([origin, answer.status, answer.json.code]).toEqual([origin, 403, "ORIGIN_REFUSED"]);
    }
    const login = await signIn(server, passwords.password, { origin: "https://evil.example" });
    expect([login.status, login.headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("a viewer who acts, by cookie and by password", async () => {
    const server = await started();
    const { act } = await signedIn(server, passwords.viewerPassword);
    const refused = { status: 403, json: { code: "FORBIDDEN_ROLE" } };
    expect(await act()).toMatchObject(refused);
    expect(await act({}, "/api/runs", "GET")).toMatchObject({ status: 200 });
    expect(await act({}, "/api/audit", "GET")).toMatchObject({ status: 200 });
    const headers = { ...jsonHeaders, authorization: `Basic ${btoa(`me:${passwords.viewerPassword}`)}` };
    expect((await server.ask("/api/runs", { headers })).status).toBe(200);
    const answer = await server.ask("/api/signals", { method: "POST", headers, body: '{"signal":"x"}' });
    expect(answer).toMatchObject(refused);
    expect(answer.json.detail).toBe("Your role, viewer, can look but not act");
  });

  test("a session where apps show a signing key, or senders an event key", async () => {
    const server = await started();
    const { act } = await signedIn(server);
    expect((await act({}, "/v1/events", "GET")).status).toBe(401);
    expect((await act({}, "/fn/register", "POST")).status).toBe(401);
    expect((await act({}, "/e/wrong", "POST")).status).toBe(401);
  });

  test("a cookie nobody was given, whatever is in it", async () => {
    const server = await started();
    for (const value of ["", "x", "A".repeat(43), "A".repeat(5_000), "%00", '"; drop table']) {
      const answer = await server.ask("/api/runs", { headers: { cookie: `idem_session=${value}` } });
      expect([value, answer.status]).toEqual([value, 401]);
    }
  });
});

test("a page's own code that is not signed in gets no dialog from the browser, a person who types the address does", async () => {
  const server = await started();
  const challenge = async (headers: Record<string, string>) =>
    (await server.ask("/api/runs", { headers })).headers.get("www-authenticate");
  expect(await challenge({ "sec-fetch-site": "same-origin" })).toBe('Session realm="idem"');
  expect(await challenge({})).toBe('Basic realm="idem"');
});

test("who signed in, who did not, and who acted is in the audit, and no password ever is", async () => {
  const server = await started();
  await signIn(server, "my dog's name");
  const { act } = await signedIn(server);
  await server.define("pay", { event: "order/paid" }, () => 1);
  await act({}, "/api/functions/test-pay/pause", "POST");
  const bearer = { ...jsonHeaders, authorization: `Bearer ${otherSigning}` };
  await server.ask("/api/apps", { method: "POST", headers: bearer, body: '{"url":"http://127.0.0.1:1/"}' });
  await act({}, "/api/session", "DELETE");
  const rows = await audited(server);
  const mark = rows.find(({ action }) => action === "sign-in")!.actor;
  expect(mark).toMatch(/^operator session [0-9a-f]{6}$/);
  expect(rows.map(({ actor, action, subject }) => [action, actor, subject])).toEqual([
    ["sign-out", mark, ""],
    ["pause-function", mark, "test-pay"],
    ["sign-in", mark, "127.0.0.1"],
    ["sign-in-refused", "", "127.0.0.1"],
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/dog|sesame/);
  expect(server.logged.map(({ text }) => text).join()).not.toMatch(/dog|sesame/);
});

test("without a password the first start makes a secret, shows it once, and it lets in; the next start shows none", async () => {
  const store = new MemoryStore(nodePlatform);
  const first = await testServer(keys, { store });
  const secret = first.newSecret!;
  expect(secret).toMatch(/^[2-9a-z-]{39}$/);
  expect((await signIn(first, "wrong")).status).toBe(401);
  const { cookie } = await signedIn(first, secret);
  const everything = JSON.stringify([await store.reads.settings("default", "operator-secret"), await audited(first)]);
  expect(everything).not.toContain(secret);
  expect(first.logged.map(({ text }) => text).join()).not.toContain(secret);
  const second = await testServer(keys, { store });
  expect(second.newSecret).toBeNull();
  expect((await second.ask("/api/session", { headers: { cookie } })).status).toBe(200);
  const renewed = await testServer({ ...keys, newSecret: true }, { store });
  expect(renewed.newSecret).not.toBe(secret);
  // On every node: the old secret and the sessions it opened are over.
  expect((await second.ask("/api/session", { headers: { cookie } })).status).toBe(401);
  expect((await signIn(second, secret)).status).toBe(401);
  await signedIn(second, renewed.newSecret!);
});

test("two roles with one password, and a new secret beside a password, are refused before anything is opened", async () => {
  const start = (over: Partial<ServerSettings>) => testServer({ ...keys, ...over });
  await expect(start({ password: "same for both", viewerPassword: "same for both" })).rejects.toThrow(/viewerPassword/);
  await expect(start({ password: "set by somebody", newSecret: true })).rejects.toThrow(/newSecret/);
});

test("dev asks nobody: everybody is its operator, and no cookie is given", async () => {
  const server = await testServer();
  expect(await server.ask("/api/session")).toMatchObject({
    status: 200,
    json: { role: "operator", actor: "dev", csrf: null, endsAt: null },
  });
  expect((await signIn(server, "anything")).headers.get("set-cookie")).toBeNull();
});

test("every answer for people tells browsers that nothing of it is code, may be framed, guessed at or kept", async () => {
  const server = await started();
  const { cookie } = await signedIn(server);
  const paths = ["/api/runs", "/api/audit?format=csv", "/api/unknown", "/metrics", "/docs/errors/RUN_UNKNOWN"];
  for (const path of paths) {
    for (const headers of [{ cookie }, {}] as Record<string, string>[]) {
      const answer = await server.ask(path, { headers });
      expect([path, Object.fromEntries(answer.headers)]).toMatchObject([
        path,
        {
          "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
          "referrer-policy": "no-referrer",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
        },
      ]);
    }
  }
});

test("the audit is read a page at a time, and as CSV in which no cell is a formula", async () => {
  const server = await started();
  const { act } = await signedIn(server);
  const { store } = await server.world.engine("default");
  const entry = { env: "default", action: "cancel-run" as const, actor: "password" };
  await store.audit({ ...entry, subject: "run-1", reason: '=1+1,"x"' });
  await store.audit({ ...entry, subject: "run-2", reason: "two\nlines" });
  const first = await act({}, "/api/audit?limit=2", "GET");
  expect(first.json.entries.map(({ subject }: any) => subject)).toEqual(["run-2", "run-1"]);
  const rest = await act({}, `/api/audit?limit=2&before=${encodeURIComponent(first.json.next)}`, "GET");
  expect(rest.json).toMatchObject({ entries: [{ action: "sign-in" }], next: null });
  const csv = await act({ accept: "text/csv" }, "/api/audit?limit=2", "GET");
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(decodeURIComponent(csv.headers.get("x-idem-next")!)).toBe(first.json.next);
  const [head, ...lines] = csv.text.split("\r\n");
  expect(head).toBe("time,actor,action,subject,reason");
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,password,cancel-run,run-2,"two\nlines"$/);
  expect(lines[1]).toMatch(/,run-1,"'=1\+1,""x"""$/);
});
