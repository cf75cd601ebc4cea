// Idempotency-Key in front of a handler of Node's own server.
import type { IncomingMessage, ServerResponse } from "node:http";
import { problemType } from "../../../protocol/problem.ts";
import type { Captured, KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { enter } from "./enter.ts";
import { writeAnswer } from "./write-answer.ts";

/** A request behind `idempotent`. */
export type KeyedIncoming = IncomingMessage & {
  /** The context of the request's key; absent where no key applies. */
  idempotency?: KeyContext;
  /** The body as it came, once it was read for its fingerprint. It can be read from the request as well. */
  rawBody?: Uint8Array;
};

export type KeyedListener = (request: KeyedIncoming, response: ServerResponse) => unknown;

const failure: Captured = {
  status: 500,
  headers: [["content-type", problemType]],
  body: {
    kind: "whole",
    bytes: new TextEncoder().encode(
      JSON.stringify({ type: "about:blank", title: "Internal Server Error", status: 500 }),
    ),
  },
};

export function nodeDoor(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedListener,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  keys.check(route);
  return async (request: KeyedIncoming, response) => {
    const way = await enter(keys, route, request, response, request).catch((error: unknown) => {
      keys.logger.error("idempotency: a request could not be read", error);
      return { kind: "answer" as const, response: new Response(null, { status: 500 }) };
    });
    switch (way.kind) {
      case "plain":
        return void (await handle(request, response));
      case "answer":
        return writeAnswer(response, way.response);
      case "gone":
        return void response.destroy();
      case "execute": {
        request.idempotency = way.context;
        try {
          await handle(request, response);
        } catch (error) {
          keys.logger.error("idempotency: a handler failed", error);
          way.held.fail(error, failure);
        }
        return way.held.settled;
      }
    }
  };
}
