import { expect, test } from "vitest";
import { canonicalJson } from "../model/json.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { signatureHeader, signRequest } from "../protocol/request-signature.ts";
import { callBody, classic, origin, servedWorld } from "../serve/served-world.suite.ts";
import type { Adapter } from "./sql/adapter.ts";
import { eachDatabase } from "./sql/databases.suite.ts";
import { type SqlCalls, sqlCalls } from "./sql-calls.ts";

const key = "4f2a9c0e7b1d8356af03c9e2517bd864";
const url = `${origin}?fnId=shop-pay&stepId=step`;

let seeds = 0;
const callsIn = (adapter: Adapter<unknown>) => sqlCalls(adapter, { platform: new ManualPlatform({ seed: ++seeds }) });

/** One process of the app. */
function app(seenCalls: SqlCalls, executed: string[]) {
  const world = servedWorld({ client: { signingKey: key }, serve: { dev: false, seenCalls } });
  world.idem.createFunction({ id: "pay" }, { event: "test/go" }, ({ event }) => {
    executed.push("pay");
    return event.data.echo ?? "paid";
  });
  const deliver = (body: string, signature: string) =>
    world.send(new Request(url, { method: "POST", headers: { [signatureHeader]: signature }, body }));
  return { ...world, deliver };
}

eachDatabase((open) => {
  test("a call that one process executes is executed by no other that shares its database", async () => {
    const db = await open();
    const executed: string[] = [];
    const apps = [db.adapter, db.another(), db.another()].map((adapter) => app(callsIn(adapter), executed));
    const body = canonicalJson(callBody({ ctx: classic }));
    const signature = signRequest(body, key, apps[0]!.platform.wallMs());
    const answers = await Promise.all(apps.map(({ deliver }) => deliver(body, signature)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    for (const { deliver } of apps)
      expect((await deliver(body, signature.toUpperCase().replace("T=", "t=").replace("&S=", "&s="))).status).toBe(409);
    expect(executed).toEqual(["pay"]);
  });

  test("what one process signed as its answer is no call to another", async () => {
    const db = await open();
    const executed: string[] = [];
    const [one, other] = [app(callsIn(db.adapter), executed), app(callsIn(db.another()), executed)];
    const echo = callBody({ ctx: classic, event: { data: { echo: "forged" } } });
    const body = canonicalJson(callBody({ ctx: classic, event: { data: { echo } } }));
    const answer = await one.deliver(body, signRequest(body, key, one.platform.wallMs()));
    expect(answer.status).toBe(200);
    expect((await other.deliver(answer.text, answer.headers.get(signatureHeader)!)).status).toBe(409);
    expect(executed).toEqual(["pay"]);
  });

  test("claims go once no signature of theirs can hold, and not before", async () => {
    const db = await open();
    const platform = new ManualPlatform({ seed: ++seeds });
    const calls = sqlCalls(db.adapter, { platform });
    const rows = async () => Number((await db.rows("select count(*) as n from idem_claims where scope = 'call'"))[0].n);
    expect([await calls.claim("a"), await calls.claim("a")]).toEqual([true, false]);
    await db.age("idem_claims", 10 * 60_000);
    expect(await callsIn(db.another()).claim("a")).toBe(false);
    await db.age("idem_claims", 2 * 60_000);
    await platform.advance(60_000, async () => {});
    expect(await calls.claim("b")).toBe(true);
    await expect.poll(rows).toBe(1);
  });
});

test("a database that does not answer executes nothing, and costs no attempt", async () => {
  const executed: string[] = [];
  const { deliver, platform } = app({ claim: () => Promise.reject(new Error("connection lost")) }, executed);
  const body = canonicalJson(callBody({ ctx: classic }));
  const answer = await deliver(body, signRequest(body, key, platform.wallMs()));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect([...answer.headers.keys()].filter((name) => name.startsWith("x-inngest"))).toEqual([]);
  expect(executed).toEqual([]);
});
