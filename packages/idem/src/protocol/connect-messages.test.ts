// The bytes are compared with those of the SDK's own generated code: two codecs written from one page could share a mistake.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  connectionReady,
  executorRequest,
  extendLease,
  extendLeaseAck,
  flushResponse,
  frame,
  frameKind,
  replyAck,
  requestAck,
  sdkResponse,
  sdkStatus,
  startRequest,
  startResponse,
  toHttpAnswer,
  workerConnect,
  workerStatus,
} from "./connect-messages.ts";
import { MalformedMessageError, type Message } from "./protobuf-message.ts";

const sdkRoot = dirname(createRequire(import.meta.url).resolve("inngest/connect"));
const sdk = await import(
  pathToFileURL(join(sdkRoot, "proto/src/components/connect/protobuf/connect.js")).href as string
);

const word = fc.string({ maxLength: 40, unit: "grapheme" });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const blob = fc.uint8Array({ maxLength: 300 });
const count = fc.nat({ max: 2 ** 31 - 1 });

const request = { requestId: word, accountId: word, envId: word, appId: word };
const traced = { stepId: maybe(word), systemTraceCtx: blob, userTraceCtx: blob, runId: word };
const app = fc.record({ appName: word, appVersion: maybe(word), functions: blob });
const instant = fc.date({ min: new Date(1), max: new Date("2100-01-01"), noInvalidDate: true });

type Pair = { readonly name: string; readonly ours: Message<any>; readonly values: fc.Arbitrary<any> };
const pairs: readonly Pair[] = [
  { name: "ConnectMessage", ours: frame, values: fc.record({ kind: fc.integer({ min: 0, max: 15 }), payload: blob }) },
  { name: "StartRequest", ours: startRequest, values: fc.record({ excludeGateways: fc.array(word) }) },
  {
    name: "StartResponse",
    ours: startResponse,
    values: fc.record({
      connectionId: word,
      gatewayEndpoint: word,
      gatewayGroup: word,
      sessionToken: word,
      syncToken: word,
    }),
  },
  {
    name: "WorkerConnectRequestData",
    ours: workerConnect,
    values: fc.record({
      connectionId: word,
      instanceId: word,
      authData: maybe(fc.record({ sessionToken: word, syncToken: word })),
      capabilities: blob,
      apps: fc.array(app, { maxLength: 4 }),
      workerManualReadinessAck: fc.boolean(),
      systemAttributes: maybe(fc.record({ cpuCores: count, memBytes: fc.maxSafeNat(), os: word })),
      environment: maybe(word),
      framework: word,
      platform: maybe(word),
      sdkVersion: word,
      sdkLanguage: word,
      startedAt: maybe(instant.map((at) => ({ seconds: Math.trunc(+at / 1000), nanos: (+at % 1000) * 1_000_000 }))),
      maxWorkerConcurrency: maybe(fc.maxSafeNat()),
    }),
  },
  {
    name: "GatewayConnectionReadyData",
    ours: connectionReady,
    values: fc.record({ heartbeatInterval: word, extendLeaseInterval: word, statusInterval: word }),
  },
  {
    name: "GatewayExecutorRequestData",
    ours: executorRequest,
    values: fc.record({
      ...request,
      ...traced,
      appName: word,
      functionId: word,
      functionSlug: word,
      requestPayload: blob,
      leaseId: word,
      jobId: word,
    }),
  },
  { name: "WorkerRequestAckData", ours: requestAck, values: fc.record({ ...request, ...traced, functionSlug: word }) },
  {
    name: "WorkerRequestExtendLeaseData",
    ours: extendLease,
    values: fc.record({ ...request, ...traced, functionSlug: word, leaseId: word }),
  },
  {
    name: "WorkerRequestExtendLeaseAckData",
    ours: extendLeaseAck,
    values: fc.record({ ...request, functionSlug: word, newLeaseId: maybe(word) }),
  },
  {
    name: "SDKResponse",
    ours: sdkResponse,
    values: fc.record({
      ...request,
      status: fc.constantFrom(0, 1, 2),
      body: blob,
      noRetry: fc.boolean(),
      retryAfter: maybe(word),
      sdkVersion: word,
      requestVersion: fc.nat({ max: 2 ** 32 - 1 }),
      systemTraceCtx: blob,
      userTraceCtx: blob,
      runId: word,
    }),
  },
  { name: "WorkerReplyAckData", ours: replyAck, values: fc.record({ requestId: word }) },
  { name: "FlushResponse", ours: flushResponse, values: fc.record({ requestId: word }) },
  {
    name: "WorkerStatusData",
    ours: workerStatus,
    values: fc.record({ inFlightRequestIds: fc.array(word), shutdownRequested: fc.boolean() }),
  },
];

/** The SDK's generated types want undefined and dates where ours have null and parts. */
function toSdk(value: any): any {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map(toSdk);
  if (typeof value !== "object" || value instanceof Uint8Array) return value;
  if ("nanos" in value) return new Date(value.seconds * 1000 + value.nanos / 1_000_000);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toSdk(inner)]));
}

describe.each(pairs)("$name", ({ name, ours, values }) => {
  test("the bytes are those the SDK writes", () => {
    fc.assert(
      fc.property(values, (value) => {
        const theirs = sdk[name].encode(sdk[name].fromPartial(toSdk(value))).finish();
        expect(Buffer.from(ours.encode(value)).toString("hex")).toBe(Buffer.from(theirs).toString("hex"));
      }),
    );
  });

  test("what was written is read back, unknown fields around it notwithstanding", () => {
    // Field 900: a varint, a length-delimited value, a fixed32 and a fixed64.
    const unknown = Buffer.from("a0380a" + "a23803414243" + "a53801020304" + "a1380102030405060708", "hex");
    fc.assert(
      fc.property(values, (value) => {
        const read = ours.decode(new Uint8Array(Buffer.concat([unknown, ours.encode(value), unknown])));
        expect(read).toEqual(value);
      }),
    );
  });

  test("bytes that are no message are one kind of error, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          ours.decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessageError);
        }
      }),
    );
  });
});

test("the kinds of frames have the SDK's numbers", () => {
  const theirs = Object.entries(sdk.GatewayMessageType).filter(
    ([name]) => /^[A-Z]/.test(name) && name !== "UNRECOGNIZED",
  );
  const named = theirs.map(([name, number]) => [
    name.toLowerCase().replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
    number,
  ]);
  expect(frameKind).toEqual(Object.fromEntries(named));
});

describe("bounds", () => {
  test("groups, which proto3 does not have, are refused rather than followed", () => {
    const nest = Buffer.alloc(100_000, 0x0b);
    expect(() => frame.decode(nest)).toThrow(MalformedMessageError);
  });

  test("a field that claims more bytes than there are is refused", () => {
    expect(() => frame.decode(Buffer.from("12ffffffff0f00", "hex"))).toThrow(MalformedMessageError);
    expect(() => frame.decode(Buffer.from("a238ffffff7f", "hex"))).toThrow(MalformedMessageError);
  });

  test("a list without end is refused", () => {
    const many = startRequest.encode({ excludeGateways: Array.from({ length: 10_001 }, () => "x") });
    expect(() => startRequest.decode(many)).toThrow(/more than 10000/);
  });

  test("a number too large for JavaScript is refused", () => {
    expect(() => workerConnect.decode(Buffer.from("70ffffffffffffffff7f", "hex"))).toThrow(/too large/);
  });
});

describe("a worker's answer in HTTP's terms", () => {
  const answer = (part: Partial<Parameters<typeof toHttpAnswer>[0]>) =>
    toHttpAnswer({ ...sdkResponse.decode(new Uint8Array(0)), sdkVersion: "inngest-js:v4.24.0", ...part });

  test.each([
    { status: sdkStatus.notCompleted, noRetry: false, http: 206 },
    { status: sdkStatus.notCompleted, noRetry: true, http: 206 },
    { status: sdkStatus.done, noRetry: false, http: 200 },
    // SDK 4.24 says so that a function failed for good.
    { status: sdkStatus.done, noRetry: true, http: 400 },
    { status: sdkStatus.error, noRetry: false, http: 500 },
    { status: sdkStatus.error, noRetry: true, http: 400 },
    { status: 77, noRetry: false, http: 500 },
  ])("status $status, no retry $noRetry is $http", ({ http, ...part }) => {
    expect(answer(part).status).toBe(http);
    expect(answer(part).headers["x-inngest-no-retry"]).toBe(String(part.noRetry));
  });

  test("version, SDK and retry time are the headers an HTTP answer would have", () => {
    expect(answer({ requestVersion: 2, retryAfter: "30", body: Buffer.from('"é"') })).toEqual({
      status: 206,
      headers: {
        "x-inngest-sdk": "inngest-js:v4.24.0",
        "x-inngest-req-version": "2",
        "x-inngest-no-retry": "false",
        "retry-after": "30",
      },
      body: '"é"',
    });
  });
});
