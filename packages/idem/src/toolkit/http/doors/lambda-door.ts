// Idempotency-Key around a handler of AWS Lambda: event and context in, result out, as without it.
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { fetchDoor } from "./fetch-door.ts";
import { type LambdaEvent, type LambdaResult, requestOf, resultOf } from "./lambda-event.ts";
import { keyHeaderOf } from "./node-request.ts";

/** A handler's answer: any of the forms that AWS takes, and of an HTTP API also the bare value. */
export type LambdaAnswer =
  | {
      readonly statusCode?: number;
      readonly headers?: Readonly<Record<string, string | number | boolean>> | undefined;
      readonly multiValueHeaders?: Readonly<Record<string, readonly (string | number | boolean)[]>> | undefined;
      readonly cookies?: readonly string[] | undefined;
      readonly body?: string | undefined;
      readonly isBase64Encoded?: boolean | undefined;
    }
  | string;

/** The function's own context, with that of the key. */
export type KeyedLambdaContext<C> = C & { readonly idempotency: KeyContext };

export type KeyedLambdaHandler<E, C> = (event: E, context: KeyedLambdaContext<C>) => Promise<LambdaAnswer>;

export function lambdaDoor<E extends LambdaEvent, C extends object>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedLambdaHandler<E, C>,
): (event: E, context: C) => Promise<LambdaResult> {
  const visit = fetchDoor(keys, route);
  return async (event, context) => {
    const request = requestOf(event, keyHeaderOf(route));
    const run = async (idempotency: KeyContext): Promise<Response> => {
      // Not a copy: what is set on it (`callbackWaitsForEmptyEventLoop`) is heard.
      const keyed = Object.create(context, { idempotency: { value: idempotency, enumerable: true } });
      return responseOf(await handle(event, keyed as KeyedLambdaContext<C>));
    };
    return resultOf(await visit({ request, native: event, handle: run }), event);
  };
}

function responseOf(answer: LambdaAnswer): Response {
  // An HTTP API takes what has no status for the body of a success.
  if (typeof answer !== "object" || answer === null || answer.statusCode === undefined) {
    const text = typeof answer === "string" ? answer : JSON.stringify(answer ?? null);
    return new Response(text, { headers: { "content-type": "application/json" } });
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers ?? {})) headers.set(name, String(value));
  for (const [name, values] of Object.entries(answer.multiValueHeaders ?? {})) {
    headers.delete(name);
    for (const value of values) headers.append(name, String(value));
  }
  for (const cookie of answer.cookies ?? []) headers.append("set-cookie", cookie);
  const bytes = Buffer.from(answer.body ?? "", answer.isBase64Encoded === true ? "base64" : "utf8");
  const hasNone = bytes.length === 0 || answer.statusCode === 204 || answer.statusCode === 304;
  return new Response(hasNone ? null : bytes, { status: answer.statusCode, headers });
}
