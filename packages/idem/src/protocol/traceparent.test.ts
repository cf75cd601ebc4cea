import { expect, test } from "vitest";
import { payloadOf } from "../model/event.ts";
import { noteTrace, readTraceparent, traceOf, traceparentOf, writeTraceparent } from "./traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const header = `00-${traceId}-${spanId}-01`;

test("a trace context is read as it is written, and of a later version what this one knows", () => {
  expect(readTraceparent(header)).toEqual({ traceId, spanId, traceFlags: 1 });
  expect(writeTraceparent(readTraceparent(header)!)).toBe(header);
  expect(readTraceparent(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, traceFlags: 0 });
  expect(readTraceparent(`01-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId, traceFlags: 1 });
});

test.each([
  undefined,
  null,
  "",
  "no",
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `01-${traceId}-${spanId}-01-${"x".repeat(1_000)}`,
])("%s is no trace context", (given) => {
  expect(readTraceparent(given)).toBeNull();
});

test.each([null, "{}", '{"v":"2"}', '{"meta":{"n":12345678901234567890}}', `{"meta":{"trace":"${header}"}}`])(
  "beside %s an event keeps one trace, which its payload does not have",
  (extra) => {
    const event = { id: "01", callerId: null, name: "order/paid", data: "{}", ts: 0, extra };
    const other = `00-${traceId}-${"1".repeat(16)}-01`;
    const noted = noteTrace(noteTrace(event, other), header);
    expect(traceOf(noted)).toEqual({ traceId, spanId, traceFlags: 1 });
    expect(payloadOf(noted)).toEqual(payloadOf(event));
    expect(traceOf(event)).toBeNull();
    expect(noted.extra!.split('"trace"').length).toBe((extra ?? "").split('"trace"').length + 1);
  },
);

test("all calls of a run are one trace, and each is a span of it; the trace is the event's where it came with one", () => {
  const [first, second] = ["r1", "r2"].map((requestId) => traceparentOf({ runId: "01K", requestId }).split("-"));
  expect(second![1]).toBe(first![1]);
  expect(second![2]).not.toBe(first![2]);
  expect(traceparentOf({ runId: "01L", requestId: "r1" }).split("-")[1]).not.toBe(first![1]);
  const event = noteTrace({ extra: null }, header);
  expect(traceparentOf({ runId: "01K", requestId: "r1" }, event)).toBe(`00-${traceId}-${first![2]}-01`);
});
