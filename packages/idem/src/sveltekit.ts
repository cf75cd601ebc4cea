/**
 * SvelteKit: functions for an Idem server to call, request handlers behind an Idempotency-Key, and any Fetch handler (the dashboard, a
 * webhook's receiver).
 *
 * ```ts
 * // src/routes/api/idem/+server.ts; with IDEM_DEV=1, then: npx idem dev -u http://127.0.0.1:5173/api/idem
 * export const { GET, PUT, POST } = serve(idem);
 *
 * // src/routes/charges/+server.ts
 * export const POST = idempotent(keys, { onCrash: "park" }, async ({ request }, { destinationKey }) =>
 *   json(await charge(await request.json(), destinationKey("stripe")), { status: 201 }),
 * );
 *
 * // src/routes/idem/[...path]/+server.ts
 * export const fallback = asHandler(idem.dashboard({ base: "/idem", authorize }));
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import { type FetchHandler, noteAddress } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";
import type { RouteOptions } from "./toolkit/http/begin.ts";
import { type KeyedSvelteKitHandler, type SvelteKitEvent, svelteKitDoor } from "./toolkit/http/doors/sveltekit-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { FetchHandler } from "./sdk/request-address.ts";
export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { KeyedSvelteKitHandler, SvelteKitEvent } from "./toolkit/http/doors/sveltekit-door.ts";

export type SvelteKitHandler = (event: SvelteKitEvent) => Promise<Response>;

export interface SvelteKitRoute {
  readonly GET: SvelteKitHandler;
  readonly PUT: SvelteKitHandler;
  readonly POST: SvelteKitHandler;
}

export function serve(idem: Idem, options: ServeOptions = {}): SvelteKitRoute {
  const handle = asHandler(fetchHandler(idem, options, "sveltekit"));
  return { GET: handle, PUT: handle, POST: handle };
}

/**
 * The handler runs once per key; its second argument is the key's context. The errors of `error(…)` and `redirect(…)` are answers like any
 * other, errors as JSON.
 */
export const idempotent = <E extends SvelteKitEvent = SvelteKitEvent>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedSvelteKitHandler<E>,
): ((event: E) => Promise<Response>) => svelteKitDoor(keys, route, handle);

/** A Fetch handler as one of SvelteKit: `idem.dashboard(…)`, `webhook(…)`, `vercelCron(…)`. */
export const asHandler =
  (handle: FetchHandler): SvelteKitHandler =>
  async (event) => {
    const { request } = event;
    const address = addressOf(event);
    if (address !== null) noteAddress(request, address);
    return handle(request);
  };

function addressOf(event: SvelteKitEvent): string | null {
  try {
    return event.getClientAddress();
  } catch {
    // Its adapter does not know, or a page is made ahead of time.
    return null;
  }
}
