/**
 * `Bun.serve`: functions for an Idem server to call, handlers behind an Idempotency-Key, and any Fetch handler (the dashboard, a webhook's receiver).
 *
 * ```ts
 * const dashboard = asHandler(idem.dashboard({ base: "/idem", authorize }));
 * Bun.serve({
 *   routes: {
 *     "/api/idem": serve(idem), // with IDEM_DEV=1; then: npx idem dev -u http://127.0.0.1:3000/api/idem
 *     "/charges": { POST: idempotent(keys, { onCrash: "park" }, async (request, { destinationKey }) => charge(request, destinationKey("stripe"))) },
 *     "/idem": dashboard,
 *     "/idem/*": dashboard,
 *   },
 * });
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import { type FetchHandler, noteAddress } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";
import type { RouteOptions } from "./toolkit/http/begin.ts";
import { type BunServer, bunDoor, type KeyedBunHandler } from "./toolkit/http/doors/bun-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { FetchHandler } from "./sdk/request-address.ts";
export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { BunServer, KeyedBunHandler } from "./toolkit/http/doors/bun-door.ts";

export type BunHandler = (request: Request, server: BunServer) => Promise<Response>;

export const serve = (idem: Idem, options: ServeOptions = {}): BunHandler =>
  asHandler(fetchHandler(idem, options, "bun"));

/** The handler runs once per key; its second argument is the key's context. The first is Bun's own request, `params` and cookies and all. */
export const idempotent = <R extends Request = Request>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedBunHandler<R>,
): ((request: R) => Promise<Response>) => bunDoor(keys, route, handle);

/** A Fetch handler that learns the address at the other end of the line: `idem.dashboard(…)`. */
export const asHandler =
  (handle: FetchHandler): BunHandler =>
  async (request, server) => {
    const address = server.requestIP(request)?.address;
    if (address !== undefined) noteAddress(request, address);
    return handle(request);
  };
