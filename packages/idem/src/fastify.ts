// biome-ignore-all lint/suspicious/noTsIgnore: it is meant for the declarations, where there is an error only without `fastify`.

/**
 * Fastify: functions for an Idem server to call, as options of a route, and routes behind an Idempotency-Key. Calls are answered before
 * Fastify reads them: nothing of a body is parsed before its signature was checked, and no `bodyLimit` applies.
 *
 * ```ts
 * app.route({ url: "/api/idem", ...serve(idem) }); // with IDEM_DEV=1; then: npx idem dev -u http://127.0.0.1:3000/api/idem
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

/** Without Fastify there is no such module:
 * @ts-ignore */
declare module "fastify" {
  interface FastifyRequest {
    /** The context of the key of a request behind `idempotent`; absent where no key applies. */
    idempotency?: KeyContext;
  }
}

export interface FastifyRequestLike {
  readonly raw: NodeRequest;
}

export interface FastifyReplyLike {
  readonly raw: Pick<NodeResponse, "writableFinished" | "on">;
  code(status: number): this;
  headers(headers: Record<string, string>): this;
  send(body: string): this;
}

export type FastifyHandler = (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>;

/** A whole route but for its address. */
export interface FastifyRoute {
  readonly method: ("GET" | "PUT" | "POST")[];
  /** Answers, so that no other hook of the route and no handler comes after it. */
  readonly onRequest: FastifyHandler;
  readonly handler: FastifyHandler;
}

export function serve(idem: Idem, options: ServeOptions = {}): FastifyRoute {
  const handle = appHandler(idem, options, "fastify");
  const answer: FastifyHandler = async ({ raw }, reply) => {
    const gone = new AbortController();
    reply.raw.on("close", () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    const { status, headers, body } = await handle(nodeRequest(raw, gone.signal));
    return reply
      .code(status)
      .headers({ ...headers })
      .send(body);
  };
  return { method: ["GET", "PUT", "POST"], onRequest: answer, handler: answer };
}

/**
 * Options for a route whose handler runs once per key: `preParsing`, `preHandler` and `onError`. A route with hooks of its own of
 * these names puts them side by side in a list.
 */
export const idempotent = (keys: Idempotency, route: RouteOptions): FastifyRouteHooks => fastifyDoor(keys, route);
