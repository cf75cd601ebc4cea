import { describe, expect, test } from "vitest";
import type { RunAnswer, RunDetail } from "../run/run-data.ts";
import { entry, run } from "../run/timeline.suite.ts";
import { compareRuns, type Side } from "./compared.ts";
import { csvOf, markdownOf } from "./export.ts";

const payload = (value: unknown) => ({ value, bytes: 10, isOmitted: false });

function side(id: string, data: unknown, steps: Record<string, unknown>, over: Partial<RunDetail> = {}): Side {
  const timeline = Object.entries(steps).map(([name, value]) =>
    entry({ name, output: payload(value), destinationKey: `key of ${name}` }),
  );
  const event = {
    internalId: `event of ${id}`,
    id: `evt_${id}`,
    name: "placement/event",
    ts: 0,
    receivedAt: 0,
    duplicateOf: null,
    sourceRunId: null,
    dataBytes: 10,
  };
  const alone = { parent: null, children: [], childCount: 0, codeNow: null, hasOtherData: false, trace: null };
  const answer: RunAnswer = {
    run: run({ id, timeline, ...over }),
    event,
    ...alone,
    events: [],
    spared: [],
    workers: {},
  };
  return {
    answer,
    event: JSON.stringify(data),
    output: "null",
    steps: new Map(timeline.map(({ stepId, output }) => [stepId, JSON.stringify(output!.value)])),
  };
}

const one = side(
  "a",
  { eventType: "INSERTED", placementId: 48_213, rate: 92.5 },
  { draft: { id: "in_A7", total: 428_000 }, notify: "sent" },
);
const two = side(
  "b",
  { eventType: "UPDATED", placementId: 48_213, rate: 92.5 },
  { draft: { id: "in_F2", total: 428_000 }, notify: "sent" },
);

describe("two runs side by side", () => {
  test("three sentences answer first", () => {
    expect(
      compareRuns(one, two).sentences.map(({ title, words, isLoud }) => `${title}: ${words}${isLoud ? " !" : ""}`),
    ).toEqual([
      "1 field of the events differs: eventType: INSERTED, then UPDATED (and ids or times) !",
      "3 fields are the same: placementId, rate and 1 more",
      "1 outcome differs: draft !",
    ]);
  });

  test("runs that did the same with the same data say so", () => {
    const again = side(
      "b",
      { eventType: "INSERTED", placementId: 48_213, rate: 92.5 },
      { draft: { id: "in_A7", total: 428_000 }, notify: "sent" },
    );
    expect(compareRuns(one, again).isSame).toBe(true);
    expect(compareRuns(one, two).isSame).toBe(false);
  });

  test("a step that only one of them has is an outcome that differs", () => {
    const longer = side(
      "b",
      { eventType: "INSERTED", placementId: 48_213, rate: 92.5 },
      { draft: { id: "in_A7", total: 428_000 }, notify: "sent", more: 1 },
    );
    const { parts, isSame } = compareRuns(one, longer);
    expect(isSame).toBe(false);
    expect(parts.map(({ title, note }) => [title, note])).toEqual([
      ["Event", null],
      ["Step more", "Only in run 2."],
      ["Steps without a difference", null],
    ]);
  });

  test("the export has every differing path, and text that a spreadsheet does not run", () => {
    const hostile = side(
      "b",
      { eventType: '=HYPERLINK("http://x")', placementId: 48_213, rate: 92.5 },
      { draft: { id: "in_F2|<b>", total: 428_000 }, notify: "sent" },
    );
    const compared = compareRuns(one, hostile);
    const csv = csvOf(compared);
    expect(csv).toContain(`"Event","data.eventType","INSERTED","'=HYPERLINK(""http://x"")","yes"`);
    expect(csv.split("\r\n")[0]).toBe('"part","path","run 1","run 2","differs"');
    const markdown = markdownOf(compared, { title: "placementId 48213", runs: ["a", "b"] });
    expect(markdown).toContain("| id | in_A7 | in_F2\\|\\<b\\> |");
    expect(markdown).toContain("- **1 outcome differs**: draft");
  });
});
