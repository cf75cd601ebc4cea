import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { historyFile, historyText, type Published, pictureFile, pictureOf, readHistory } from "./history.ts";

const published = (commit: string, cpu: string, middle: number): Published => ({
  commit,
  takenAt: "2026-01-01T00:00",
  machine: { cpu, cores: 2, memoryGb: 8, node: "v20.0.0" },
  figures: { "engine-100 perSecond": { low: middle - 10, middle, high: middle + 10 } },
});

test("the picture of the benches is of their history, and the history has a line for each time", () => {
  const history = readHistory();
  expect(readFileSync(pictureFile, "utf8")).toBe(pictureOf(history));
  expect(readFileSync(historyFile, "utf8")).toBe(historyText(history));
  for (const { commit, takenAt, machine, figures } of history) {
    expect(commit).toMatch(/^[0-9a-f]{7,40}$/);
    expect(takenAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
    expect(machine.cores).toBeGreaterThan(0);
    for (const { low, middle, high } of Object.values(figures))
      expect([low, middle, high]).toEqual([low, middle, high].toSorted((a, b) => a - b));
  }
});

test("each figure is drawn with its spread, its commit and its machine, and joined only to one of the same machine", () => {
  const history = [
    published("aaaaaaa", "One & <two>", 100),
    published("bbbbbbb", "One & <two>", 200),
    published("ccccccc", "Other", 150),
  ];
  const picture = pictureOf(history);
  for (const { commit } of history) expect(picture).toContain(commit);
  expect(picture).toContain(
    "bbbbbbb, 2026-01-01T00:00, One &amp; &lt;two&gt;, 2 cores, Node v20.0.0: 200 (190 to 210)",
  );
  expect(picture.match(/ L\d+ \d+"/g)).toHaveLength(1);
  expect(historyText(history).trim().split("\n")).toHaveLength(history.length + 2);
  expect(JSON.parse(historyText(history))).toEqual(history);
});
