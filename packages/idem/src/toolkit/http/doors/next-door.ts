// Idempotency-Key around a route handler of Next.js. The errors of `redirect()`, `notFound()` and their like are answers there, and kept as such.
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { fetchDoor } from "./fetch-door.ts";

/** The context Next.js gives beside the request (`params`), and that of the key. */
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
  const visit = fetchDoor(keys, route, answerOf);
  return (request, context) =>
    visit({ request, native: request, handle: (idempotency) => handle(request, { ...context, idempotency }) });
}

/** By their digest: "NEXT_REDIRECT;replace;/orders/1;307;", "NEXT_HTTP_ERROR_FALLBACK;404", as Next.js 15 and 16 write it. */
function answerOf(error: unknown): Response | null {
  const digest = (error as { digest?: unknown } | null)?.digest;
  if (typeof digest !== "string") return null;
  const [, location, moved] = /^NEXT_REDIRECT;\w*;(.*);(30[378]);?$/.exec(digest) ?? [];
  if (location !== undefined) return new Response(null, { status: Number(moved), headers: { location } });
  const [, status] = /^NEXT_HTTP_ERROR_FALLBACK;(40[134])$/.exec(digest) ?? [];
  return status === undefined ? null : new Response(null, { status: Number(status) });
}
