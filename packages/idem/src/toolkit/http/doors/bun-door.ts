// Idempotency-Key around a handler of `Bun.serve`.
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { fetchDoor } from "./fetch-door.ts";

/** The part of a `Server` that is used. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null;
}

export type KeyedBunHandler<R extends Request> = (request: R, key: KeyContext) => Response | Promise<Response>;

export function bunDoor<R extends Request>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedBunHandler<R>,
): (request: R) => Promise<Response> {
  const visit = fetchDoor(keys, route);
  return (request) => visit({ request, native: request, handle: (key) => handle(request, key) });
}
