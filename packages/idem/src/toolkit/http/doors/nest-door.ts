// Idempotency-Key as an interceptor of NestJS, on Express or Fastify: behind its guards, before its pipes and the handler. The handler's value is
// written by Nest to the response, and captured there like any other; its error is noted here and answered by Nest's filters.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { enter } from "./enter.ts";
import type { HeldResponse } from "./held-response.ts";
import { keepRawBody } from "./kept-body.ts";
import type { DoorRequest } from "./node-request.ts";
import { writeAnswer } from "./write-answer.ts";

/** The part of an `ExecutionContext` that is used. */
export interface NestContext {
  switchToHttp(): { getRequest<T>(): T; getResponse<T>(): T };
}

/** The part of an `Observable` that is used. */
export interface NestStream {
  subscribe(observer: { next(value: unknown): void; error(error: unknown): void; complete(): void }): unknown;
}

export interface NestInterceptor {
  intercept<S extends NestStream>(context: NestContext, next: { handle(): S }): Promise<S>;
}

type Platform = (IncomingMessage & { readonly raw?: undefined }) | FastifyRequest;

interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly rawBody?: Uint8Array;
  readonly originalUrl?: string;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  getHeaders(): Record<string, number | string | string[] | undefined>;
  hijack(): unknown;
}

export function nestDoor(keys: Idempotency, route: RouteOptions): NestInterceptor {
  keys.check(route);
  return {
    async intercept(context, next) {
      const http = context.switchToHttp();
      const native = http.getRequest<Platform>();
      const { request, response, leaveNest } = spokenBy(native, http.getResponse<ServerResponse | FastifyReply>());
      const way = await enter(keys, route, request, response, native);
      switch (way.kind) {
        case "plain":
          return next.handle();
        case "execute":
          (native as { idempotency?: KeyContext }).idempotency = way.context;
          hideConnection(response, way.held);
          return told(next.handle(), way.held);
        case "answer":
          leaveNest();
          await writeAnswer(response, way.response);
          return never();
        case "gone":
          leaveNest();
          response.destroy();
          return never();
      }
    },
  };
}

function spokenBy(native: Platform, answer: ServerResponse | FastifyReply) {
  if (native.raw === undefined) {
    return { request: native as DoorRequest, response: answer as ServerResponse, leaveNest: () => {} };
  }
  const reply = answer as FastifyReply;
  if (native.rawBody !== undefined) keepRawBody(native.raw, reply.raw, native.rawBody);
  // Fastify keeps headers of its own (CORS) until it sends; what is answered past it has them as well.
  const leaveNest = () => {
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    reply.hijack();
  };
  return { request: native.raw as DoorRequest, response: reply.raw, leaveNest };
}

/** A file that a handler gives is thrown away by Nest when the connection of `response.req` is gone; the retry asks for it all the same. */
function hideConnection(response: ServerResponse, held: HeldResponse): void {
  const { req } = response;
  const put = (value: IncomingMessage) => Object.defineProperty(response, "req", { configurable: true, value });
  put(Object.create(req, { socket: { value: null } }) as IncomingMessage);
  void held.settled.then(() => put(req));
}

/** All the handler gives, once it is over: a list is a stream to rxjs, which is not loaded here. The work goes on when a client leaves. */
const told = <S extends NestStream>(source: S, held: HeldResponse): Promise<S> =>
  new Promise((resolve, reject) => {
    const values: unknown[] = [];
    source.subscribe({
      next: (value) => void values.push(value),
      error: (error) => {
        held.threw(error);
        reject(error);
      },
      complete: () => resolve(values as unknown as S),
    });
  });

/** It is answered: nothing is left for Nest to send, and nothing of this waits. */
const never = <S>(): Promise<S> => new Promise(() => {});
