// The real SDK (inngest 4) as the app, called without a network.
import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import { Engine } from "../engine/engine.ts";
import { limits } from "../engine/limits.ts";
import { Telling } from "../engine/telling.ts";
import { IdemError } from "../model/errors.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { readMetadataRequest } from "../protocol/wire-metadata.ts";
import { readOps } from "../protocol/wire-ops.ts";
import { runsApi } from "../sdk/reads-api.ts";
import { MemoryStore } from "../store/memory/store.ts";
import type { RemoteCode } from "./function-code.ts";
import { silentLogger } from "./log-style.ts";
import type { Remote, RemoteCall, RemoteReply } from "./remote.ts";

export interface Call {
  readonly stepId: string;
  readonly attempt: number;
  readonly planOnly: boolean;
  readonly status: number;
  readonly ops: readonly string[];
}

const engines: Engine[] = [];

export async function stopApps(): Promise<void> {
  for (const engine of engines.splice(0)) {
    await engine.stop(1_000);
    await engine.store.close();
  }
}

/** A step's body: leaves its mark and gives its value. */
export function noted<T>(log: string[], mark: string, value: T): T {
  log.push(mark);
  return value;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

type Define = (inngest: Inngest.Any, log: string[]) => any[];

/** Stands between engine and app: may lose, change or delay. */
export type Between = (call: RemoteCall, ask: () => Promise<RemoteReply>) => Promise<RemoteReply>;

export async function sdkApp(
  define: Define,
  options: Record<string, unknown> = {},
  between: Between = (_call, ask) => ask(),
) {
  const log: string[] = [];
  const calls: Call[] = [];
  const checkpoints: string[] = [];
  const store = new MemoryStore(nodePlatform);
  const engine = new Engine({
    store,
    platform: nodePlatform,
    env: "default",
    app: "",
    telling: new Telling({ logger: silentLogger, platform: nodePlatform }),
    runsInFlight: 100,
    leaseTermMs: limits.leaseTermOwnedMs,
    eventWindowMs: 86_400_000,
    checkEvents: async () => {},
  });
  engines.push(engine);
  let current = engine;
  const answer = (status: number, value: unknown) =>
    new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
  const api = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const path = new URL(url instanceof Request ? url.url : url).pathname;
    const [, runId] = /^\/v1\/checkpoint\/(\w+)\/async$/.exec(path) ?? [];
    if (runId !== undefined) {
      const body = JSON.parse(String(init?.body));
      checkpoints.push(...body.steps.map((step: { name: string }) => step.name));
      try {
        await current.checkpoint(
          runId,
          { generation: body.generation_id ?? null, requestId: body.request_id ?? null },
          readOps(body.steps),
        );
        return answer(200, {});
      } catch (error) {
        return answer(error instanceof IdemError && error.code === "CHECKPOINT_STALE" ? 409 : 500, {
          error: String(error),
          status: 500,
        });
      }
    }
    const [, annotated] = /^\/v1\/runs\/(\w+)\/metadata$/.exec(path) ?? [];
    if (annotated !== undefined) {
      const changes = readMetadataRequest(JSON.parse(String(init?.body)), annotated);
      return answer(200, await store.annotate({ env: "default", runId: annotated, changes }));
    }
    if (path.startsWith("/e/")) {
      const accepted = await engine.accept(JSON.parse(String(init?.body)), 86_400_000, []);
      return answer(200, { ids: accepted.events.map(({ id }) => id), status: 200 });
    }
    return answer(404, { error: `no ${path}`, status: 404 });
  };
  const inngest = new Inngest({
    id: "shop",
    isDev: true,
    logger: quiet,
    baseUrl: "http://idem.test",
    fetch: api as any,
    ...options,
  });
  const functions = define(inngest, log);
  const handler = serve({ client: inngest, functions, serveOrigin: "http://app.test", servePath: "/api/inngest" });
  const remote: Remote = { call: (call) => between(call, () => ask(call)) };
  const ask = async (call: RemoteCall): Promise<RemoteReply> => {
    const url = `http://app.test/api/inngest?fnId=${call.fn}&stepId=${call.stepId}`;
    const headers = {
      "content-type": "application/json",
      host: "app.test",
      "x-run-id": call.runId,
      "x-request-id": call.requestId,
      "x-inngest-generation-id": String(call.generation),
    };
    const response = await handler(new Request(url, { method: "POST", body: call.body, headers }));
    const body = await response.text();
    const { ctx } = JSON.parse(call.body);
    const parsed = JSON.parse(body);
    calls.push({
      stepId: call.stepId === "step" ? "step" : "one",
      attempt: ctx.attempt,
      planOnly: ctx.disable_immediate_execution,
      status: response.status,
      ops:
        response.status === 206 ? parsed.map((op: any) => `${op.op} ${op.userland?.id ?? op.name ?? ""}`.trim()) : [],
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), body };
  };
  const codes = functions
    .flatMap((fn) => fn.getConfig({ baseUrl: new URL("http://app.test/api/inngest"), appPrefix: "shop" }))
    .map(
      (config: any): RemoteCode => ({
        fn: config.id,
        config: {
          id: config.id.slice("shop-".length),
          name: config.name,
          triggers: config.triggers.map((trigger: any) => ({
            event: trigger.event,
            ...(trigger.expression === undefined ? {} : { if: trigger.expression }),
          })),
          retries: config.steps.step.retries?.attempts ?? 4,
          idempotency: null,
          startTimeoutMs: null,
          finishTimeoutMs: null,
          runtime: { kind: "http", url: "http://app.test/api/inngest" },
        },
        backoff: () => 5,
        middleware: [],
        remote,
      }),
    );
  await engine.serve("shop", codes);
  await engine.start();
  const runs = runsApi(async () => engine);
  const send = async (name: string, data: object = {}, rest: object = {}) => {
    const accepted = await engine.accept([{ name, data, ...rest }], 86_400_000, []);
    return accepted.decisions.find(({ kind }) => kind === "started")!.runId!;
  };
  const end = async (name: string, data: object = {}, rest: object = {}) => runs.wait(await send(name, data, rest));
  /** The app reports to this engine from now on. */
  const use = (other: Engine) => {
    current = other;
  };
  return { engine, store, codes, use, runs, send, end, calls, checkpoints, log };
}
