// The door of AWS Lambda takes the events and gives the results that AWS's own types describe. What it makes of them is tested beside it.
import type {
  ALBEvent,
  ALBResult,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyResult,
  APIGatewayProxyStructuredResultV2,
  Context,
  LambdaFunctionURLEvent,
  LambdaFunctionURLResult,
} from "aws-lambda";
import { expect, test } from "vitest";
import { asHandler, idempotent, type KeyedLambdaContext } from "../../packages/idem/src/lambda.ts";
import { keysOf, route } from "../../packages/idem/src/toolkit/http/doors/asking.suite.ts";

type Handler<E, R> = (event: E, context: Context) => Promise<R>;

test("one handler stands behind an HTTP API, a function URL, a REST API and a load balancer", async () => {
  const plain = asHandler(async (request) => new Response(request.url));
  const api: Handler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> = plain;
  const rest: Handler<APIGatewayProxyEvent, APIGatewayProxyResult> = plain;
  const url: Handler<LambdaFunctionURLEvent, LambdaFunctionURLResult> = plain;
  const balanced: Handler<ALBEvent, ALBResult> = plain;
  expect(new Set([api, rest, url, balanced]).size).toBe(1);
});

test("a keyed handler has the event and the context of AWS's types", async () => {
  const charge: Handler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> = idempotent(
    keysOf(),
    route,
    async (event: APIGatewayProxyEventV2, context: KeyedLambdaContext<Context>) => ({
      statusCode: 201,
      body: `${event.routeKey} ${context.functionName} ${context.idempotency.attempt}`,
    }),
  );
  const event = {
    version: "2.0",
    routeKey: "POST /charges",
    rawPath: "/charges",
    rawQueryString: "",
    headers: { host: "shop.test", "idempotency-key": "k" },
    requestContext: { http: { method: "POST", sourceIp: "203.0.113.9" } },
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEventV2;
  const context = { functionName: "charge" } as Context;
  const [first, second] = [await charge(event, context), await charge(event, context)];
  expect([first.body, second.body, second.headers?.["idempotent-replayed"]]).toEqual([
    "POST /charges charge 1",
    "POST /charges charge 1",
    "true",
  ]);
});
