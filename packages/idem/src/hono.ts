/**
 * Functions for an Idem server to call, in a Hono app.
 *
 * ```ts
 * app.on(["GET", "PUT", "POST"], "/api/idem", serve(idem)); // then: npx idem dev -u http://127.0.0.1:3000/api/idem
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export type HonoHandler = (context: { readonly req: { readonly raw: Request } }) => Promise<Response>;

export function serve(idem: Idem<any>, options: ServeOptions = {}): HonoHandler {
  const handle = fetchHandler(idem, options, "hono");
  return ({ req }) => handle(req.raw);
}
