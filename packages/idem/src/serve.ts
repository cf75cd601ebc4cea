/**
 * Functions for an Idem server to call, as a Fetch handler. The same functions run embedded (`idem.start()`) or served.
 *
 * ```ts
 * const idem = new Idem({ id: "shop" });
 * idem.createFunction({ id: "draft-invoice" }, { event: "order/paid" }, async ({ step }) => …);
 * export default { fetch: serve(idem) }; // with IDEM_DEV=1; then: npx idem dev -u http://127.0.0.1:3000
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { FetchHandler } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";

export type { FetchHandler } from "./sdk/request-address.ts";
export type { ServeOptions } from "./serve/app-handler.ts";

export const serve = (idem: Idem, options: ServeOptions = {}): FetchHandler => fetchHandler(idem, options, "fetch");
