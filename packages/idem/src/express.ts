/**
 * Functions for an Idem server to call, in an Express app; before or behind `express.json()`.
 *
 * ```ts
 * app.use("/api/idem", serve(idem)); // then: npx idem dev -u http://127.0.0.1:3000/api/idem
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { type NodeRequest, type NodeResponse, nodeHandler } from "./serve/node-handler.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

/** Express takes a handler's failure by `next`. */
export type ExpressHandler = (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void;

export function serve(idem: Idem<any>, options: ServeOptions = {}): ExpressHandler {
  const handle = nodeHandler(idem, options, "express");
  return (request, response, next) => {
    handle(request, response).catch(next);
  };
}
