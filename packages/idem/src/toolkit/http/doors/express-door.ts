// Idempotency-Key as Express middleware. A handler's error ends in the app's own error handler, whose response is captured like any other.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { enter } from "./enter.ts";
import type { HeldResponse } from "./held-response.ts";
import type { KeyedIncoming } from "./node-door.ts";
import { writeAnswer } from "./write-answer.ts";

type Next = (error?: unknown) => void;

export type ExpressMiddleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;
export type ExpressErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: Next,
) => void;

const heldBy = new WeakMap<ServerResponse, HeldResponse>();

export function expressDoor(keys: Idempotency, route: RouteOptions): ExpressMiddleware {
  keys.check(route);
  return (request: KeyedIncoming, response, next) => {
    enter(keys, route, request, response, request)
      .then((way) => {
        switch (way.kind) {
          case "plain":
            return next();
          case "answer":
            return writeAnswer(response, way.response);
          case "gone":
            return void response.destroy();
          case "execute":
            request.idempotency = way.context;
            heldBy.set(response, way.held);
            return next();
        }
      })
      .catch(next);
  };
}

/** Express passes a thrown error to error middleware only: this one remembers which it was, and passes it on. */
export const expressErrors: ExpressErrorMiddleware = (error, _request, response, next) => {
  heldBy.get(response)?.threw(error);
  next(error);
};
