import { describe, expect, test } from "vitest";
import { differencesOf, differencesOfTexts, differingPart } from "./differences.ts";
import { leavesOf } from "./leaves.ts";

const paths = (one: unknown, other: unknown) => differencesOf(one, other).differing.map(({ path }) => path);

describe("differences of two payloads", () => {
  test("each differing path is there once, with both texts", () => {
    const one = { eventType: "INSERTED", placement: { id: 7, rate: 92.5 }, tags: ["a"] };
    const other = { eventType: "UPDATED", placement: { id: 7, rate: 93 }, tags: ["a", "b"] };
    expect(differencesOf(one, other).differing).toEqual([
      { path: "eventType", one: "INSERTED", other: "UPDATED", isExpected: false },
      { path: "placement.rate", one: "92.5", other: "93", isExpected: false },
      { path: "tags[1]", one: undefined, other: "b", isExpected: false },
    ]);
    expect(differencesOf(one, other).same.map(({ path }) => path)).toEqual(["placement.id", "tags[0]"]);
  });

  test("numbers too large for the browser differ in their last digit", () => {
    const { differing } = differencesOfTexts('{"n":9007199254740993}', '{"n":9007199254740992}');
    expect(differing).toMatchObject([{ path: "n", one: "9007199254740993", other: "9007199254740992" }]);
  });

  test('7 and "7" are told apart', () => {
    expect(differencesOf({ n: 7 }, { n: "7" }).differing).toMatchObject([{ one: "7", other: '"7"' }]);
  });

  test("lists are matched by id where every entry has one", () => {
    const lines = (...ids: number[]) => ({ lines: ids.map((id) => ({ id, price: id * 10 })) });
    expect(paths(lines(1, 2, 3), lines(2, 3, 4))).toEqual([
      "lines[id=1].id",
      "lines[id=1].price",
      "lines[id=4].id",
      "lines[id=4].price",
    ]);
    expect(paths({ lines: [{ id: 1 }, { id: 1 }] }, { lines: [{ id: 1 }, { id: 2 }] })).toEqual([
      "lines[0].id",
      "lines[1].id",
      "lines[id=1].id",
      "lines[id=2].id",
    ]);
  });

  test("times are expected to differ; ids only where they name a delivery", () => {
    const one = { id: "in_1", createdAt: "2026-05-15T14:46:12Z", total: 1 };
    const other = { id: "in_2", createdAt: "2026-05-15T14:46:13Z", total: 1 };
    const expected = (ids: boolean) =>
      differencesOfTexts(JSON.stringify(one), JSON.stringify(other), { ids }).differing.map(
        ({ isExpected }) => isExpected,
      );
    expect(expected(false)).toEqual([false, true]);
    expect(expected(true)).toEqual([true, true]);
  });

  test("a payload of any depth and width is read, up to a bound it admits", () => {
    const deep = `${"[".repeat(100_000)}1${"]".repeat(100_000)}`;
    expect(leavesOf(deep).isAll).toBe(false);
    const wide = `[${"1,".repeat(20_000)}1]`;
    expect(leavesOf(wide).isAll).toBe(false);
    expect(leavesOf("{}")).toEqual({ at: new Map([["", "{}"]]), isAll: true });
  });

  test("of a long value the differing part is shown, with 40 characters around it", () => {
    const long = (middle: string) => `${"a".repeat(5_000)}${middle}${"z".repeat(5_000)}`;
    expect(differingPart(long("ONE"), long("TWO!"))).toBe(`…${"a".repeat(40)}ONE${"z".repeat(40)}…`);
    expect(differingPart("short", "other")).toBe("short");
  });
});
