/**
 * Functions for an Idem server to call, as a route of Next.js (App Router, Node runtime).
 *
 * ```ts
 * // app/api/idem/route.ts; then: npx idem dev -u http://127.0.0.1:3000/api/idem
 * export const { GET, PUT, POST } = serve(idem);
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { type FetchHandler, fetchHandler } from "./serve/fetch-handler.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export interface NextRoute {
  readonly GET: FetchHandler;
  readonly PUT: FetchHandler;
  readonly POST: FetchHandler;
}

export function serve(idem: Idem<any>, options: ServeOptions = {}): NextRoute {
  const handle = fetchHandler(idem, options, "nextjs");
  return { GET: handle, PUT: handle, POST: handle };
}
