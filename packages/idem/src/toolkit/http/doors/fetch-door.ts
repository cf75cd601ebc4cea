// Idempotency-Key around a handler that is given its framework's own request, cookies and parameters and all (Next.js, SvelteKit, Bun, Lambda): the
// key is read from a copy.
import type { KeyContext, RouteOptions } from "../begin.ts";
import { type AnswerOf, fetchHandler } from "../fetch-handler.ts";
import type { Idempotency } from "../idempotency.ts";
import { hasKey, isMeant } from "./node-request.ts";

export interface FetchVisit {
  readonly request: Request;
  /** The framework's own request, for `principal`. */
  readonly native: unknown;
  handle(key: KeyContext): Response | Promise<Response>;
}

/** `answerOf` knows what of its framework's an error stands for an answer. */
export function fetchDoor(
  keys: Idempotency,
  route: RouteOptions,
  answerOf?: AnswerOf,
): (visit: FetchVisit) => Promise<Response> {
  keys.check(route);
  return ({ request, native, handle }) => {
    // Of a request that is not read for its key no copy is made: the half that nobody reads would be kept in memory.
    const asked = isMeant(request.method, route) && hasKey(request, route) ? request.clone() : request;
    const idempotency: Idempotency = { ...keys, read: (read) => keys.read(read, route, native) };
    const world = { idempotency, platform: keys.platform, logger: keys.logger, ...(answerOf && { answerOf }) };
    return fetchHandler(world, route, (_copy, key) => handle(key))(asked);
  };
}
