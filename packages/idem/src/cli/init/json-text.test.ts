import { describe, expect, test } from "vitest";
import { readLooseJson } from "../../verify/worker/typescript/tsconfig.ts";
import { memberOf, withItem, withMember, withSortedMember } from "./json-text.ts";

describe("a member is added as its neighbours are written, and everything else stays", () => {
  test.each<[string, string, string]>([
    [
      "two spaces",
      '{\n  "scripts": {\n    "a": "x"\n  }\n}\n',
      '{\n  "scripts": {\n    "a": "x",\n    "lint": "y"\n  }\n}\n',
    ],
    [
      "tabs and no last line",
      '{\n\t"scripts": {\n\t\t"a": "x"\n\t}\n}',
      '{\n\t"scripts": {\n\t\t"a": "x",\n\t\t"lint": "y"\n\t}\n}',
    ],
    [
      "lines of Windows",
      '{\r\n    "scripts": {}\r\n}\r\n',
      '{\r\n    "scripts": {\r\n        "lint": "y"\r\n    }\r\n}\r\n',
    ],
    [
      "an object on one line",
      '{ "name": "n", "scripts": { "a": "x" } }',
      '{ "name": "n", "scripts": { "a": "x", "lint": "y" } }',
    ],
    ["no such object", '{\n  "name": "n"\n}\n', '{\n  "name": "n",\n  "scripts": {\n    "lint": "y"\n  }\n}\n'],
    ["an empty document", "{}", '{\n  "scripts": {\n    "lint": "y"\n  }\n}'],
    [
      "comments, a comma before the bracket, and brackets in texts",
      '{\n  // "scripts": {}\n  "name": "}{",\n  "scripts": {\n    "z": "[\\"", // last\n    "a": "x",\n  },\n}',
      '{\n  // "scripts": {}\n  "name": "}{",\n  "scripts": {\n    "z": "[\\"", // last\n    "a": "x",\n    "lint": "y",\n  },\n}',
    ],
    [
      "a comment in an empty object",
      '{\n  "scripts": {\n    // none yet\n  }\n}',
      '{\n  "scripts": {\n    "lint": "y"\n    // none yet\n  }\n}',
    ],
    ["a byte order mark", '\uFEFF{\n  "scripts": {}\n}', '\uFEFF{\n  "scripts": {\n    "lint": "y"\n  }\n}'],
  ])("%s", (_, before, after) => {
    const edited = withMember(before, "scripts", "lint", "y");
    expect(edited).toBe(after);
    expect((readLooseJson(edited) as any).scripts.lint).toBe("y");
    expect(withMember(edited, "scripts", "lint", "other")).toBe(edited);
  });
});

test("a dependency is put where the order of names has it, and to the end where there is no order", () => {
  const ordered = '{\n  "devDependencies": {\n    "build": "1",\n    "test": "1"\n  }\n}';
  expect(withSortedMember(ordered, "devDependencies", "lint", "1")).toBe(
    '{\n  "devDependencies": {\n    "build": "1",\n    "lint": "1",\n    "test": "1"\n  }\n}',
  );
  const mixed = '{ "devDependencies": { "test": "1", "build": "1" } }';
  expect(withSortedMember(mixed, "devDependencies", "lint", "1")).toBe(
    '{ "devDependencies": { "test": "1", "build": "1", "lint": "1" } }',
  );
});

test("a member that is there stays, whatever it is", () => {
  const text = '{ "scripts": { "lint": null } }';
  expect(withMember(text, "scripts", "lint", "y")).toBe(text);
  expect(memberOf(text, "scripts", "lint")).toBe("null");
});

test("a text is added to a list once", () => {
  const text = '{\n  "jsPlugins": ["a"],\n  "rules": {}\n}';
  const edited = withItem(text, "jsPlugins", "b");
  expect(edited).toBe('{\n  "jsPlugins": ["a", "b"],\n  "rules": {}\n}');
  expect(withItem(edited, "jsPlugins", "b")).toBe(edited);
  expect(withItem("{}", "jsPlugins", "b")).toBe('{\n  "jsPlugins": [\n    "b"\n  ]\n}');
});

test.each(["[]", "{", '{ "scripts": [] }', '{ "scripts": { "a" } }', "{} {}", '{ "a": nul }'])(
  "%s is not edited",
  (text) => {
    expect(() => withMember(text, "scripts", "lint", "y")).toThrow(SyntaxError);
  },
);
