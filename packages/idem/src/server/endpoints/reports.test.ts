// Reports of an app that drives a run, by hand: twice, at once, too late, wrong.
import { expect, onTestFinished, test } from "vitest";
import { derivedUlid } from "../../model/ulid.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import { startServer } from "../start-server.ts";
import type { ServerSettings } from "../world.ts";

const signingKey = "signkey-test-4f2a9c0e7b1d8356af03c9e2517bd864";
const withKeys = {
  mode: "start",
  eventKeys: ["9e41c7d20ab85f36"],
  signingKeys: [signingKey],
  allowHosts: ["127.0.0.1"],
} as const;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function serve(settings: Partial<ServerSettings> = {}) {
  const given = { port: 0, store: "memory:", discovery: false, poll: false, ...settings };
  const server = await startServer(given, { logger: quiet });
  onTestFinished(() => server.close({ graceMs: 1_000 }));
  return server;
}

let runIds = 0;
/** The server refuses ids whose time is more than a day off. */
const runId = () => derivedUlid(nodePlatform.wallMs(), `run ${++runIds}`);
const ran = (id: string, data: unknown) => ({ id, op: "StepRun", name: id, displayName: id, opts: {}, data });
const first = (run_id: string, steps: unknown[], data: Record<string, unknown> = {}) => ({
  run_id,
  event: {
    name: "inngest/http.request",
    data: { domain: "http://127.0.0.1:9", method: "GET", path: "/x", query_params: "", body: "", fn: "", ...data },
  },
  steps,
  ts: 1,
  request_version: 2,
  retries: 3,
});
const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return [answer.status, await answer.json()] as [number, any];
};

test("the same first report again is recognised; another under its id is refused", async () => {
  const { origin } = await serve();
  const id = runId();
  const report = first(id, [ran("a", 1)]);
  const [status, { data }] = await post(`${origin}/v1/checkpoint`, report);
  expect([status, data]).toEqual([
    200,
    {
      fn_id: expect.any(String),
      app_id: expect.any(String),
      run_id: id,
      token: expect.any(String),
      realtime_token: expect.any(String),
    },
  ]);
  const again = await Promise.all([report, report].map((each) => post(`${origin}/v1/checkpoint`, each)));
  expect(again.map(([each]) => each)).toEqual([200, 200]);
  expect(await post(`${origin}/v1/checkpoint`, first(id, [ran("a", 2)]))).toMatchObject([
    409,
    { code: "CHECKPOINT_STALE" },
  ]);
  expect(await post(`${origin}/v1/checkpoint`, first(id, [ran("a", 1)], { path: "/y" }))).toMatchObject([
    409,
    { code: "RUN_EXISTS" },
  ]);
});

test("two first reports at the same time begin one run", async () => {
  const server = await serve();
  const report = first(runId(), [ran("a", 1)]);
  const answers = await Promise.all([1, 2, 3].map(() => post(`${server.origin}/v1/checkpoint`, report)));
  expect(answers.map(([status]) => status)).toEqual([200, 200, 200]);
  const { store } = await server.world.engine("default");
  expect(await store.reads.runs("default", { limit: 10 })).toHaveLength(1);
  expect(await store.reads.events("default", { limit: 10 })).toHaveLength(1);
});

test("the end is taken once; the same end again is recognised, anything else comes too late", async () => {
  const { origin } = await serve();
  const id = runId();
  const steps = `${origin}/v1/checkpoint/${id}/steps`;
  await post(`${origin}/v1/checkpoint`, first(id, [ran("a", 1)]));
  const end = (body: string) => ({
    run_id: id,
    steps: [
      { id: "0737c22d3bfae812339732d14d8c7dbd6dc4e09c", op: "RunComplete", data: { status: 201, headers: {}, body } },
    ],
  });
  expect((await post(steps, end("x")))[0]).toBe(200);
  expect((await post(steps, end("x")))[0]).toBe(200);
  expect((await post(steps, end("y")))[0]).toBe(409);
  expect((await post(steps, { run_id: id, steps: [ran("b", 1)] }))[0]).toBe(409);
  const output = await fetch(`${origin}/v1/http/runs/${id}/output`);
  expect([output.status, await output.text()]).toEqual([201, "x"]);
});

test("a request that cannot be made again, a bad id and an unknown run are refused with the reason", async () => {
  const { origin } = await serve();
  const start = (body: unknown) => post(`${origin}/v1/checkpoint`, body);
  expect(await start(first("nonsense", []))).toMatchObject([400, { error: expect.stringContaining("ULID") }]);
  expect(await start(first("01JD0000000000000000000000", []))).toMatchObject([
    400,
    { error: expect.stringContaining("clock") },
  ]);
  expect(await start(first(runId(), [], { domain: "file:///etc" }))).toMatchObject([
    400,
    { error: expect.stringContaining("domain") },
  ]);
  expect(await start(first(runId(), [], { path: "no/path" }))).toMatchObject([
    400,
    { error: expect.stringContaining("path") },
  ]);
  expect(await start(first(runId(), [{ op: "Unheard" }]))).toMatchObject([400, { code: "REQUEST_INVALID" }]);
  expect(await start(null)).toMatchObject([400, { code: "REQUEST_INVALID" }]);
  const id = runId();
  expect(await post(`${origin}/v1/checkpoint/${id}/steps`, { run_id: id, steps: [] })).toMatchObject([
    404,
    { code: "RUN_UNKNOWN" },
  ]);
  expect((await fetch(`${origin}/v1/http/runs/${id}/output`)).status).toBe(404);
});

test("with keys, reports take the signing key, an output its own run's token, and an app's address must be allowed", async () => {
  const { origin } = await serve(withKeys);
  const bearer = { authorization: `Bearer ${signingKey}` };
  const [a, b] = [runId(), runId()];
  expect((await post(`${origin}/v1/checkpoint`, first(a, [])))[0]).toBe(401);
  const [, { data }] = await post(`${origin}/v1/checkpoint`, first(a, [ran("a", 1)]), bearer);
  await post(`${origin}/v1/checkpoint`, first(b, [ran("a", 1)]), bearer);
  const output = async (id: string, token: string) =>
    (await fetch(`${origin}/v1/http/runs/${id}/output?token=${token}`)).status;
  expect(await output(b, data.token)).toBe(401);
  expect(await output(a, data.realtime_token)).toBe(401);
  expect(await output(a, "")).toBe(401);
  const elsewhere = first(runId(), [], { domain: "http://169.254.169.254" });
  expect(await post(`${origin}/v1/checkpoint`, elsewhere, bearer)).toMatchObject([400, { code: "APP_URL_REFUSED" }]);
});
