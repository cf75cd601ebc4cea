// Idempotency-Key around a route handler of Next.js. The handler has the framework's own request, cookies and all; the key is read from a copy.
import type { KeyContext, RouteOptions } from "../begin.ts";
import { fetchHandler } from "../fetch-handler.ts";
import type { Idempotency } from "../idempotency.ts";
import { hasKey, isMeant } from "./node-request.ts";

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
  keys.check(route);
  return (request, context) => {
    // Of a request that is not read for its key no copy is made: the half that nobody reads would be kept in memory.
    const asked = isMeant(request.method, route) && hasKey(request, route) ? (request.clone() as Request) : request;
    const idempotency: Idempotency = { ...keys, read: (read) => keys.read(read, route, request) };
    const answer = fetchHandler({ idempotency, platform: keys.platform, logger: keys.logger }, route, (_copy, key) =>
      handle(request, { ...context, idempotency: key }),
    );
    return answer(asked);
  };
}
