/**
 * AWS Lambda behind an HTTP API, a function URL, a REST API or a load balancer: functions for an Idem server to call, handlers behind an
 * Idempotency-Key, and any Fetch handler (a webhook's receiver). A schedule calls `lambdaSchedule` of idem/serverless.
 *
 * ```ts
 * export const handler = serve(idem);
 *
 * export const charge = idempotent(keys, { onCrash: "park" }, async (event, { idempotency }) => {
 *   const charged = await pay(JSON.parse(event.body ?? "{}"), idempotency.destinationKey("stripe"));
 *   return { statusCode: 201, body: JSON.stringify(charged) };
 * });
 *
 * export const stripe = asHandler(webhook({ source: "stripe", provider, database }));
 * ```
 */
import type { Idem } from "./sdk/client.ts";
import type { FetchHandler } from "./sdk/request-address.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { fetchHandler } from "./serve/fetch-handler.ts";
import type { RouteOptions } from "./toolkit/http/begin.ts";
import { type KeyedLambdaHandler, lambdaDoor } from "./toolkit/http/doors/lambda-door.ts";
import { type LambdaEvent, type LambdaResult, requestOf, resultOf } from "./toolkit/http/doors/lambda-event.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { FetchHandler } from "./sdk/request-address.ts";
export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { KeyedLambdaContext, KeyedLambdaHandler, LambdaAnswer } from "./toolkit/http/doors/lambda-door.ts";
export type { LambdaEvent, LambdaResult } from "./toolkit/http/doors/lambda-event.ts";

export type LambdaHandler = (event: LambdaEvent) => Promise<LambdaResult>;

/** Give the function a timeout above `maxRuntime` (10 seconds by default; of Lambda it is 3): what is cut off is entered again. */
export const serve = (idem: Idem, options: ServeOptions = {}): LambdaHandler =>
  asHandler(fetchHandler(idem, options, "aws-lambda"));

/** The handler runs once per key; `context.idempotency` is the key's context. */
export const idempotent = <E extends LambdaEvent = LambdaEvent, C extends object = object>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedLambdaHandler<E, C>,
): ((event: E, context: C) => Promise<LambdaResult>) => lambdaDoor(keys, route, handle);

/** A Fetch handler as one of Lambda: `webhook(…)`, `keys.handler(…)`, `vercelCron(…)`. Answers are sent whole: a stream of events is refused with 501. */
export const asHandler =
  (handle: FetchHandler): LambdaHandler =>
  async (event) =>
    resultOf(await handle(requestOf(event)), event);
