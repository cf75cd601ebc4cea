// idem/bun on a real `Bun.serve`, run by Bun: functions served and called with a signature, a handler behind a key asked twice, the dashboard.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { asHandler, idempotent, serve } from "../packages/idem/dist/bun.js";
import { ANONYMOUS_SHARED, idempotency, memoryKeys } from "../packages/idem/dist/http.js";
import { Idem } from "../packages/idem/dist/index.js";

const signingKey = "4f2a9c0e7b1d8356af03c9e2517bd864";
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const served = new Idem({ id: "shop", server: "http://127.0.0.1:9", signingKey, logger: silent });
served.createFunction({ id: "fn" }, { event: "test/go" }, ({ step }) => step.run("a", () => ({ done: true })));
const inDev = new Idem({ id: "dev", server: "http://127.0.0.1:9", logger: silent });
const embedded = new Idem({ id: "embedded", store: "memory:", logger: silent });
const dashboard = asHandler(embedded.dashboard({ base: "/idem", dev: true }));
await embedded.start();

const keys = idempotency({ keys: memoryKeys(), principal: ANONYMOUS_SHARED, logger: silent });
let executed = 0;
let hold = null;
const charge = idempotent(keys, { onCrash: "park" }, async (request, { attempt }) => {
  const { amount } = await request.json();
  executed++;
  await hold?.promise;
  return Response.json([request.params.account, amount, attempt], { status: 201 });
});

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/api/idem": serve(served),
    "/dev": serve(inDev, { dev: true }),
    "/accounts/:account/charges": { POST: charge },
    "/idem": dashboard,
    "/idem/*": dashboard,
  },
});
const origin = `http://127.0.0.1:${server.port}`;

const json = { "content-type": "application/json" };
const call = JSON.stringify({
  ctx: { attempt: 0, run_id: "01RUN", stack: { current: 0, stack: [] } },
  event: { data: {}, id: "01EVT", name: "test/go", ts: 1_700_000_000_000 },
  events: [{ data: {}, id: "01EVT", name: "test/go", ts: 1_700_000_000_000 }],
  steps: {},
  use_api: false,
  version: -1,
});
const at = Math.floor(Date.now() / 1_000);
const mac = createHmac("sha256", signingKey).update(call).update(String(at)).digest("hex");
const post = (path, headers, body, signal) =>
  fetch(origin + path, { method: "POST", headers: { ...json, ...headers }, body, signal });

const functionUrl = "/api/idem?fnId=shop-fn&stepId=step";
const answered = await post(functionUrl, { "x-inngest-signature": `t=${at}&s=${mac}` }, call);
assert.equal(answered.status, 206);
assert.deepEqual((await answered.json())[0].data, { done: true });
assert.equal((await post(functionUrl, {}, call)).status, 401);

assert.equal((await fetch(`${origin}/dev`)).status, 200);
assert.equal((await fetch(`${origin}/dev`, { headers: { "x-forwarded-for": "203.0.113.9" } })).status, 403);

const pay = (key, amount, signal) =>
  post("/accounts/ann/charges", { "idempotency-key": key }, JSON.stringify({ amount }), signal);
const first = await pay("k-1", 1);
assert.deepEqual([first.status, await first.json()], [201, ["ann", 1, 1]]);
const second = await pay("k-1", 1);
assert.deepEqual([second.status, await second.json()], [201, ["ann", 1, 1]]);
assert.equal(second.headers.get("idempotent-replayed"), "true");
assert.equal((await pay("k-1", 2)).status, 422);
assert.equal(executed, 1);

// Whoever leaves does not end the work; the retry gets its answer.
hold = Promise.withResolvers();
const leaving = new AbortController();
const left = pay("k-2", 3, leaving.signal).catch(() => null);
while (executed < 2) await new Promise((resolve) => setImmediate(resolve));
leaving.abort();
assert.equal(await left, null);
hold.resolve();
let again = await pay("k-2", 3);
while (again.status === 409) again = await pay("k-2", 3);
assert.deepEqual([again.status, again.headers.get("idempotent-replayed"), executed], [201, "true", 2]);

const page = await fetch(`${origin}/idem`);
assert.deepEqual([page.status, (await page.text()).includes("idem-base")], [200, true]);

await server.stop(true);
await embedded.stop();
