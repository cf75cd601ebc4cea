// biome-ignore-all lint/suspicious/noTsIgnore: it is meant for the declarations, where there is an error only without `hono`.

/**
 * Hono: functions for an Idem server to call, and routes behind an Idempotency-Key.
 *
 * ```ts
 * app.on(["GET", "PUT", "POST"], "/api/idem", serve(idem)); // with IDEM_DEV=1; then: npx idem dev -u http://127.0.0.1:3000/api/idem
 *
 * app.post("/charges", idempotent(keys, { onCrash: "park" }), async (c) => c.json(await charge(await c.req.json())));
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import { noteAddress } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";
import type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
import { type HonoMiddleware, honoDoor } from "./toolkit/http/doors/hono-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { HonoMiddleware } from "./toolkit/http/doors/hono-door.ts";

/** Without Hono there is no such module:
 * @ts-ignore */
declare module "hono" {
  interface ContextVariableMap {
    /** The context of the key of a request behind `idempotent`; not set where no key applies. */
    idempotency: KeyContext;
  }
}

/** `env` is what the server under Hono adds: on Node, the request as Node has it. */
export type HonoHandler = (context: {
  readonly req: { readonly raw: Request };
  readonly env?: unknown;
}) => Promise<Response>;

export function serve(idem: Idem, options: ServeOptions = {}): HonoHandler {
  const handle = fetchHandler(idem, options, "hono");
  return ({ req, env }) => {
    const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
    const address = incoming?.socket?.remoteAddress;
    if (address !== undefined) noteAddress(req.raw, address);
    return handle(req.raw);
  };
}

/** The rest of the route runs once per key; `c.get("idempotency")` is the key's context. */
export const idempotent = (keys: Idempotency, route: RouteOptions): HonoMiddleware => honoDoor(keys, route);
