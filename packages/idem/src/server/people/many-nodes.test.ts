// People of a server that is several nodes over one PostgreSQL: they sign in at one and are known at all.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { type TestServer, testKeys, testServer } from "../test-server.suite.ts";

let postgres: PostgresDatabase;
beforeAll(async () => {
  postgres = await postgresDatabase();
});
afterAll(() => postgres.remove());

const nodeIn = (schema: string) =>
  testServer({
    mode: "start",
    eventKeys: [testKeys.event],
    signingKeys: [testKeys.signing],
    store: `${postgres.url}?schema=${schema}&pool=4`,
  });

const signIn = (node: TestServer, password: string) =>
  node.ask("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ password }),
  });

test("nodes that start together make one secret; who signs in at one is known at the other, and signs out of both", async () => {
  const nodes = await Promise.all([nodeIn("people"), nodeIn("people")]);
  const secrets = nodes.map(({ newSecret }) => newSecret).filter((secret) => secret !== null);
  expect(secrets).toHaveLength(1);
  const [here, there] = nodes as [TestServer, TestServer];
  const signed = await signIn(here, secrets[0]!);
  const cookie = signed.headers.get("set-cookie")!.split(";")[0]!;
  const known = await there.ask("/api/session", { headers: { cookie } });
  expect(known).toMatchObject({ status: 200, json: { role: "operator", actor: signed.json.actor } });
  // The page was opened from one node, and acts through the other.
  expect(known.json.csrf).toBe(signed.json.csrf);
  const headers = { cookie, origin: there.origin, "x-idem-csrf": signed.json.csrf };
  expect((await there.ask("/api/session", { method: "DELETE", headers })).json).toEqual({ signedOut: true });
  expect((await here.ask("/api/session", { headers: { cookie } })).status).toBe(401);
  const bearer = { authorization: `Bearer ${testKeys.signing}` };
  const { json } = await here.ask("/api/audit", { headers: bearer });
  expect(json.entries.map(({ action, actor }: any) => [action, actor])).toEqual([
    ["sign-out", signed.json.actor],
    ["sign-in", signed.json.actor],
    ["change-setting", expect.stringMatching(/^cli on /)],
  ]);
});
