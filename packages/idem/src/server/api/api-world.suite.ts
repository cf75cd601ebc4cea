// A world with functions in this very process, whose routes are asked as the router would ask them. Every answer of /api is
// held against the schema it is described by.
import { onTestFinished } from "vitest";
import { Engine } from "../../engine/engine.ts";
import { limits } from "../../engine/limits.ts";
import { Telling } from "../../engine/telling.ts";
import type { Logger } from "../../execute/function-code.ts";
import { IdemError } from "../../model/errors.ts";
import type { Turns } from "../../model/turns.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { statusOf } from "../../protocol/problem.ts";
import { readJson } from "../../protocol/read-json.ts";
import { defineFunction } from "../../sdk/create-function.ts";
import type { FunctionOptions, HandlerContext } from "../../sdk/function-types.ts";
import { openStore } from "../../sdk/open-store.ts";
import type { Store } from "../../store/store.ts";
import type { ServedApp } from "../apps.ts";
import { devActor } from "../people/actor.ts";
import type { Route, RouteRequest } from "../route.ts";
import { ReservedNames } from "../webhooks/reserved-names.ts";
import type { World } from "../world.ts";

export { stores } from "../../testing/one-run.suite.ts";

export interface Asked {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string | number>;
  readonly body?: unknown;
  readonly env?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: any;
}

export interface ApiWorldOptions {
  readonly store?: string | Store;
  readonly platform?: ManualPlatform;
  readonly turns?: Turns;
}

type Handler = (context: HandlerContext<any>) => unknown;

export interface ApiWorld {
  readonly world: World;
  readonly engine: Engine;
  readonly store: Store;
  readonly platform: ManualPlatform;
  readonly log: string[];
  readonly apps: ServedApp[];
  /** Gives the world its functions, of app "shop", and begins to execute them. */
  start(functions: Record<string, { on: string; options?: Partial<FunctionOptions>; run: Handler }>): Promise<void>;
  ask(route: Route, asked?: Asked): Promise<ApiAnswer>;
  /** The event's stored id and the run it started, if it did. */
  send(event: Record<string, unknown>): Promise<{ eventId: string; runId: string }>;
  idle(): Promise<void>;
  advance(ms: number): Promise<void>;
}

export async function apiWorld(options: ApiWorldOptions = {}): Promise<ApiWorld> {
  const platform = options.platform ?? new ManualPlatform();
  const given = options.store ?? "memory:";
  const store = typeof given === "string" ? (await openStore(given, platform)).store : given;
  const log: string[] = [];
  const note = (...parts: unknown[]) => void log.push(parts.map(String).join(" "));
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const engine = new Engine({
    store,
    platform,
    env: "default",
    app: "",
    telling: new Telling({ logger, platform }),
    runsInFlight: 100,
    leaseTermMs: limits.leaseTermOwnedMs,
    eventWindowMs: 86_400_000,
    checkEvents: async () => {},
    ...(options.turns === undefined ? {} : { turns: options.turns }),
  });
  await engine.register([]);
  onTestFinished(async () => {
    await engine.stop(0);
    if (typeof given === "string") await store.close();
  });
  const apps: ServedApp[] = [];
  const world = {
    settings: { mode: "dev", store: typeof given === "string" ? given : "memory:" },
    platform,
    logger,
    apps: { list: async () => apps },
    engine: async () => engine,
    engines: new Map([["default", engine]]),
    origin: "http://127.0.0.1:8288",
    reservedNames: new ReservedNames(platform),
  } as unknown as World;
  const idle = () => engine.worker.idle();
  return {
    world,
    engine,
    store,
    platform,
    log,
    apps,
    async start(functions) {
      const codes = Object.entries(functions).flatMap(([id, { on, options: over, run }]) =>
        defineFunction("shop", { id, ...over }, [{ event: on }], run),
      );
      await engine.register(codes);
      await engine.start();
    },
    async ask(route, { params = {}, query = {}, body, env = "default" } = {}) {
      const bytes = Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
      const texts = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
      const request: RouteRequest = {
        method: route.method,
        path: route.path,
        params,
        query: new URLSearchParams(texts),
        headers: {},
        actor: devActor,
        address: "127.0.0.1",
        body: bytes,
        env,
        signal: new AbortController().signal,
        json: () => readJson(bytes),
      };
      try {
        const answer = await route.handle(request, world);
        if (answer.body === null) return { status: answer.status, body: null };
        // The wire carries JSON: undefined and the like are gone by then.
        const text = typeof answer.body === "string" ? answer.body : JSON.stringify((answer.body as any).json);
        const value = JSON.parse(text);
        route.about?.answer.parse(value);
        return { status: answer.status, body: value };
      } catch (error) {
        if (!(error instanceof IdemError)) throw error;
        return { status: statusOf(error.code), body: { code: error.code, error: error.message } };
      }
    },
    async send(event) {
      const { events, decisions } = await engine.accept([event], 86_400_000, []);
      return { eventId: events[0]!.id, runId: decisions[0]?.runId ?? "" };
    },
    idle,
    advance: (ms) => platform.advance(ms, idle),
  };
}
