// The smallest world routes can be asked in: one store in memory, a clock that moves when told, apps that are never called.
import { Engine } from "../../engine/engine.ts";
import { limits } from "../../engine/limits.ts";
import { Telling } from "../../engine/telling.ts";
import type { Logger } from "../../execute/function-code.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { readJson } from "../../protocol/read-json.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { openCredentials } from "../credentials.ts";
import { devActor } from "../people/actor.ts";
import type { Route, RouteRequest } from "../route.ts";
import { ServedApps } from "../served-apps.ts";
import { ReservedNames } from "../webhooks/reserved-names.ts";
import type { ServerSettings, World } from "../world.ts";

export interface RouteWorld {
  readonly world: World;
  readonly platform: ManualPlatform;
  readonly engine: Engine;
  /** The log, as text. */
  readonly log: string[];
  ask(route: Route, request?: Asked): Promise<{ readonly status: number; readonly body: any }>;
}

export interface Asked {
  readonly params?: Record<string, string>;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON unless it is text already. */
  readonly body?: unknown;
}

export async function routeWorld(over: Partial<ServerSettings> = {}, store?: Store): Promise<RouteWorld> {
  const settings: ServerSettings = {
    mode: "dev",
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    sdkUrls: [],
    discovery: false,
    poll: false,
    retryIntervalMs: null,
    eventKeys: [],
    signingKeys: [],
    allowHosts: [],
    role: "all",
    runsInFlight: 10,
    eventQuota: null,
    retentionMs: null,
    storeTimeoutMs: 30_000,
    radar: false,
    ...over,
  };
  const platform = new ManualPlatform();
  const log: string[] = [];
  const note = (...parts: unknown[]) => void log.push(parts.map(String).join(" "));
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const engine = new Engine({
    store: store ?? new MemoryStore(platform),
    platform,
    env: "default",
    app: "",
    telling: new Telling({ logger, platform }),
    runsInFlight: settings.runsInFlight,
    leaseTermMs: limits.leaseTermSharedMs,
    eventWindowMs: 86_400_000,
    checkEvents: async () => {},
  });
  await engine.register([]);
  const engineOf = async (env: string): Promise<Engine> => {
    if (env !== "default") throw new Error(`this world has no environment ${env}`);
    return engine;
  };
  const apps = new ServedApps({
    engine: engineOf,
    platform,
    retryIntervalMs: null,
    remoteOf: () => ({ call: () => new Promise(() => {}) }),
    workerCount: () => 0,
  });
  const world = {
    settings,
    platform,
    logger,
    health: engine.health,
    credentials: openCredentials(settings),
    apps,
    engine: engineOf,
    engines: new Map([["default", engine]]),
    reservedNames: new ReservedNames(platform),
    origin: "http://127.0.0.1:8288",
  } as unknown as World;
  return {
    world,
    platform,
    engine,
    log,
    async ask(route, { params = {}, query = "", headers = {}, body } = {}) {
      const bytes = Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
      const request: RouteRequest = {
        method: route.method,
        path: route.path,
        params,
        query: new URLSearchParams(query),
        headers,
        body: bytes,
        env: "default",
        actor: devActor,
        address: "127.0.0.1",
        signal: new AbortController().signal,
        json: () => readJson(bytes),
      };
      const answer = await route.handle(request, world);
      return { status: answer.status, body: (answer.body as { json: unknown }).json };
    },
  };
}

/** A function as an app registers it on the wire. */
export const wireFunction = (over: Record<string, unknown> = {}, id = "shop-pay") => ({
  id,
  name: "Pay",
  triggers: [{ event: "order/paid" }],
  steps: {
    step: {
      id: "step",
      name: "step",
      runtime: { type: "http", url: `http://127.0.0.1:3000/api/inngest?fnId=${id}&stepId=step` },
    },
  },
  ...over,
});

export const wireApp = (functions: unknown[], over: Record<string, unknown> = {}) => ({
  url: "http://127.0.0.1:3000/api/inngest",
  appName: "shop",
  framework: "nodejs",
  sdk: "js:v4.24.0",
  functions,
  ...over,
});
