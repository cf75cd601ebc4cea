/**
 * Functions for an Idem server to call, on Node's own HTTP server.
 *
 * ```ts
 * createServer(serve(idem)).listen(3000); // then: npx idem dev -u http://127.0.0.1:3000
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { type NodeHandler, nodeHandler } from "./serve/node-handler.ts";

export type { ServeOptions } from "./serve/app-handler.ts";
export type { NodeHandler, NodeRequest, NodeResponse } from "./serve/node-handler.ts";

export const serve = (idem: Idem<any>, options: ServeOptions = {}): NodeHandler => nodeHandler(idem, options, "nodejs");
