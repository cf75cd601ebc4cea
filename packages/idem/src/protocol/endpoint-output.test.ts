import { expect, test } from "vitest";
import { endpointOutput, responseEvent } from "./endpoint-output.ts";

const completed = (value: unknown) => ({ state: "completed", result: JSON.stringify(value) }) as const;

test("a kept response is replayed with its status, headers and body, but not what belongs to another connection or origin", () => {
  const headers = {
    "Content-Type": "text/plain",
    "X-Request-Id": "é",
    "Retry-After": "3",
    "Set-Cookie": "a=b",
    "Content-Length": "99",
    "Transfer-Encoding": "chunked",
    "bad name": "x",
    "x-split": "a\r\nb: c",
  };
  expect(endpointOutput(completed({ status: 418, headers, body: "tea", version: 2 }))).toEqual({
    status: 418,
    headers: { "content-type": "text/plain", "x-request-id": "é", "retry-after": "3" },
    body: "tea",
  });
});

test("a kept response speaks for its app, not for this server: only headers of a list are its answer's, in its stream all are data", () => {
  const hostile = {
    "Clear-Site-Data": '"*"',
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    Refresh: "0; url=https://evil.example",
    "WWW-Authenticate": "Basic realm=idem",
    "Content-Security-Policy": "default-src *",
    "X-Accel-Redirect": "/internal/secret",
    "X-Sendfile": "/etc/passwd",
    Link: "<https://evil.example/x>; rel=preload",
    "Access-Control-Allow-Origin": "https://evil.example",
    "Access-Control-Allow-Credentials": "true",
    "Public-Key-Pins": "pin-sha256=x",
    "Alt-Svc": 'h2="evil.example:443"',
    "Report-To": "{}",
    NEL: "{}",
    "Service-Worker-Allowed": "/",
    "Set-Cookie": "session=mine",
    "X-Inngest-Signature": "t=1&s=2",
  };
  const end = completed({ status: 200, headers: { ...hostile, "Content-Type": "text/html" }, body: "" });
  expect(endpointOutput(end).headers).toEqual({ "content-type": "text/html" });
  expect(responseEvent(end)).toContain('"refresh":"0; url=https://evil.example"');
  expect(responseEvent(end)).not.toContain("session=mine");
});

test("a result that is no response is answered as JSON", () => {
  expect(endpointOutput(completed([1, 2]))).toMatchObject({ status: 200, body: "[1,2]" });
  expect(endpointOutput(completed(null))).toMatchObject({ status: 200, body: "null" });
  expect(endpointOutput(completed({ status: "odd" }))).toMatchObject({ status: 200, body: '{"status":"odd"}' });
});

test("a failure is answered with its name and message, never with its stack", () => {
  const result = JSON.stringify({ name: "Error", message: "no luck", stack: "at secret.ts:1" });
  expect(endpointOutput({ state: "failed", result })).toMatchObject({
    status: 500,
    body: '{"name":"Error","message":"no luck"}',
  });
  expect(responseEvent({ state: "failed", result })).toBe(
    `event: inngest.response\ndata: ${JSON.stringify({
      status: "failed",
      response: {
        body: '{"name":"Error","message":"no luck"}',
        headers: { "content-type": "application/json" },
        statusCode: 500,
      },
    })}\n\n`,
  );
});
