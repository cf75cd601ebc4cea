// Idempotency-Key around a route handler of Next.js.
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { fetchDoor } from "./fetch-door.ts";

/** What Next.js gives beside the request (`params`), and what the handler is told of its key. */
export type KeyedRouteContext<C> = C & { readonly idempotency: KeyContext };

export type KeyedRoute<R extends Request, C> = (
  request: R,
  context: KeyedRouteContext<C>,
) => Response | Promise<Response>;

export function nextDoor<R extends Request, C extends object>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedRoute<R, C>,
): (request: R, context: C) => Promise<Response> {
  const visit = fetchDoor(keys, route);
  return (request, context) =>
    visit({ request, native: request, handle: (idempotency) => handle(request, { ...context, idempotency }) });
}
