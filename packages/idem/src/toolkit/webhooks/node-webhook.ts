// Receiving for Node's own requests and for Express: the bytes as they came, so it stands before any body parser.
import { errors } from "../../model/errors.ts";
import type { WebhookReceiver } from "./receive.ts";

/** The part of Node's request that is used, also of frameworks that pass it on. */
export interface NodeDelivery extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The whole path, where a router has cut its own part off `url`. */
  readonly originalUrl?: string;
  readonly rawHeaders: readonly string[];
  readonly socket?: object | null;
  /** Left by a body parser. */
  readonly body?: unknown;
  /** The bytes, where they were kept. */
  readonly rawBody?: unknown;
}

export interface NodeAnswer {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body?: string): unknown;
}

export type NodeWebhook = (request: NodeDelivery, response: NodeAnswer, next?: (error: unknown) => void) => void;

/**
 * A receiver for `node:http` and Express.
 *
 * ```ts
 * app.post("/webhooks/stripe", nodeWebhook(receive)); // before express.json()
 * ```
 */
export function nodeWebhook(receive: WebhookReceiver): NodeWebhook {
  const answer = async (request: NodeDelivery, response: NodeAnswer): Promise<void> => {
    const answered = await receive(requestOf(request));
    const body = await answered.text();
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(body);
  };
  return (request, response, next) => {
    answer(request, response).catch((error: unknown) => {
      if (next !== undefined) return next(error);
      response.writeHead(500, {});
      response.end();
    });
  };
}

function requestOf(request: NodeDelivery): Request {
  const headers = new Headers();
  // Joined with ", " where they came twice, which no signature survives.
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    if (!request.rawHeaders[i]!.startsWith(":")) headers.append(request.rawHeaders[i]!, request.rawHeaders[i + 1]!);
  }
  const method = request.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? {} : { body: bodyOf(request), duplex: "half" as const };
  return new Request(urlOf(request, headers.get("host")), { method, headers, ...body });
}

function bodyOf(request: NodeDelivery): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> {
  for (const kept of [request.rawBody, request.body]) if (kept instanceof Uint8Array) return Uint8Array.from(kept);
  // Written down again it would be other bytes, and every signature wrong: better said at the first delivery than guessed at.
  if (typeof request.body === "object" && request.body !== null && Object.keys(request.body).length > 0) {
    const why = "a body parser came first; mount it before express.json(), or keep the bytes as request.rawBody";
    throw errors.TOOLKIT_OPTION_INVALID({ call: "nodeWebhook", option: "request.body", why });
  }
  const chunks = request[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(typeof value === "string" ? Buffer.from(value) : new Uint8Array(value as Uint8Array));
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}

/** Behind a proxy this is not the address the provider called; for Twilio, which signs it, the public one has to be given. */
function urlOf({ socket, originalUrl, url }: NodeDelivery, host: string | null): string {
  const scheme = (socket as { encrypted?: unknown } | null)?.encrypted === true ? "https" : "http";
  const path = originalUrl ?? url ?? "/";
  const whole = `${scheme}://${host ?? "localhost"}${path.startsWith("/") ? path : `/${path}`}`;
  return URL.canParse(whole) ? whole : "http://localhost/";
}
