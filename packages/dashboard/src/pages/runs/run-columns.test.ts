import { expect, test } from "vitest";
import { columnsOf, columnsText } from "./run-columns.ts";

test("columns stand in one order whatever order they were chosen in, and what the list is ordered by is among them", () => {
  expect(columnsOf(undefined, "newest")).toEqual(["key", "fn"]);
  expect(columnsOf("took,key", "newest")).toEqual(["key", "took"]);
  expect(columnsOf("none", "newest")).toEqual([]);
  expect(columnsOf("key,nonsense", "longest")).toEqual(["key", "took"]);
  expect(columnsOf("none", "started-first")).toEqual(["started"]);
});

test("the address names columns only where they are not the usual ones", () => {
  expect(columnsText(["fn", "key"])).toBeUndefined();
  expect(columnsText(["ended", "key"])).toBe("key,ended");
  expect(columnsText([])).toBe("none");
  expect(columnsOf(columnsText([]), "newest")).toEqual([]);
});
