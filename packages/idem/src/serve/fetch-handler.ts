// Web standard Request and Response, as Hono, Next.js, Bun, Deno and SvelteKit have them.
import type { Idem } from "../sdk/client.ts";
import { type FetchHandler, notedAddress } from "../sdk/request-address.ts";
import { appHandler, type ServeOptions } from "./app-handler.ts";

export function fetchHandler(idem: Idem, options: ServeOptions, framework: string): FetchHandler {
  const handle = appHandler(idem, options, framework);
  return async (request) => {
    const { status, headers, body } = await handle({
      method: request.method,
      url: request.url,
      header: (name) => request.headers.get(name) ?? undefined,
      body: () => request.body ?? [],
      address: notedAddress(request),
      signal: request.signal,
    });
    return new Response(body, { status, headers: { ...headers } });
  };
}
