import { describe, expect, test } from "vitest";
import { countsOf, type Lane, lanesOf, type Shown } from "./lanes.ts";
import type { Row } from "./rows.ts";
import { attempt, entry } from "./timeline.suite.ts";

const row = (name: string, from: number, to: number | null, state: Row["state"] = "completed", errors = 0): Row => ({
  id: `${name}-${from}`,
  name,
  state,
  from,
  to,
  words: "",
  bars: [],
  note: null,
  entry: entry({
    name,
    startedAt: from,
    endedAt: to,
    state: state === "failed" ? "failed" : "completed",
    attempts: Array.from({ length: errors }, () => attempt({ error: { name: "Error", message: "503" } })),
  }),
});

const told = (lane: Lane): string =>
  lane.kind === "row"
    ? `${lane.bracket ?? (lane.isInner ? "inner" : "alone")} ${lane.row.name}${lane.isSlow ? " slow" : ""}`
    : lane.kind === "rest"
      ? `rest ${lane.words}`
      : `${lane.series.name} × ${lane.series.rows.length}, ${lane.series.completed} ✓ ${lane.series.failed} ✗`;

const shown = (rows: readonly Row[], asked: Partial<Shown> = {}) =>
  lanesOf(rows, { show: "slow", find: "", turned: new Set(), selected: null, ...asked }).map(told);

/** Three hundred shards one after the other: two needed a second try, three took long. */
const shards = (): Row[] => {
  let at = 0;
  return Array.from({ length: 300 }, (_, i) => {
    const n = i + 1;
    const length = [41, 88, 207].includes(n) ? 500 : 10;
    at += length;
    return row(`index-shard-${n}`, at - length, at, "completed", [139, 266].includes(n) ? 1 : 0);
  });
};

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

  test("three steps whose names differ by a number are one line; between the slow and those with an error the rest is counted", () => {
    expect(shown([row("list", 0, 1), ...shards(), row("swap", 9_000, 9_001)])).toEqual([
      "alone list",
      "index-shard × 300, 300 ✓ 0 ✗",
      "rest 40 like these, 1 to 40",
      "inner index-shard-41 slow",
      "rest 46 like these, 42 to 87",
      "inner index-shard-88 slow",
      "rest 50 like these, 89 to 138",
      "inner index-shard-139",
      "rest 67 like these, 140 to 206",
      "inner index-shard-207 slow",
      "rest 58 like these, 208 to 265",
      "inner index-shard-266",
      "rest 34 like these, 267 to 300",
      "alone swap",
    ]);
    expect(countsOf(shards())).toEqual({ all: 300, slow: 5, failed: 2 });
  });

  test("all are all, failed are those that had an error, and a part of a name finds steps wherever they are folded", () => {
    expect(shown(shards(), { show: "all" })).toHaveLength(301);
    expect(shown(shards(), { show: "failed" })).toEqual(["alone index-shard-139", "alone index-shard-266"]);
    expect(shown(shards(), { find: "SHARD-29" })).toHaveLength(11);
  });

  test("a fold opens to its steps, a series closes to its line, and a chosen step has a line of its own", () => {
    const three = [row("load:1", 0, 10), row("load:2", 0, 10), row("load:3", 0, 10)];
    expect(shown(three)).toEqual(["load × 3, 3 ✓ 0 ✗", "rest 3 like these, 1 to 3"]);
    expect(shown(three, { turned: new Set(["series-load:1-0"]) })).toEqual(["load × 3, 3 ✓ 0 ✗"]);
    expect(shown(three, { turned: new Set(["rest-load:1-0"]) })).toHaveLength(5);
    expect(shown(three, { selected: "load:3-0" })).toEqual([
      "load × 3, 3 ✓ 0 ✗",
      "rest 2 like these, 1 to 2",
      "inner load:3",
    ]);
  });

  test("those that failed stand under the line that counts them", () => {
    const rows = Array.from({ length: 240 }, (_, i) => row(`load-page-${i}`, 0, 10, i === 7 ? "failed" : "completed"));
    expect(shown(rows)).toEqual([
      "load-page × 240, 239 ✓ 1 ✗",
      "rest 7 like these, 0 to 6",
      "inner load-page-7",
      "rest 232 like these, 8 to 239",
    ]);
  });

  test("steps of a loop are one series for each of its steps, and a number inside a name is a number", () => {
    const loop = [1, 2, 3].flatMap((n) => [
      row(`shard-${n}-load`, n * 10, n * 10 + 4),
      row("save", n * 10 + 5, n * 10 + 9),
    ]);
    expect(shown(loop)).toEqual([
      "shard-…-load × 3, 3 ✓ 0 ✗",
      "rest 3 like these, 1 to 3",
      "save × 3, 3 ✓ 0 ✗",
      "rest 3 like these",
    ]);
  });

  test("many steps at once of different names are one line, two of one kind are two", () => {
    const names = "abcdefghijklmnop".split("");
    expect(shown(names.map((name) => row(name, 0, 5)))).toEqual(["steps at once × 16, 16 ✓ 0 ✗", "rest 16 like these"]);
    expect(shown([row("p-1", 0, 5), row("p-2", 5, 9)])).toEqual(["alone p-1", "alone p-2"]);
  });
});
