import { expect, test } from "vitest";
import { readHttpCall, writeReentry } from "./endpoint-request.ts";

const reentry = {
  runId: "01M7FB0HPWXK8EB1RXZ23NB3H2",
  stepId: "step",
  planOnly: false,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  requestId: "r",
  generation: 3,
  jobId: "j",
  serverKind: "dev",
};
const data = {
  domain: "https://shop.example:8443",
  method: "post",
  path: "/orders/7",
  query_params: "b=2&a=1",
  content_type: "application/json",
  body: '{"b": 1, "a": "é"}',
};

test("entering again repeats method, address, query and body, and signs the body's canonical form", () => {
  const request = writeReentry(readHttpCall(data), reentry);
  expect(request).toMatchObject({
    url: "https://shop.example:8443/orders/7?b=2&a=1",
    method: "POST",
    body: '{"b": 1, "a": "é"}',
    signed: '{"a":"é","b":1}',
  });
  expect(request.headers).toMatchObject({
    "content-type": "application/json",
    "x-run-id": reentry.runId,
    "x-inngest-req-version": "2",
    "x-inngest-generation-id": "3",
  });
  expect(request.headers["x-inngest-step-id"]).toBeUndefined();
});

test("one step alone, and plans only, are asked for in headers", () => {
  const { headers } = writeReentry(readHttpCall(data), { ...reentry, stepId: "abc", planOnly: true });
  expect(headers).toMatchObject({ "x-inngest-step-id": "abc", "x-inngest-force-step-plan": "true" });
});

test("a request without a body signs nothing", () => {
  expect(writeReentry(readHttpCall({ ...data, method: "GET" }), reentry)).toMatchObject({ body: null, signed: "" });
  expect(writeReentry(readHttpCall({ ...data, method: "DELETE" }), reentry)).toMatchObject({
    body: data.body,
    signed: "",
  });
});

test.each([
  ["domain", "ftp://shop.example"],
  ["domain", "http://user:secret@shop.example"],
  ["domain", "shop"],
  ["path", "orders"],
  ["method", "GET /"],
  ["query_params", 7],
])("a request whose %s is %s cannot be entered again", (field, value) => {
  expect(() => readHttpCall({ ...data, [field]: value })).toThrow(/REQUEST_INVALID/);
});
