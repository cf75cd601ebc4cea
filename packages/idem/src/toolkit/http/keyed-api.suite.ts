// An API with one route behind a key, in a world whose time moves only when told.
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { KeyStore } from "../keys/key-store.ts";
import { memoryKeys } from "../keys/memory-keys.ts";
import type { KeyContext, KeyEvent, RouteOptions } from "./begin.ts";
import { type Idempotency, type IdempotencyKeyOptions, idempotency } from "./idempotency.ts";

export interface KeyedApi {
  readonly platform: ManualPlatform;
  readonly keys: KeyStore;
  readonly idempotency: Idempotency;
  readonly events: KeyEvent[];
  readonly logged: string[];
  /** Times the handler was entered. */
  count(): number;
  ask(given?: AskOptions): Promise<Response>;
  advance(ms: number): Promise<void>;
}

export interface AskOptions {
  readonly key?: string | null;
  readonly body?: string | FormData | null;
  readonly path?: string;
  readonly method?: string;
  readonly as?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export type ApiHandle = (request: Request, context: KeyContext, count: number) => Response | Promise<Response>;

export interface ApiOptions extends Partial<IdempotencyKeyOptions> {
  readonly platform?: ManualPlatform;
  readonly route?: Partial<RouteOptions>;
}

export function keyedApi(handle: ApiHandle, options: ApiOptions = {}): KeyedApi {
  const { route, platform = new ManualPlatform(), ...rest } = options;
  const keys = rest.keys ?? memoryKeys({ platform });
  const events: KeyEvent[] = [];
  const logged: string[] = [];
  const log = (...args: unknown[]) => logged.push(args.map(String).join(" "));
  const own = idempotency({
    principal: (request) => request.headers.get("x-account") ?? "",
    on: (event) => events.push(event),
    logger: { debug: log, info: log, warn: log, error: log },
    ...rest,
    keys,
    platform,
  });
  let count = 0;
  const handler = own.handler({ onCrash: "park", ...route }, (request, context) => handle(request, context, ++count));
  return {
    platform,
    keys,
    idempotency: own,
    events,
    logged,
    count: () => count,
    ask: ({
      key = "k-1",
      body = '{"total":10}',
      path = "/charges",
      method = "POST",
      as = "alice",
      headers,
      signal,
    } = {}) =>
      handler(
        new Request(new URL(path, "http://shop.test"), {
          method,
          headers: {
            ...(body === null || body instanceof FormData ? {} : { "content-type": "application/json" }),
            ...(key === null ? {} : { "idempotency-key": key }),
            "x-account": as,
            ...headers,
          },
          ...(method === "GET" ? {} : { body }),
          ...(signal === undefined ? {} : { signal }),
        }),
      ),
    advance: (ms) => platform.advance(ms, settle),
  };
}

/** Streams and promises that are under way come to rest. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A promise and its end. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The status and what a problem says: its kind, whether to retry, and how long to wait. */
export async function told(response: Response): Promise<{ status: number; kind: string; retryable: boolean }> {
  const problem = (await response.json()) as { type: string; retryable: boolean; status: number };
  return { status: response.status, kind: problem.type.split(":").at(-1)!, retryable: problem.retryable };
}
