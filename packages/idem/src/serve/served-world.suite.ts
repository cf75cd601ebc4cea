// A served app and, around it, a server that is played by the test: what the app asks of it is kept, what it answers is given.

import { hashStepId } from "../model/step-id.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { HttpRequest, HttpResponse } from "../platform/platform.ts";
import { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import type { ServeOptions } from "./app-handler.ts";
import { fetchHandler } from "./fetch-handler.ts";

export interface WorldOptions {
  readonly client?: Partial<IdemOptions>;
  readonly serve?: ServeOptions;
  /** Answers what the app asks of the server; a success by default. */
  readonly answer?: (request: HttpRequest) => Partial<HttpResponse> | Promise<Partial<HttpResponse>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: any;
}

export const origin = "http://127.0.0.1:3000/api/idem";

export function servedWorld({ client, serve, answer }: WorldOptions = {}) {
  const asked: { method: string; path: string; headers: Record<string, string>; body: any }[] = [];
  const logged: unknown[][] = [];
  const log = (...args: unknown[]) => logged.push(args);
  const platform = new ManualPlatform({
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = request.body === null ? null : JSON.parse(request.body);
      asked.push({ method: request.method, path: pathname + search, headers: request.headers, body });
      return { status: 200, headers: {}, body: '{"ids":["01EVENT"],"status":200}', ...(await answer?.(request)) };
    },
  });
  const idem = new Idem({
    id: "shop",
    server: "http://127.0.0.1:8288",
    logger: { debug: log, info: log, warn: log, error: log },
    ...client,
    platform,
  });
  const handle = fetchHandler(idem, { dev: true, ...serve }, "fetch");
  const saidAtStart = logged.splice(0);
  const send = async (request: Request): Promise<Answer> => {
    const response = await handle(request);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
  };
  const call = (fn: string, given: CallGiven = {}): Promise<Answer> =>
    send(
      new Request(`${origin}?fnId=shop-${fn}&stepId=${given.stepId ?? "step"}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...given.headers },
        body: JSON.stringify(callBody(given)),
        ...(given.signal === undefined ? {} : { signal: given.signal }),
      }),
    );
  return {
    saidAtStart,
    idem,
    platform,
    asked,
    logged,
    handle,
    send,
    call,
    /** The steps the server was given while the code went on. */
    checkpointed: () =>
      asked.filter(({ path }) => path.startsWith("/v1/checkpoint/")).flatMap(({ body }) => body.steps as any[]),
  };
}

export interface CallGiven {
  readonly stepId?: string;
  readonly headers?: Record<string, string>;
  readonly event?: Record<string, unknown>;
  /** Of a batch; the one event by default. */
  readonly events?: readonly Record<string, unknown>[];
  /** By the id their author wrote. */
  readonly steps?: Record<string, unknown>;
  /** As they were recorded; the order of `steps` by default. */
  readonly stack?: readonly string[];
  readonly ctx?: Record<string, unknown>;
  readonly signal?: AbortSignal;
}

/** A call as docs/reference/wire.md#a-call shows it. */
export function callBody({ event, events, steps = {}, stack, ctx }: CallGiven): Record<string, unknown> {
  const named = { id: "01EVT", name: "test/go", data: {}, ts: 1_700_000_000_000, ...(event ?? events?.[0]) };
  const ids = (stack ?? Object.keys(steps)).map((name) => hashStepId(name, 0));
  return {
    event: named,
    events: events ?? [named],
    steps: Object.fromEntries(Object.entries(steps).map(([name, state]) => [hashStepId(name, 0), state])),
    version: -1,
    use_api: false,
    ctx: {
      run_id: "01RUN",
      fn_id: "33333333-3333-4333-8333-333333333333",
      qi_id: "q:1",
      attempt: 0,
      max_attempts: 5,
      disable_immediate_execution: false,
      stack: { stack: ids, current: ids.length },
      ...ctx,
    },
  };
}

/** The same call without what switches checkpoints on. */
export const classic = { fn_id: undefined, qi_id: undefined };
