import { expect, test } from "vitest";
import { dataFrame, publishedJson, readTokenRequest } from "./realtime-frames.ts";

const facts = { channel: "chat", topic: "words", runId: null, env: "default", at: 0 };

test("what was published arrives as it was: JSON as JSON, other text as text, numbers beyond a double unchanged", () => {
  const arrives = (text: string) => dataFrame(facts, publishedJson(text)).split('"data":')[1];
  expect(arrives('{"a": [1,\n 2]}')).toBe('{"a": [1,  2]}}');
  expect(arrives("12345678901234567890")).toBe("12345678901234567890}");
  expect(arrives('say "hi"\n')).toBe('"say \\"hi\\"\\n"}');
  expect(arrives("")).toBe("null}");
});

test("a frame stays on one line, so that it can be a server-sent event", () => {
  expect(dataFrame(facts, publishedJson('{\r\n"a":\n1}'))).not.toMatch(/[\r\n]/);
});

test.each([[[]], [{}], [[{ channel: "a" }]], [[{ channel: "", name: "b" }]], [[{ channel: "a", name: 7 }]], [[null]]])(
  "a token is not given for %j",
  (body) => {
    expect(() => readTokenRequest(body)).toThrow(/REQUEST_INVALID/);
  },
);
