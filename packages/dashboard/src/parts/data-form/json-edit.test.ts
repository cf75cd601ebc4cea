import fc from "fast-check";
import { expect, test } from "vitest";
import { sliceOf, withLiteral, withoutValue } from "./json-edit.ts";

const text = '{\n  "id": 9007199254740993,\n  "buyer": { "name": "Ann" },\n  "tags": ["a", "b"]\n}';

test("changing one value leaves every other character as it stands", () => {
  expect(withLiteral(text, ["buyer", "name"], '"Bo"')).toBe(text.replace("Ann", "Bo"));
  expect(withLiteral(text, ["tags", 1], "7")).toBe(text.replace('"b"', "7"));
});

test("a value that is not there yet is put at the end of its object or list, which are made if they are not there", () => {
  expect(withLiteral(text, ["total"], "10")).toBe(text.replace('"b"]', '"b"],\n  "total": 10'));
  expect(withLiteral("{}", ["a"], "1")).toBe('{\n  "a": 1\n}');
  expect(JSON.parse(withLiteral('{"a":1}', ["b", "c", "d"], "2"))).toEqual({ a: 1, b: { c: { d: 2 } } });
  expect(JSON.parse(withLiteral('{"a":"text"}', ["a", "b"], "2"))).toEqual({ a: { b: 2 } });
  expect(JSON.parse(withLiteral('{"a":[]}', ["a", 0], '"x"'))).toEqual({ a: ["x"] });
});

test("a value that is taken out takes its name and one comma with it", () => {
  expect(JSON.parse(withoutValue(text, ["id"]))).toEqual({ buyer: { name: "Ann" }, tags: ["a", "b"] });
  expect(withoutValue(text, ["tags"])).toBe('{\n  "id": 9007199254740993,\n  "buyer": { "name": "Ann" }\n}');
  expect(JSON.parse(withoutValue(text, ["tags", 0])).tags).toEqual(["b"]);
  expect(withoutValue('{"a":1}', ["a"])).toBe("{}");
  expect(withoutValue(text, ["none"])).toBe(text);
  expect(withoutValue(text, ["none", "at", "all"])).toBe(text);
});

test("whatever the data, a field put in is read again, and taken out it leaves the rest", () => {
  const name = fc.constantFrom("a", "b", "__proto__", 'quo"te', "com,ma}");
  const data = fc.dictionary(name, fc.jsonValue());
  fc.assert(
    fc.property(
      data,
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.jsonValue(),
      fc.boolean(),
      (given, path, value, isWide) => {
        const before = JSON.stringify(given, null, isWide ? 2 : undefined);
        const after = withLiteral(before, path, JSON.stringify(value));
        const slice = sliceOf(after, path)!;
        expect(after.slice(slice.start, slice.end)).toBe(JSON.stringify(value));
        const rest = JSON.parse(withoutValue(after, path.slice(0, 1)));
        const others = Object.entries(JSON.parse(before)).filter(([key]) => key !== path[0]);
        expect(JSON.stringify(rest)).toBe(JSON.stringify(Object.fromEntries(others)));
      },
    ),
  );
});
