/**
 * Node's own HTTP server: functions for an Idem server to call, handlers behind an Idempotency-Key, and the dashboard.
 *
 * ```ts
 * createServer(serve(idem)).listen(3000); // with IDEM_DEV=1; then: npx idem dev -u http://127.0.0.1:3000
 *
 * createServer(idempotent(keys, { onCrash: "park" }, (request, response) => charge(request, response))).listen(3001);
 *
 * createServer(asListener(idem.dashboard({ base: "/", dev: true }))).listen(3002, "127.0.0.1");
 * ```
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Idem } from "./sdk/client.ts";
import type { FetchHandler } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { type FetchListener, fetchListener } from "./serve/fetch-listener.ts";
import { type NodeHandler, nodeHandler } from "./serve/node-handler.ts";
import type { RouteOptions } from "./toolkit/http/begin.ts";
import { type KeyedListener, nodeDoor } from "./toolkit/http/doors/node-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { FetchHandler } from "./sdk/request-address.ts";
export type { ServeOptions } from "./serve/app-handler.ts";
export type { FetchListener } from "./serve/fetch-listener.ts";
export type { NodeHandler, NodeRequest, NodeResponse } from "./serve/node-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { KeyedIncoming, KeyedListener } from "./toolkit/http/doors/node-door.ts";

export const serve = (idem: Idem, options: ServeOptions = {}): NodeHandler => nodeHandler(idem, options, "nodejs");

/** The handler runs once per key; `request.idempotency` is the key's context. */
export const idempotent = (
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedListener,
): ((request: IncomingMessage, response: ServerResponse) => Promise<void>) => nodeDoor(keys, route, handle);

/** A Fetch handler such as `idem.dashboard()`, for Node's own server and for Express: `app.use("/idem", asListener(idem.dashboard({ authorize })))`. */
export const asListener = (handle: FetchHandler): FetchListener => fetchListener(handle);
