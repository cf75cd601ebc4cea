import { describe, expect, test } from "vitest";
import { equalityOf, findInJson, pathWords } from "./json-find.ts";
import { sliceAt } from "./json-text.ts";

const text =
  '{"order":{"id":7,"mail":"Kim@example.org"},"items":[{"sku":"a-7"},{"sku":"b"}],"big":9007199254740993,"odd name":null}';
const found = (word: string, max = 10) =>
  findInJson(text, word, max).found.map(
    ({ path, value }) => `${pathWords(path)} ${text.slice(value.start, value.end)}`,
  );

describe("a word in a payload", () => {
  test("is found in names and values, in the order of the text, whatever its case", () => {
    expect(found("KIM")).toEqual(['order.mail "Kim@example.org"']);
    expect(found("sku")).toEqual(['items[0].sku "a-7"', 'items[1].sku "b"']);
    expect(found("7")).toEqual(["order.id 7", 'items[0].sku "a-7"', "big 9007199254740993"]);
    expect(found("odd")).toEqual(['["odd name"] null']);
    expect(found(" ")).toEqual([]);
  });

  test("more than are shown are said to be there", () => {
    expect(findInJson(text, "7", 2)).toMatchObject({ hasMore: true });
    expect(found("7", 2)).toHaveLength(2);
  });

  test("a text a hundred thousand levels deep is searched without a stack of them", () => {
    const deep = `${"[".repeat(100_000)}"x"${"]".repeat(100_000)}`;
    expect(findInJson(deep.slice(0, 2_000), "nothing", 5).found).toEqual([]);
  });

  test("a value becomes the expression that finds its like, as it is written", () => {
    const of = (path: (string | number)[], value: string) => equalityOf("event.data", path, value, sliceAt(value));
    expect(of(["order", "id"], "9007199254740993")).toBe("event.data.order.id == 9007199254740993");
    expect(of(["items", 0, "odd name"], '"a\\"b"')).toBe('event.data.items[0]["odd name"] == "a\\"b"');
    expect(of([], "7")).toBeNull();
    expect(of(["order"], "{}")).toBeNull();
  });
});
