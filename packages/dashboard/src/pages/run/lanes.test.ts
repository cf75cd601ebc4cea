import { describe, expect, test } from "vitest";
import { countWords, lanesOf } from "./lanes.ts";
import type { Row } from "./rows.ts";
import { entry } from "./timeline.suite.ts";

const row = (name: string, from: number, to: number | null, state: Row["state"] = "completed"): Row => ({
  id: `${name}-${from}`,
  name,
  state,
  from,
  to,
  words: "",
  bars: [],
  note: null,
  entry: entry({ name, startedAt: from, endedAt: to }),
});
const none: ReadonlySet<string> = new Set();
const shown = (rows: readonly Row[], unfolded = none) =>
  lanesOf(rows, unfolded).map(
    (lane) =>
      `${lane.bracket ?? "alone"} ${lane.kind === "row" ? lane.row.name : `${lane.name} × ${lane.rows.length}: ${countWords(lane)}`}`,
  );

describe("lanes", () => {
  test("steps one after the other stand alone, those that overlap share a bracket", () => {
    expect(shown([row("a", 0, 10), row("b", 10, 20), row("c", 11, 15), row("d", 19, 30), row("e", 30, 40)])).toEqual([
      "alone a",
      "first b",
      "middle c",
      "last d",
      "alone e",
    ]);
  });

  test("what is still open overlaps everything after it", () => {
    expect(shown([row("wait", 0, null, "waiting"), row("b", 50, 60)])).toEqual(["first wait", "last b"]);
  });

  test("more than twelve fold to one line that counts, with the failed ones under it", () => {
    const rows = Array.from({ length: 240 }, (_, i) =>
      row(`load-page-${i}`, 0, 10, i === 7 || i === 9 ? "failed" : "completed"),
    );
    expect(shown(rows)).toEqual(["first load-page × 240: 238 ✓ 2 ✗", "middle load-page-7", "last load-page-9"]);
  });

  test("a fold opens to all its steps", () => {
    const rows = Array.from({ length: 13 }, (_, i) => row(`load:${i}`, 0, 10));
    expect(shown(rows)).toEqual(["alone load × 13: 13 ✓"]);
    expect(shown(rows, new Set(["load:0-0"]))).toHaveLength(14);
  });

  test("many steps of different names are one fold", () => {
    const names = "abcdefghijklmnop".split("");
    expect(shown(names.map((name) => row(name, 0, 5)))).toEqual(["alone steps at once × 16: 16 ✓"]);
  });

  test("twelve are shown one by one", () => {
    expect(shown(Array.from({ length: 12 }, (_, i) => row(`p-${i}`, 0, 10)))).toHaveLength(12);
  });
});
