// Idempotency-Key as options of a Fastify route. The bytes are kept before Fastify parses them; the key is claimed after its validation, right
// before the handler, so that what is refused earlier is never stored.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { problemResponse } from "../problems.ts";
import { routeSettings } from "../route-settings.ts";
import { enter } from "./enter.ts";
import type { HeldResponse } from "./held-response.ts";
import { keepRawBody, keptBody } from "./kept-body.ts";
import { fetchRequest, hasKey, isMeant } from "./node-request.ts";

export interface FastifyRequestLike {
  readonly raw: IncomingMessage;
}

export interface FastifyReplyLike {
  readonly raw: ServerResponse;
  code(status: number): this;
  header(name: string, value: string): this;
  send(payload?: unknown): this;
  hijack(): this;
}

export type FastifyPayload = Readable & { receivedEncodedLength?: number };

export interface FastifyRouteHooks {
  readonly preParsing: (
    request: FastifyRequestLike,
    reply: FastifyReplyLike,
    payload: FastifyPayload,
  ) => Promise<unknown>;
  readonly preHandler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>;
  readonly onError: (request: FastifyRequestLike, reply: FastifyReplyLike, error: Error) => Promise<void>;
}

export function fastifyDoor(keys: Idempotency, route: RouteOptions): FastifyRouteHooks {
  keys.check(route);
  const { requestBytesMax } = routeSettings(route);
  const held = new WeakMap<ServerResponse, HeldResponse>();
  return {
    async preParsing({ raw }, reply, payload) {
      const isRead = isMeant(raw.method, route) && route.fingerprint?.body !== "headers";
      if (!isRead || !hasKey(fetchRequest(raw, route), route)) return payload;
      const isRaw = (payload as object) === raw;
      const bytes = await (isRaw ? keptBody(raw, requestBytesMax) : decodedBytes(payload, requestBytesMax));
      if (bytes.length > requestBytesMax) return answer(reply, problemResponse("body-too-large"));
      if (isRaw) return payload;
      keepRawBody(raw, reply.raw, bytes);
      return Object.assign(Readable.from([bytes]), { receivedEncodedLength: payload.receivedEncodedLength });
    },
    async preHandler(request, reply) {
      const way = await enter(keys, route, request.raw, reply.raw, request);
      switch (way.kind) {
        case "plain":
          return;
        case "answer":
          return answer(reply, way.response);
        case "gone":
          reply.hijack();
          reply.raw.destroy();
          return reply;
        case "execute":
          (request as { idempotency?: KeyContext }).idempotency = way.context;
          held.set(reply.raw, way.held);
      }
    },
    async onError(_request, reply, error) {
      held.get(reply.raw)?.threw(error);
    },
  };
}

/** A hook before this one has decompressed the request and read it. One chunk more than the bound is enough to refuse it. */
async function decodedBytes(payload: Readable, bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let count = 0;
  for await (const chunk of payload) {
    chunks.push(chunk as Buffer);
    count += (chunk as Buffer).length;
    if (count > bytesMax) break;
  }
  return Buffer.concat(chunks);
}

async function answer(reply: FastifyReplyLike, response: Response): Promise<FastifyReplyLike> {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  if (!reply.raw.req.complete) {
    reply.header("connection", "close");
    reply.raw.req.resume();
  }
  return reply.send(response.body === null ? undefined : Buffer.from(await response.arrayBuffer()));
}
