import { expect, test } from "vitest";
import { entriesOf, sliceAt, stringOf } from "./json-text.ts";
import { visibleBlock, visibleText } from "./visible-text.ts";

const level = (text: string, max = 100) => {
  const { entries, count } = entriesOf(text, sliceAt(text), max);
  return { count, entries: entries.map(({ name, value }) => [name, value.kind, text.slice(value.start, value.end)]) };
};

test("a level of JSON is read with the text of each value as it stands, numbers included", () => {
  expect(
    level(' {"a": 9007199254740993, "b":1.50,"c" : "x\\"},{", "d":[1,[2]],"e":{},"f":null,"g":true } ').entries,
  ).toEqual([
    ["a", "number", "9007199254740993"],
    ["b", "number", "1.50"],
    ["c", "string", '"x\\"},{"'],
    ["d", "array", "[1,[2]]"],
    ["e", "object", "{}"],
    ["f", "null", "null"],
    ["g", "boolean", "true"],
  ]);
});

test("only so many entries are kept as are shown, and all are counted", () => {
  const text = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => i));
  const { entries, count } = level(text, 50);
  expect([entries.length, count, entries[49]]).toEqual([50, 1_000, [49, "number", "49"]]);
});

test("however deep it goes, opening a level does not recurse", () => {
  const depth = 200_000;
  const text = "[".repeat(depth) + "]".repeat(depth);
  expect(level(text)).toMatchObject({ count: 1 });
});

test("text that breaks off or is no JSON is shown as far as it goes and never throws", () => {
  for (const text of ["", "   ", "{", '{"a', '{"a":', '{"a":1,', "[1,,2]", "}", "hello", '"open', "[1 2]"]) {
    expect(() => level(text)).not.toThrow();
  }
  expect(sliceAt("hello").kind).toBe("broken");
  expect(stringOf('"open')).toBe('"open');
});

test("what cannot be seen is shown: control characters as symbols, turned directions and empty widths by their code", () => {
  expect(visibleText("a\u0000\n\u001b\u007f")).toBe("a␀␊␛␡");
  expect(visibleText("x\u202Ey\u200B\u2066")).toBe("x‹U+202E›y‹U+200B›‹U+2066›");
  expect(visibleBlock("one\n\ttwo\u0007")).toBe("one\n\ttwo␇");
});
