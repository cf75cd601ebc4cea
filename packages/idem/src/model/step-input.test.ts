import { expect, test } from "vitest";
import { inputBytesMax, inputText, keptInput, lostInput } from "./step-input.ts";

test("arguments are kept as the list they were", () => {
  expect(inputText([7, "a", { b: null }])).toBe('[7,"a",{"b":null}]');
  expect(lostInput('[7,"a"]')).toBeNull();
  expect(lostInput('{"event":"order/paid"}')).toBeNull();
});

test("of an input larger than may be kept, its size is", () => {
  const text = inputText(["x".repeat(inputBytesMax)]);
  expect(text).toBe(String(inputBytesMax + 4));
  expect(lostInput(text)).toBe("It has 65540 bytes of JSON, more than the 65536 that are kept");
  expect(keptInput(`["${"x".repeat(inputBytesMax - 4)}"]`)).toHaveLength(inputBytesMax);
});

test("an input that is no JSON costs its reason and nothing else", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const given of [circle, new Map([[1, 2]]), () => 1, 10n]) {
    expect(lostInput(inputText([given]))).toMatch(/^It could not be kept as JSON: /);
  }
});
