import fc from "fast-check";
import { expect, test } from "vitest";
import { bodyDepthMax, bodyNodeCountMax, readJson } from "./read-json.ts";

const bytes = (text: string) => Buffer.from(text);

test("what JSON.stringify writes is read back the same", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
      expect(readJson(bytes(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("as deep as allowed is read, one deeper is refused, whatever is written between", () => {
  const nested = (depth: number) => `${'{"a]}\\"[":['.repeat(depth / 2)}"[[{{"${"]}".repeat(depth / 2)}`;
  expect(() => readJson(bytes(nested(bodyDepthMax)))).not.toThrow();
  expect(() => readJson(bytes(`[${nested(bodyDepthMax)}]`))).toThrow("nested deeper");
  expect(() => readJson(bytes("[".repeat(10_000_000)))).toThrow("nested deeper");
});

test("as many values as allowed are read, one more is refused before any is built", () => {
  const list = (count: number) => bytes(`[${"1,".repeat(count - 1)}",,[{"]`);
  expect(readJson(list(9), 10)).toHaveLength(9);
  expect(() => readJson(list(10), 10)).toThrow("more than 10 values");
  expect(() => readJson(bytes(`[${"{},".repeat(bodyNodeCountMax / 2)}0]`))).toThrow("more than 1000000 values");
  expect(() => readJson(bytes(`{"a":${"[".repeat(50)}${"1,".repeat(bodyNodeCountMax)}`))).toThrow("more than");
});

test("any bytes are read or refused with BODY_INVALID, never anything else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (input) => {
      try {
        readJson(input);
      } catch (error) {
        expect(error).toMatchObject({ code: "BODY_INVALID" });
      }
    }),
  );
});
