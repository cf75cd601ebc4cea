// Keys and signatures (docs/reference/wire.md#keys): `idem start` and the SDK in cloud mode.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { signatureOf, signed } from "./signed.ts";
import type { Exchange, Reply } from "./wire.ts";
import { keys, World } from "./world.ts";

const app: HostedApp = { id: "shop", adapter: "node", functions: ["traces", "tools"] };
const otherKey = "signkey-prod-91c7e04b6da2f385d8027fb1c45e639a";

describe("signatures", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode: "start", apps: [app] });
  });
  afterAll(() => world?.close());

  const fiveMinutes = 5 * 60_000;
  const without =
    (...names: string[]) =>
    (real: Reply): Reply => ({
      ...real,
      headers: Object.fromEntries(Object.entries(real.headers).filter(([name]) => !names.includes(name))),
    });
  const forged: readonly [string, (real: Reply) => Reply, RegExp][] = [
    ["not signed", without("x-inngest-signature"), /signed/],
    ["not signed and from no SDK by name", without("x-inngest-signature", "x-inngest-sdk"), /signed|no app/],
    ["signed with another key", (real) => signed(real, otherKey, Date.now()), /another key/],
    ["signed too long ago", (real) => signed(real, keys.signing, Date.now() - fiveMinutes - 5_000), /old/],
    ["signed in the future", (real) => signed(real, keys.signing, Date.now() + fiveMinutes + 5_000), /ahead/],
    ["changed on its way", (real) => ({ ...real, ...changed(real) }), /another key/],
  ];
  const changed = ({ body, headers: { "content-length": _, ...headers } }: Reply) => {
    const text = body.replace('"data":42', '"data":43').replace("]", " ]");
    return { headers, body: text, bytes: Buffer.from(text) };
  };

  test.each(forged)("an app's answer that is %s is not believed", async (_, forge, reason) => {
    let forgedCount = 0;
    const undo = world.calls.disturb({
      after: ({ method }, reply) => (method === "POST" && forgedCount++ === 0 ? forge(reply) : null),
    });
    const runId = await world.rest.start("shop/sequential");
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { sum: 3 } });
    undo();
    const [failed] = (await world.rest.timeline(runId))
      .flatMap(({ attempts }) => attempts)
      .filter(({ error }) => error);
    expect(failed!.error!.message).toMatch(reason);
  });

  /** A call of the server's, as it went over the wire. */
  const captured = async (): Promise<Exchange> => {
    let call: Exchange | null = null;
    const undo = world.calls.disturb({
      before: (exchange) => {
        if (exchange.method === "POST") call ??= exchange;
        return null;
      },
    });
    const runId = await world.rest.start("shop/sequential");
    await world.rest.end(runId);
    undo();
    return call!;
  };
  const send = async ({ path, query, body }: Exchange, signature: string | undefined) => {
    const headers = { "content-type": "application/json", ...(signature && { "x-inngest-signature": signature }) };
    return (await fetch(`${world.calls.origin}${path}?${query}`, { method: "POST", headers, body })).status;
  };

  test("the SDK takes the server's calls by their signature, and no others", async () => {
    const call = await captured();
    const genuine = call.headers["x-inngest-signature"]!;
    expect(genuine).toBe(signatureOf(call.body, keys.signing, Number(/t=(\d+)/.exec(genuine)![1]) * 1_000));
    expect(await send(call, undefined)).toBe(401);
    expect(await send({ ...call, body: call.body.replace('"attempt":0', '"attempt":1') }, genuine)).toBe(401);
    expect(await send(call, signatureOf(call.body, keys.signing, Date.now() - fiveMinutes - 5_000))).toBe(401);
    expect(await send(call, signatureOf(call.body, otherKey, Date.now()))).toBe(401);
  });

  test("a genuine call that somebody sends to the app once more changes nothing at the server", async () => {
    const call = await captured();
    const { run_id: runId } = JSON.parse(call.body).ctx;
    const before = await world.rest.get(`/api/runs/${runId}`);
    expect(await send(call, call.headers["x-inngest-signature"])).toBe(400);
    expect(world.traces.of(runId)).toContain("checkpoint a refused 409");
    expect((await world.rest.get(`/api/runs/${runId}`)).run).toEqual(before.run);
  });

  test("without a key, or with another one, the server tells nothing and takes nothing", async () => {
    const runId = await world.rest.start("shop/sequential");
    await world.rest.end(runId);
    const paths = [`/v1/runs/${runId}`, `/v0/runs/${runId}/actions`, `/api/runs/${runId}`, "/api/events", "/v1/events"];
    for (const authorization of [undefined, "Bearer", "Bearer undefined", `Bearer ${otherKey}`]) {
      const headers = authorization === undefined ? {} : { headers: { authorization } };
      for (const path of paths) expect((await fetch(`${world.reports.origin}${path}`, headers)).status).toBe(401);
      for (const path of ["/fn/register", `/v1/checkpoint/${runId}/async`, "/v1/signals", "/v0/connect/start"]) {
        const asked = { method: "POST", body: "{}", ...headers };
        expect((await fetch(`${world.reports.origin}${path}`, asked)).status).toBe(401);
      }
    }
  });
});

describe("while keys are changed", () => {
  const [oldKey, newKey] = [keys.signing, otherKey];
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode: "start", apps: [app], signingKeys: [oldKey] });
  });
  afterAll(() => world?.close());

  const works = async () => {
    expect(await world.register(app)).toMatchObject({ status: 200, modified: false });
    const runId = await world.rest.start("shop/parallel");
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: ["p1", "p2", "p3"] });
    expect(world.entered(runId).toSorted()).toEqual(["p1", "p2", "p3", "post", "post2", "pre"]);
    const signal = await world.rest.start("shop/signalled", { signal: "s" });
    await world.rest.until(`/api/runs/${signal}`, ({ run }) => run.timeline.length === 1);
    expect(await world.host.signal("shop", "s", { n: 1 })).toEqual({ runId: signal });
  };

  test("every stage of the change works: the app's first, then the server's, then the old one goes", async () => {
    await works();
    const both = { INNGEST_SIGNING_KEY: newKey, INNGEST_SIGNING_KEY_FALLBACK: oldKey };
    await world.killHost();
    await world.startHost(both);
    await works();
    await world.restartServer({ signingKeys: [newKey, oldKey] });
    await works();
    await world.restartServer({ signingKeys: [newKey] });
    await works();
    await world.killHost();
    await world.startHost({ INNGEST_SIGNING_KEY: newKey });
    await works();
  });

  test("an app with a key the server does not know cannot register, and is told so", async () => {
    await world.killHost();
    await world.startHost({ INNGEST_SIGNING_KEY: "signkey-prod-00ff00ff00ff00ff00ff00ff00ff00ff" });
    const { status, message } = await world.register(app);
    expect(status).toBe(401);
    expect(message).toMatch(/key/);
  });
});
