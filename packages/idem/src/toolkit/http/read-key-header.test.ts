import { describe, expect, test } from "vitest";
import { readKeyHeader } from "./read-key-header.ts";

const uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";
const key = (text: string) => ({ kind: "key", key: text });

// pitfalls 8 and 9
describe("a key header", () => {
  test.each([
    ["a quoted UUID, as the draft has it", `"${uuid}"`, uuid],
    ["a bare UUID, as nearly every client sends it", uuid, uuid],
    ["a quoted key with parameters", '"k";v=1;w="a;b";x=?1;y', "k"],
    ["a quoted key with escapes", String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ["a quoted key with spaces and commas inside", '" a, b "', " a, b "],
    ["255 characters", "x".repeat(255), "x".repeat(255)],
    ["255 characters in quotes", `"${"x".repeat(255)}"`, "x".repeat(255)],
    ["a bare key with a semicolon", "k;v=1", "k;v=1"],
  ])("is one key: %s", (_, header, expected) => {
    expect(readKeyHeader(header)).toEqual(key(expected));
  });

  test.each([
    ["two lines of bare keys, joined", "a, b"],
    ["two lines of quoted keys, joined", '"a", "b"'],
    ["a bare key with a comma", "a,b"],
    ["a bare key with a space", "a b"],
    ["a bare key with a quote", 'a"b'],
    ["a bare key with a backslash", "a\\b"],
    ["a control character", "a\tb"],
    ["a line break", "a\r\nset-cookie: x=1"],
    ["UTF-8 that arrived as Latin-1", "cafÃ©"],
    ["quotes that do not end", '"abc'],
    ["something behind the quotes", '"abc"def'],
    ["an escape of nothing", '"a\\bc"'],
    ["nothing", ""],
    ["nothing in quotes", '""'],
    ["256 characters", "x".repeat(256)],
    ["256 characters in quotes", `"${"x".repeat(256)}"`],
    ["parameters that never end", `"k"${";a=b".repeat(5_000)})`],
    ["parameters that almost match", `"k"${";a=b".repeat(400)})`],
  ])("is refused and not guessed at: %s", (_, header) => {
    expect(readKeyHeader(header).kind).toBe("invalid");
  });

  test("differs by letter case", () => {
    expect(readKeyHeader("Key-A")).not.toEqual(readKeyHeader("key-a"));
  });

  test("is held to the route's own form", () => {
    expect(readKeyHeader("short", { minLength: 16 }).kind).toBe("invalid");
    const pattern = /^ord_\d+$/g;
    expect(readKeyHeader("ord_17", { pattern })).toEqual(key("ord_17"));
    expect(readKeyHeader("ord_17", { pattern })).toEqual(key("ord_17"));
    expect(readKeyHeader("17", { pattern }).kind).toBe("invalid");
  });

  test("that is refused is not repeated in the reason", () => {
    expect(JSON.stringify(readKeyHeader("secret value"))).not.toContain("secret");
  });
});
