import { expect, test } from "vitest";
import { checkData } from "./check-data.ts";
import { isQuickPattern } from "./quick-pattern.ts";
import { fieldsOf } from "./schema-fields.ts";

const mistakes = (properties: object, data: unknown, over: object = {}) =>
  checkData(fieldsOf({ type: "object", properties, ...over })!, typeof data === "string" ? data : JSON.stringify(data));
const words = (schema: object, value: unknown) => mistakes({ it: schema }, { it: value })[0]?.words ?? null;

test.each([
  [{ type: "string" }, 7, "It must be a text"],
  [{ type: "string", minLength: 3 }, "ab", "It must have at least 3 characters"],
  [{ type: "string", maxLength: 1 }, "🙂", null],
  [{ type: "string", maxLength: 1 }, "ab", "It must have at most 1 character"],
  [{ type: "string", pattern: "^in_\\d+$" }, "out", "It must match ^in_\\d+$"],
  [{ type: "string", format: "date", pattern: "^\\d{4}$" }, "x", "It must be a date, such as 2026-05-17"],
  [{ type: "string", pattern: "(" }, "whatever the browser cannot read is left to the app", null],
  [{ type: "number" }, "12a", "It must be a number"],
  [{ type: "integer" }, 1.5, "It must be a whole number"],
  [{ type: "number", minimum: 3 }, 2, "It must be at least 3"],
  [{ type: "number", exclusiveMinimum: 0 }, 0, "It must be more than 0"],
  [{ type: "number", maximum: 3 }, 4, "It must be at most 3"],
  [{ type: "number", exclusiveMaximum: 3 }, 3, "It must be less than 3"],
  [{ type: "number", minimum: 3, maximum: 3 }, 3, null],
  [{ enum: ["a", 2] }, "b", 'It must be one of "a", 2'],
  [{ enum: ["a", 2] }, 2, null],
  [{ const: { a: 1 } }, { a: 1 }, null],
  [{ type: "boolean" }, "yes", "It must be one of true, false"],
  [{ type: "array", items: { type: "string" }, minItems: 1 }, [], "It must have at least 1 entry"],
  [{ type: "array", items: { type: "string" } }, {}, "It must be a list"],
  [{ type: "object", properties: { a: {} } }, [], "It must be an object"],
  [{ type: ["string", "null"] }, null, null],
  [{ type: "string" }, null, "It must be a text"],
  [{ type: ["string", "number"] }, [], null],
])("%j with %j: %s", (schema, value, told) => {
  expect(words(schema, value)).toBe(told);
});

test("each mistake names its place, and what an optional object requires is required only once it is there", () => {
  const buyer = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const properties = { buyer, tags: { type: "array", items: { type: "integer" } } };
  expect(mistakes(properties, {})).toEqual([]);
  expect(mistakes(properties, { buyer: {}, tags: [1, "x"] })).toMatchObject([
    { path: ["buyer", "name"], words: "It is required", isMissing: true },
    { path: ["tags", 1], words: "It must be a number", isMissing: false },
  ]);
  expect(mistakes(properties, {}, { required: ["buyer"] })).toMatchObject([{ path: ["buyer"], isMissing: true }]);
  expect(mistakes(properties, "[]")).toMatchObject([{ path: [], words: "The data must be an object" }]);
  expect(mistakes(properties, { tags: Array.from({ length: 500 }, () => "x") })).toHaveLength(50);
});

test.each(["(a+)+$", "((a+))+", "(a|a)*b", "(x*){2,}", "a*a*a*a*a*b", "(a)\\1", "(?:a?){50}[", "x".repeat(2_000)])(
  "a pattern that could take for ever, or cannot be read, is not tried: %s",
  (pattern) => {
    expect(isQuickPattern(pattern)).toBe(false);
  },
);

test.each(["^[a-z]+$", "^in_\\d{4,8}$", "^(?:a|b)-\\d+(?:\\.\\d+)?$", "^[(+*]+\\)$", "^\\d{4}-(?:0[1-9]|1[02])$"])(
  "a plain one is: %s",
  (pattern) => {
    expect(isQuickPattern(pattern)).toBe(true);
  },
);
