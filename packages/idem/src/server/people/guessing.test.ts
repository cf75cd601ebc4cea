// Somebody who has the viewers' password and wants the operators', or wants to be in an operator's way; over HTTP, as `idem start` runs it.
import { expect, test } from "vitest";
import { type TestServer, testKeys, testServer } from "../test-server.suite.ts";

const passwords = { password: "open sesame tonight", viewerPassword: "look but not touch" };

const started = () =>
  testServer({ mode: "start", eventKeys: [testKeys.event], signingKeys: [testKeys.signing], ...passwords });

const signIn = (server: TestServer, password: string, known?: string) =>
  server.ask("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ password, ...(known === undefined ? {} : { known }) }),
  });

const asTool = (server: TestServer, password: string) =>
  server.ask("/api/runs?limit=1", { headers: { authorization: `Basic ${btoa(`me:${password}`)}` } });

const refusedIn = async (server: TestServer) =>
  (await (await server.world.engine("default")).store.reads.auditPage("default", { limit: 200 })).rows.filter(
    ({ action }) => action === "sign-in-refused",
  );

test("a right viewer password in between buys no guesses at the operators', by none of the ways a password is shown", async () => {
  for (const [guess, inBetween] of [
    [signIn, signIn],
    [asTool, asTool],
    [signIn, asTool],
    [asTool, signIn],
  ] as const) {
    const server = await started();
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) {
      statuses.push((await guess(server, `guess number ${i}`)).status);
      await inBetween(server, passwords.viewerPassword);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  }
});

test("words that a viewer's browsers are given buy no guesses at the operators' password", async () => {
  const server = await started();
  const words: string[] = [];
  for (let i = 0; i < 4; i++) words.push((await signIn(server, passwords.viewerPassword)).json.known);
  const statuses: number[] = [];
  for (const known of words) {
    for (let i = 0; i < 5; i++) statuses.push((await signIn(server, `guess ${i}`, known)).status);
    // Nor is the right one compared once there were five.
    statuses.push((await signIn(server, passwords.password, known)).status);
  }
  expect(statuses).toEqual([...Array(5).fill(401), ...Array(19).fill(429)]);
});

test("a viewer known by their browser gets in while their address is limited", async () => {
  const server = await started();
  const { known } = (await signIn(server, passwords.viewerPassword)).json;
  for (let i = 0; i < 5; i++) await signIn(server, `guess ${i}`);
  expect((await signIn(server, passwords.viewerPassword)).status).toBe(429);
  expect((await signIn(server, passwords.viewerPassword, known)).json).toMatchObject({ role: "viewer" });
  expect((await signIn(server, passwords.password, known)).status).toBe(429);
});

test("an operator known by their browser gets in while somebody with the viewers' password guesses from the same address", async () => {
  const server = await started();
  const { known } = (await signIn(server, passwords.password)).json;
  for (let i = 0; i < 10; i++) {
    await signIn(server, `guess ${i}`);
    await signIn(server, passwords.viewerPassword);
  }
  expect((await signIn(server, passwords.password)).status).toBe(429);
  expect((await signIn(server, passwords.password, known)).json).toMatchObject({ role: "operator" });
});

test("every guess is in the audit: some by themselves, the rest as a number, and what was guessed is not", async () => {
  const server = await started();
  for (let i = 0; i < 40; i++) await signIn(server, `guess number ${i}`);
  await server.world.people.close();
  const rows = await refusedIn(server);
  expect(rows.map(({ reason }) => reason).reverse()).toEqual([
    ...[1, 2, 3, 4, 5].map((n) => `wrong password, try ${n} of 5`),
    "0 more wrong passwords and 35 tries over the bound since the last note: 127.0.0.1 (35)",
  ]);
  expect(JSON.stringify(rows)).not.toContain("guess");
});

test("a viewer who signs in over and over ends no session of an operator, and is bounded", async () => {
  const server = await started();
  const operator = await signIn(server, passwords.password);
  const cookie = operator.headers.get("set-cookie")!.split(";")[0]!;
  const statuses: number[] = [];
  for (let i = 0; i < 120; i++) statuses.push((await signIn(server, passwords.viewerPassword)).status);
  expect((await server.ask("/api/session", { headers: { cookie } })).json).toMatchObject({ role: "operator" });
  expect(statuses.filter((status) => status === 200)).toHaveLength(60);
  expect(statuses.filter((status) => status === 429)).toHaveLength(60);
});
