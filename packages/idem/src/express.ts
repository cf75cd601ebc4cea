/**
 * Express: functions for an Idem server to call, before or behind `express.json()`, and routes behind an Idempotency-Key.
 *
 * ```ts
 * app.use("/api/idem", serve(idem)); // with IDEM_DEV=1; then: npx idem dev -u http://127.0.0.1:3000/api/idem
 *
 * app.use(express.json({ verify: keepRawBody }));
 * app.post("/charges", idempotent(keys, { onCrash: "park" }), async (req, res) => {
 *   res.status(201).json(await charge(req.body, req.idempotency?.destinationKey("stripe")));
 * });
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { type NodeRequest, type NodeResponse, nodeHandler } from "./serve/node-handler.ts";
import type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
import {
  type ExpressErrorMiddleware,
  type ExpressMiddleware,
  expressDoor,
  expressErrors,
} from "./toolkit/http/doors/express-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { ExpressErrorMiddleware, ExpressMiddleware } from "./toolkit/http/doors/express-door.ts";
export { keepRawBody } from "./toolkit/http/doors/kept-body.ts";

declare global {
  // Where the types of Express look for what middleware adds.
  namespace Express {
    interface Request {
      /** The context of the key of a request behind `idempotent`; absent where no key applies. */
      idempotency?: KeyContext;
      rawBody?: Uint8Array;
    }
  }
}

/** Express takes a handler's failure by `next`. */
export type ExpressHandler = (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void;

export function serve(idem: Idem, options: ServeOptions = {}): ExpressHandler {
  const handle = nodeHandler(idem, options, "express");
  return (request, response, next) => {
    handle(request, response).catch(next);
  };
}

/**
 * The rest of the route runs once per key. Before the body parser, or behind one with `verify: keepRawBody`; behind whatever
 * finds out who asks.
 */
export const idempotent = (keys: Idempotency, route: RouteOptions): ExpressMiddleware => expressDoor(keys, route);

/**
 * Put before the app's own error handlers, a failure that `beforeEffects` vouched for releases its key. Without it every 5xx is
 * stored, since Express passes errors to nobody else.
 */
export const idempotentErrors: ExpressErrorMiddleware = expressErrors;
