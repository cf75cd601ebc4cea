// A Node request as the Fetch request that the key is read from. Its body is read when it is asked for: a request without a key keeps its
// stream untouched.
import type { IncomingMessage } from "node:http";
import type { RouteOptions } from "../begin.ts";
import { routeSettings } from "../route-settings.ts";
import { isAsSent, type KeptBody, keptBody } from "./kept-body.ts";

/** As Express and others leave it: the whole path, where a router has cut its own part off `url`. */
export type DoorRequest = IncomingMessage & KeptBody & { readonly originalUrl?: string };

export function fetchRequest(request: DoorRequest, route: RouteOptions): Request {
  const method = request.method ?? "GET";
  const { requestBytesMax } = routeSettings(route);
  const headers = headersOf(request.rawHeaders, keyHeaderOf(route));
  // A body that a parser kept is decoded already.
  if (request.rawBody !== undefined && !isAsSent(request)) headers.delete("content-encoding");
  // It would be checked in a copy of the stream, and the handler reads the stream itself: what is too large is refused instead.
  if (Number(headers.get("content-length") ?? 0) > requestBytesMax) headers.delete("content-digest");
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await keptBody(request, requestBytesMax);
        if (bytes.length > 0) controller.enqueue(new Uint8Array(bytes));
        controller.close();
      },
    },
    // Nothing before it is asked for.
    { highWaterMark: 0 },
  );
  const hasNone = method === "GET" || method === "HEAD";
  return new Request(urlOf(request), { method, headers, ...(hasNone ? {} : { body, duplex: "half" as const }) });
}

/** Methods that the route says nothing about keep their request as it is, even those that Fetch has no request for. */
export const isMeant = (method: string | undefined, route: RouteOptions): boolean =>
  routeSettings(route).methods.includes(method ?? "GET");

export const keyHeaderOf = (route: RouteOptions): string => routeSettings(route).header.toLowerCase();

/** No key looks like this, so several lines are refused as one value that is none. */
const refused = ",";

/** Of lines as Node has them: name, value, name, value. */
export function headersOf(rawHeaders: readonly string[], keyHeader: string): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!];
    try {
      headers.append(name, value);
    } catch {
      // A lenient parser let through what Fetch does not: the header is left out, but a key is never taken for a missing one.
      if (name.toLowerCase() === keyHeader) headers.set(keyHeader, refused);
    }
  }
  if (isRepeated(rawHeaders, keyHeader)) headers.set(keyHeader, refused);
  return headers;
}

/** Joined, the lines `"a` and `b"` would be one well-formed key that nobody sent. */
export function isRepeated(rawHeaders: readonly string[], keyHeader: string): boolean {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === keyHeader).length > 1;
}

/** A request that is a Fetch one already, on a server that still knows its lines. */
export function withRefusedKey(request: Request, route: RouteOptions): Request {
  const headers = new Headers(request.headers);
  headers.set(keyHeaderOf(route), refused);
  return new Request(request.url, { method: request.method, headers });
}

export const hasKey = (request: Request, route: RouteOptions): boolean => request.headers.has(keyHeaderOf(route));

export const hasRepeatedKey = (rawHeaders: readonly string[], route: RouteOptions): boolean =>
  isRepeated(rawHeaders, keyHeaderOf(route));

function urlOf(request: DoorRequest): string {
  const path = request.originalUrl ?? request.url ?? "/";
  const scheme = (request.socket as { encrypted?: boolean } | null)?.encrypted === true ? "https" : "http";
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const url = `${scheme}://${request.headers.host ?? "localhost"}${rooted}`;
  // A host that is none must not decide anything: only path and query are part of what a key is for.
  return URL.canParse(url) ? url : new URL(rooted.replace(/^\/+/, "/"), "http://localhost").href;
}
