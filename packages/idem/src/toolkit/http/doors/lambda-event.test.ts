// Every way in which AWS calls a function over HTTP: what came is what the handler gets, what it answers is what AWS takes.
import { expect, test } from "vitest";
import { asHandler, idempotent, type LambdaEvent, serve } from "../../../lambda.ts";
import { canonicalJson } from "../../../model/json.ts";
import { signatureHeader, signRequest } from "../../../protocol/request-signature.ts";
import { Idem } from "../../../sdk/client.ts";
import { notedAddress } from "../../../sdk/request-address.ts";
import { callBody, classic } from "../../../serve/served-world.suite.ts";
import { keysOf, route } from "./asking.suite.ts";

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

const arn = "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/shop/1";
const each = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));

/** POST https://shop.test/live/charges?a=1&b=x%20y from 203.0.113.9, as each of them tells it. */
const events: Record<string, (asked: Asked) => LambdaEvent> = {
  "HTTP API": ({ headers, body = "", isBase64Encoded = false }) => ({
    version: "2.0",
    rawPath: "/live/charges",
    rawQueryString: "a=1&b=x%20y",
    cookies: ["one=1", "two=2"],
    headers: { host: "shop.test", "x-forwarded-proto": "https", ...headers },
    requestContext: {
      domainName: "shop.test",
      http: { method: "POST", path: "/live/charges", sourceIp: "203.0.113.9" },
    },
    body,
    isBase64Encoded,
  }),
  "REST API": ({ headers, body = "", isBase64Encoded = false }) => ({
    httpMethod: "POST",
    path: "/charges",
    headers: { Host: "shop.test", Cookie: "one=1; two=2", ...headers },
    multiValueHeaders: each({ Host: "shop.test", Cookie: "one=1; two=2", ...headers }),
    queryStringParameters: { a: "1", b: "x y" },
    multiValueQueryStringParameters: { a: ["1"], b: ["x y"] },
    requestContext: { path: "/live/charges", identity: { sourceIp: "203.0.113.9" } },
    body,
    isBase64Encoded,
  }),
  "load balancer": ({ headers, body = "", isBase64Encoded = false }) => ({
    httpMethod: "POST",
    path: "/live/charges",
    queryStringParameters: { a: "1", b: "x%20y" },
    headers: {
      host: "shop.test",
      cookie: "one=1; two=2",
      "x-forwarded-for": "10.0.0.1, 203.0.113.9",
      "x-forwarded-proto": "https",
      ...headers,
    },
    requestContext: { elb: { targetGroupArn: arn } },
    body,
    isBase64Encoded,
  }),
  "load balancer with multi-value headers": ({ headers, body = "", isBase64Encoded = false }) => ({
    httpMethod: "POST",
    path: "/live/charges",
    multiValueQueryStringParameters: { a: ["1"], b: ["x%20y"] },
    multiValueHeaders: each({
      host: "shop.test",
      cookie: "one=1; two=2",
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-proto": "https",
      ...headers,
    }),
    requestContext: { elb: { targetGroupArn: arn } },
    body,
    isBase64Encoded,
  }),
};
const names = Object.keys(events);

test.each(names)("%s: method, address, cookies and every byte of the body come as they were sent", async (name) => {
  const bytes = Buffer.from([0xff, 0x00, 0x80, 0x0a]);
  const echo = asHandler(async (request) => {
    const got = Buffer.from(await request.arrayBuffer()).toString("hex");
    const { method, url, headers } = request;
    return Response.json([method, url, headers.get("cookie"), headers.get("x-own"), got, notedAddress(request)]);
  });
  const asked = { headers: { "x-own": "a" }, body: bytes.toString("base64"), isBase64Encoded: true };
  const { statusCode, body } = await echo(events[name]!(asked));
  const url = "https://shop.test/live/charges?a=1&b=x%20y";
  const got = ["POST", url, "one=1; two=2", "a", bytes.toString("hex"), "203.0.113.9"];
  expect([statusCode, JSON.parse(body)]).toEqual([200, got]);
});

test.each(names)("%s: text goes back as text, other bytes in base64, each cookie by itself", async (name) => {
  const answer = (body: string | Uint8Array<ArrayBuffer>) =>
    asHandler(async () => {
      const headers = new Headers({ "content-type": "text/plain", location: "/charges/1" });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      return new Response(body, { status: 201, headers });
    })(events[name]!({}));
  const text = await answer("\ufeffgrün");
  expect([text.statusCode, text.body, text.isBase64Encoded]).toEqual([201, "\ufeffgrün", false]);
  const other = await answer(new Uint8Array([0xff, 0x00]));
  expect([other.body, other.isBase64Encoded]).toEqual(["/wA=", true]);
  const { headers, multiValueHeaders, cookies } = text;
  const plain = { "content-type": "text/plain", location: "/charges/1" };
  const wanted: Record<string, unknown> = {
    "HTTP API": { headers: plain, cookies: ["a=1", "b=2"] },
    "REST API": { headers: {}, multiValueHeaders: { ...each(plain), "set-cookie": ["a=1", "b=2"] } },
    "load balancer": { headers: { ...plain, "set-cookie": "a=1", "Set-cookie": "b=2" } },
    "load balancer with multi-value headers": {
      headers: {},
      multiValueHeaders: { ...each(plain), "set-cookie": ["a=1", "b=2"] },
    },
  };
  expect({ headers, multiValueHeaders, cookies }).toEqual({
    multiValueHeaders: undefined,
    cookies: undefined,
    ...(wanted[name] as object),
  });
});

test.each(names)("%s: a handler behind a key runs once; a retry gets its status and its bytes", async (name) => {
  let executed = 0;
  const handler = idempotent(
    keysOf(),
    route,
    async (event, context: { idempotency: { attempt: number }; f: string }) => {
      const { amount } = JSON.parse(event.body!) as { amount: number };
      const body = JSON.stringify([++executed, amount, context.idempotency.attempt, context.f]);
      return { statusCode: 201, headers: { "content-type": "application/json", "set-cookie": "own=1" }, body };
    },
  );
  const call = (body: string) => {
    const headers = { "idempotency-key": "k", "content-type": "application/json" };
    return handler(events[name]!({ headers, body }), { f: "shop" } as never);
  };
  const headersOf = (result: Awaited<ReturnType<typeof call>>): Record<string, unknown> =>
    result.multiValueHeaders ?? result.headers;
  const [first, second] = [await call('{"amount":1}'), await call('{"amount":1}')];
  expect([first.statusCode, first.body]).toEqual([201, '[1,1,1,"shop"]']);
  expect([second.statusCode, second.body]).toEqual([201, first.body]);
  expect([headersOf(second)["idempotent-replayed"]].flat()).toEqual(["true"]);
  expect(second.cookies ?? headersOf(second)["set-cookie"]).toBeUndefined();
  expect((await call('{"amount":2}')).statusCode).toBe(422);
  expect(executed).toBe(1);
});

test("of an HTTP API, a value without a status is the body of a success, as AWS has it", async () => {
  const headers = { "idempotency-key": "k" };
  const context = {};
  for (const answer of [{ id: 1 }, "done"]) {
    const handler = idempotent(keysOf(), route, async () => answer as string);
    const { statusCode, body } = await handler(events["HTTP API"]!({ headers, body: "{}" }), context);
    expect([statusCode, body]).toEqual([200, typeof answer === "string" ? answer : JSON.stringify(answer)]);
  }
});

test("what is set on the context inside a keyed handler is heard by the runtime outside", async () => {
  const heard: unknown[] = [];
  const context = {
    set callbackWaitsForEmptyEventLoop(value: boolean) {
      heard.push(value);
    },
  };
  const handler = idempotent(keysOf(), route, async (_event, keyed: typeof context & { idempotency: unknown }) => {
    keyed.callbackWaitsForEmptyEventLoop = false;
    return { statusCode: 204 };
  });
  const result = await handler(events["HTTP API"]!({ headers: { "idempotency-key": "k" } }), context as never);
  expect([result.statusCode, result.body, heard]).toEqual([204, "", [false]]);
});

test.each(names)("%s: calls of a server are answered and signed, and refused without a signature", async (name) => {
  const key = "4f2a9c0e7b1d8356af03c9e2517bd864";
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const idem = new Idem({ id: "shop", server: "http://127.0.0.1:9", signingKey: key, logger });
  idem.createFunction({ id: "fn" }, { event: "test/go" }, ({ step }) => step.run("a", () => ({ done: true })));
  const handler = serve(idem);
  const body = canonicalJson(JSON.parse(JSON.stringify(callBody({ ctx: classic }))));
  const signed = { "content-type": "application/json", [signatureHeader]: signRequest(body, key, Date.now()) };
  const called = { query: "fnId=shop-fn&stepId=step" };
  const asked = (headers: Record<string, string>): LambdaEvent => {
    const event = events[name]!({ headers, body });
    const parameters = Object.fromEntries(new URLSearchParams(called.query));
    return {
      ...event,
      ...(event.version === "2.0" ? { rawQueryString: called.query } : {}),
      queryStringParameters: parameters,
      ...(event.multiValueQueryStringParameters ? { multiValueQueryStringParameters: each(parameters) } : {}),
    };
  };
  const answered = await handler(asked(signed));
  expect([answered.statusCode, JSON.parse(answered.body)[0].data]).toEqual([206, { done: true }]);
  expect((answered.multiValueHeaders ?? answered.headers)[signatureHeader]).toBeDefined();
  expect((await handler(asked({ "content-type": "application/json" }))).statusCode).toBe(401);
});

test("a stream of events is refused instead of holding the function until its time is over", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    cancel() {
      isCancelled = true;
    },
  });
  const headers = { "content-type": "text/event-stream; charset=utf-8" };
  const result = await asHandler(async () => new Response(body, { headers }))(events["HTTP API"]!({}));
  expect([result.statusCode, isCancelled]).toEqual([501, true]);
});

test("an event that is no request is refused in words", async () => {
  const queue = { Records: [], requestContext: undefined } as never;
  await expect(asHandler(async () => new Response())(queue)).rejects.toMatchObject({ code: "TOOLKIT_OPTION_INVALID" });
});
