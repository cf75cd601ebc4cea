/**
 * Next.js (App Router, Node runtime): functions for an Idem server to call, and route handlers behind an Idempotency-Key.
 *
 * ```ts
 * // app/api/idem/route.ts; with IDEM_DEV=1, then: npx idem dev -u http://127.0.0.1:3000/api/idem
 * export const { GET, PUT, POST } = serve(idem);
 *
 * // app/charges/route.ts
 * export const POST = idempotent(keys, { onCrash: "park" }, async (request, { idempotency }) => charge(request, idempotency));
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { FetchHandler } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";
import type { RouteOptions } from "./toolkit/http/begin.ts";
import { type KeyedRoute, nextDoor } from "./toolkit/http/doors/next-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { KeyedRoute, KeyedRouteContext } from "./toolkit/http/doors/next-door.ts";

export interface NextRoute {
  readonly GET: FetchHandler;
  readonly PUT: FetchHandler;
  readonly POST: FetchHandler;
}

export function serve(idem: Idem, options: ServeOptions = {}): NextRoute {
  const handle = fetchHandler(idem, options, "nextjs");
  return { GET: handle, PUT: handle, POST: handle };
}

/** The handler runs once per key. Its second argument is what Next.js gives (`params`), with `idempotency` beside it. */
export const idempotent = <R extends Request = Request, C extends object = object>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedRoute<R, C>,
): ((request: R, context: C) => Promise<Response>) => nextDoor(keys, route, handle);
