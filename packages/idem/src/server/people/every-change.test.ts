// Everything that changes something, route by route from the table itself: a new one is asked the same.
import { expect, test } from "vitest";
import { routes } from "../routes.ts";
import { type TestServer, testKeys, testServer } from "../test-server.suite.ts";

const passwords = { password: "open sesame tonight", viewerPassword: "look but not touch" };
const changes = routes.filter(({ method }) => method !== "GET");
const pathOf = (path: string) => path.replaceAll(/:\w+\*?/g, "x");

async function signedIn(server: TestServer, password: string) {
  const body = JSON.stringify({ password });
  const headers = { "content-type": "application/json" };
  const answer = await server.ask("/api/session", { method: "POST", headers, body });
  return { cookie: answer.headers.get("set-cookie")!.split(";")[0]!, "x-idem-csrf": answer.json.csrf as string };
}

test("no route that changes something takes a session's cookie without its csrf and its own page, nor from a viewer", async () => {
  const server = await testServer({
    mode: "start",
    eventKeys: [testKeys.event],
    signingKeys: [testKeys.signing],
    ...passwords,
  });
  const operator = await signedIn(server, passwords.password);
  const viewer = await signedIn(server, passwords.viewerPassword);
  const own = { origin: server.origin };
  const { cookie } = operator;
  const forPeople = changes.filter(({ access }) => access === "operator");
  expect(forPeople.length).toBeGreaterThan(20);
  for (const { method, path, viewerMay } of forPeople) {
    const ask = async (headers: Record<string, string>) => {
      const init = { method, headers: { "content-type": "application/json", ...headers }, body: "{}" };
      return (await server.ask(pathOf(path), init)).json.code;
    };
    expect([
      path,
      await ask({ cookie, ...own }),
      await ask({ cookie, ...own, "x-idem-csrf": viewer["x-idem-csrf"] }),
      await ask(operator),
      await ask({ ...operator, origin: "https://evil.example" }),
      await ask({ ...operator, origin: "null" }),
      viewerMay === true ? "FORBIDDEN_ROLE" : await ask({ ...viewer, ...own }),
      await ask({}),
    ]).toEqual([
      path,
      "CSRF_REFUSED",
      "CSRF_REFUSED",
      "ORIGIN_REFUSED",
      "ORIGIN_REFUSED",
      "ORIGIN_REFUSED",
      "FORBIDDEN_ROLE",
      "UNAUTHORIZED",
    ]);
  }
  // Routes that are not for people take no cookie at all, but for signing in.
  for (const { method, path, access } of changes.filter(
    (each) => !["operator", "open", "sign-in"].includes(each.access),
  )) {
    const headers = { "content-type": "application/json", ...operator, ...own };
    const { status } = await server.ask(pathOf(path), { method, headers, body: "{}" });
    expect([path, access, status]).toEqual([path, access, 401]);
  }
});

test("in dev no page of another site has anything changed, by any route", async () => {
  const server = await testServer();
  expect(changes.length).toBeGreaterThan(30);
  for (const { method, path } of changes) {
    for (const origin of ["https://evil.example", "null", "http://evil.localhost.example"]) {
      // As a form or a script without leave sends it: no browser asks first.
      const headers = { "content-type": "text/plain", origin };
      const { status, json } = await server.ask(pathOf(path), { method, headers, body: "{}" });
      expect([method, path, origin, status, json.code]).toEqual([method, path, origin, 403, "ORIGIN_REFUSED"]);
    }
  }
});
