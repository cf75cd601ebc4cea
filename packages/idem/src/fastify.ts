// biome-ignore-all lint/suspicious/noTsIgnore: it is meant for the declarations, where there is an error only without `fastify`.

/**
 * Fastify: functions for an Idem server to call, as a route handler, and routes behind an Idempotency-Key. Fastify reads bodies
 * itself, up to its own `bodyLimit` of 1 MiB: raise it on the route if runs carry more.
 *
 * ```ts
 * app.route({ method: ["GET", "PUT", "POST"], url: "/api/idem", bodyLimit: 32 * 1024 * 1024, handler: serve(idem) });
 *
 * app.post("/charges", { ...idempotent(keys, { onCrash: "park" }) }, async (request) => charge(request.body));
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import { appHandler, type ServeOptions } from "./serve/app-handler.ts";
import { type NodeRequest, type NodeResponse, nodeRequest } from "./serve/node-handler.ts";
import type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
import { type FastifyRouteHooks, fastifyDoor } from "./toolkit/http/doors/fastify-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { FastifyRouteHooks } from "./toolkit/http/doors/fastify-door.ts";

/** Who does not use Fastify has none to add to:
 * @ts-ignore */
declare module "fastify" {
  interface FastifyRequest {
    /** What a handler behind `idempotent` is told of its key; absent where no key applies. */
    idempotency?: KeyContext;
  }
}

export interface FastifyRequestLike {
  readonly raw: NodeRequest;
  readonly body?: unknown;
}

export interface FastifyReplyLike {
  readonly raw: Pick<NodeResponse, "writableFinished" | "on">;
  code(status: number): this;
  headers(headers: Record<string, string>): this;
  send(body: string): this;
}

export type FastifyHandler = (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>;

export function serve(idem: Idem<any>, options: ServeOptions = {}): FastifyHandler {
  const handle = appHandler(idem, options, "fastify");
  return async (request, reply) => {
    const gone = new AbortController();
    reply.raw.on("close", () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    const { raw, body: parsed } = request;
    const { method, url, headers, socket } = raw;
    // What Fastify has read is not in Node's request any more; without a body there is nothing to read either.
    const given: NodeRequest = {
      method,
      url,
      headers,
      socket: socket ?? null,
      body: parsed ?? "",
      [Symbol.asyncIterator]: () => raw[Symbol.asyncIterator](),
    };
    const { status, headers: answered, body } = await handle(nodeRequest(given, gone.signal));
    return reply
      .code(status)
      .headers({ ...answered })
      .send(body);
  };
}

/**
 * Options for a route whose handler runs once per key: `preParsing`, `preHandler` and `onError`. A route with hooks of its own of
 * these names puts them side by side in a list.
 */
export const idempotent = (keys: Idempotency, route: RouteOptions): FastifyRouteHooks => fastifyDoor(keys, route);
