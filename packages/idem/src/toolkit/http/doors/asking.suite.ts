// The start of tests of single doors: keys in memory, and a request with one.
import { memoryKeys } from "../../keys/memory-keys.ts";
import type { RouteOptions } from "../begin.ts";
import { type Idempotency, type IdempotencyKeyOptions, idempotency } from "../idempotency.ts";
import { ANONYMOUS_SHARED } from "../read-request.ts";

export const route: RouteOptions = { onCrash: "park" };

export const keysOf = (options: Partial<IdempotencyKeyOptions> = {}): Idempotency =>
  idempotency({
    keys: memoryKeys(),
    principal: ANONYMOUS_SHARED,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...options,
  });

export const post = (
  url: string,
  key: string,
  body: string | Buffer | FormData = "{}",
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: {
      ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
      "idempotency-key": key,
      ...headers,
    },
    body: body as never,
  });
