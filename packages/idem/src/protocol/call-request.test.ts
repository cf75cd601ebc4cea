import { expect, test } from "vitest";
import { type CallRequest, writeCallRequest } from "./call-request.ts";

const call: CallRequest = {
  events: ['{"name":"a/b","data":{}}'],
  steps: [],
  inputs: {},
  version: 2,
  runId: "01RUN",
  functionId: "33333333-3333-4333-8333-333333333333",
  env: "default",
  stepId: "step",
  attempt: 0,
  maxAttempts: 5,
  requestId: "r1",
  generation: 1,
  jobId: "q:1",
  planOnly: false,
  open: [],
  destination: { env: "default", fn: "shop-fn", subject: "7", generation: "01FIRST" },
};

const written = (of: Partial<CallRequest>) => JSON.parse(writeCallRequest({ ...call, ...of }));

const eventOf = (n: number, chars = 0): string => JSON.stringify({ name: "a/b", data: { n, text: "x".repeat(chars) } });

test("an app whose reports could not be taken is called without what they are sent with", () => {
  expect(written({}).ctx).toHaveProperty("fn_id");
  expect(written({ functionId: null }).ctx).not.toHaveProperty("fn_id");
});

test("a batch is sent whole, with its first event as the event", () => {
  const body = written({ events: [eventOf(1), eventOf(2)] });
  expect(body.events.map(({ data }: any) => data.n)).toEqual([1, 2]);
  expect(body.event).toEqual(body.events[0]);
  expect(body).toMatchObject({ use_api: false, ctx: { use_api: false } });
});

test("of a batch too large for a call only the first event is sent, and the app is told to fetch all", () => {
  const body = written({ events: [1, 2, 3, 4, 5].map((n) => eventOf(n, 1024 * 1024)) });
  expect(body.event.data.n).toBe(1);
  expect(body.events).toEqual([body.event]);
  expect(body).toMatchObject({ use_api: true, ctx: { use_api: true } });
});
