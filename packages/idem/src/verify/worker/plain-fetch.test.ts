// A plain request is the one that `fetch` itself would have made.
import { describe, expect, test } from "vitest";
import { plainRequest, plainResponse } from "./plain-fetch.ts";
import { RealResponse } from "./real.ts";

const url = "https://billing.example/v1/invoices?a=1#b";

const asked: readonly (readonly [string, Parameters<typeof fetch>])[] = [
  ["an address alone", [url]],
  ["an address that is a URL", [new URL(url)]],
  ["a text", [url, { method: "POST", body: "plain" }]],
  ["an empty text", [url, { method: "POST", body: "" }]],
  [
    "JSON with a key",
    [url, { method: "post", headers: { "Idempotency-Key": " k ", "content-type": "application/json" }, body: "{}" }],
  ],
  ["a form", [url, { method: "PUT", body: new URLSearchParams({ a: "ä b" }) }]],
  [
    "headers in pairs, one of them twice",
    [
      url,
      {
        headers: [
          ["x-a", "1"],
          ["X-A", "2"],
        ],
      },
    ],
  ],
  ["headers of one name in two ways", [url, { headers: { "x-a": "1", "X-A": "2" } }]],
  ["a header of a name that objects have", [url, { headers: { constructor: "1" } }]],
  ["a header that is a number", [url, { headers: { "x-a": 1 as unknown as string } }]],
  ["headers of their own class", [url, { method: "DELETE", headers: new Headers({ Accept: "text/html" }) }]],
  ["a method of lower case", [url, { method: "patch", body: "x" }]],
];

test.each(asked)("%s: the same method, address, headers and body", async (_, args) => {
  const request = new Request(...args);
  expect(plainRequest(...args)).toEqual({
    method: request.method.toUpperCase(),
    url: new URL(request.url),
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  });
});

test.each([
  ["no address", ["/v1/invoices"]],
  ["an address with a password", ["https://a:b@billing.example/"]],
  ["another scheme", ["data:text/plain,x"]],
  ["a body of a read", [url, { body: "x" }]],
  ["a header that is none", [url, { headers: { "a b": "c" } }]],
  ["a method that is none", [url, { method: "A B" }]],
  ["a method that nobody may use", [url, { method: "trace" }]],
  ["no options", [url, null]],
  ["a request", [new Request(url)]],
  ["a signal", [url, { signal: new AbortController().signal }]],
  ["how to be sent on", [url, { redirect: "manual" }]],
  ["bytes", [url, { method: "POST", body: new Uint8Array([1]) }]],
  ["a stream", [url, { method: "POST", body: new ReadableStream(), duplex: "half" }]],
  ["half a character", [url, { method: "POST", body: "\ud800" }]],
  ["a mark at the beginning", [url, { method: "POST", body: "\ufeffx" }]],
] as const)("%s is left to those who know", (_, args) => {
  expect(plainRequest(...(args as unknown as [unknown, unknown]))).toBeNull();
});

describe("an answer", () => {
  const request = plainRequest(url)!;
  const answer = {
    headers: { "content-type": "application/json" },
    body: '{"id":1}',
    isRepeat: false,
    isForgotten: false,
    isMadeUp: true,
  };

  test("is a Response that knows where it is from, and so does its clone", async () => {
    const response = plainResponse(request, { ...answer, status: 201 })!;
    // Not the one of the moment: a server of another test may have put its own in its place.
    expect(response).toBeInstanceOf(RealResponse);
    expect([response.status, response.ok, response.url, response.redirected]).toEqual([
      201,
      true,
      url.replace(/#.*/, ""),
      false,
    ]);
    expect(await response.clone().json()).toEqual({ id: 1 });
    expect(await response.json()).toEqual({ id: 1 });
  });

  test.each([204, 205, 304])("of %i has no body", async (status) => {
    expect(plainResponse(request, { ...answer, status })!.body).toBeNull();
  });

  test.each([301, 302, 303, 307, 308])("of %i is followed by those who know", (status) => {
    expect(plainResponse(request, { ...answer, status })).toBeNull();
  });

  test("that is packed is unpacked by those who know", () => {
    const headers = { "Content-Encoding": "gzip" };
    expect(plainResponse(request, { ...answer, status: 200, headers })).toBeNull();
  });
});
