// Node's own request and response, and those of frameworks that pass them on. Their types are described, not imported.
import type { Idem } from "../sdk/client.ts";
import { type AppRequest, appHandler, type ServeOptions } from "./app-handler.ts";

export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The whole path, where a router has cut its own part off `url`. */
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket?: object | null;
  /** Made by a body parser. */
  readonly body?: unknown;
}

export interface NodeResponse {
  readonly writableFinished: boolean;
  on(event: "close", hear: () => void): unknown;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  end(body?: string): unknown;
}

export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>;

export function nodeHandler(idem: Idem, options: ServeOptions, framework: string): NodeHandler {
  const handle = appHandler(idem, options, framework);
  return async (request, response) => {
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    const { status, headers, body } = await handle(nodeRequest(request, gone.signal));
    if (gone.signal.aborted) return;
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
    response.end(body);
  };
}

export function nodeRequest(request: NodeRequest, signal: AbortSignal): AppRequest {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === "string" || value === undefined ? value : value[0];
  };
  const protocol = firstOf(header("x-forwarded-proto")) ?? (isEncrypted(request) ? "https" : "http");
  const host = firstOf(header("x-forwarded-host")) ?? header("host") ?? "localhost";
  return {
    method: request.method ?? "GET",
    url: urlOf(protocol, host, request.originalUrl ?? request.url ?? "/"),
    header,
    body: () => {
      const parsed = parsedBody(request.body, header("content-length"));
      return parsed === null ? request : [parsed];
    },
    address: (request.socket as { remoteAddress?: string } | null | undefined)?.remoteAddress ?? null,
    signal,
  };
}

/** A parser came first: its value is written down again, which changes nothing that is signed. Null when nobody has read it. */
export function parsedBody(body: unknown, contentLength: string | undefined): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString("utf8");
  // Some parsers leave {} where there was nothing to parse, others where there was {}.
  const isNothing = Object.keys(body).length === 0 && (contentLength === undefined || contentLength === "0");
  return isNothing ? null : JSON.stringify(body);
}

const isEncrypted = ({ socket }: NodeRequest): boolean =>
  (socket as { encrypted?: unknown } | null)?.encrypted === true;

/** Proxies in a row each add theirs; the first is the one the caller saw. */
const firstOf = (header: string | undefined): string | undefined => header?.split(",")[0]?.trim() || undefined;

function urlOf(protocol: string, host: string, path: string): string {
  // A host header that is none must not end the process; the address it would give is useless anyway.
  const base = `${protocol === "https" ? "https" : "http"}://${host}`;
  const rooted = path.startsWith("/") ? path : `/${path}`;
  return URL.canParse(base + rooted)
    ? new URL(base + rooted).href
    : new URL(rooted.replace(/^\/+/, "/"), "http://localhost").href;
}
