import { expect, test } from "vitest";
import { type MondayNote, noteAsCsv, noteAsMarkdown } from "./monday-note.ts";

const run = (id: string, output: string) => ({
  id,
  state: "completed",
  startedAt: Date.UTC(2026, 4, 8),
  steps: [{ name: "create | draft", state: "completed", output }],
});

const note = (outputs: readonly string[], value = '"p-1"'): MondayNote => ({
  store: "shop.db",
  env: "default",
  madeAt: Date.UTC(2026, 4, 11),
  since: Date.UTC(2026, 4, 4),
  nearMs: 60_000,
  functions: [
    {
      function: "draft",
      expression: "event.data.placementId",
      isConfigured: false,
      entities: "placements",
      entityCount: 1,
      runCount: 2,
      firstAt: Date.UTC(2026, 4, 8),
      lastAt: Date.UTC(2026, 4, 8),
      alsoAnswered: 0,
      differs: [],
      left: 0,
      doubled: [
        { value, runIds: [], firstAt: 0, lastAt: 0, runs: outputs.map((output, i) => run(`r${i + 1}`, output)) },
      ],
    },
  ],
});

test("nothing in a payload becomes markup, a table cell or an escape sequence", () => {
  const text = noteAsMarkdown(note(["<script>|\n# title\x1b[31m", "ok"]));
  expect(text).not.toContain("<script>");
  expect(text).not.toContain("\x1b");
  expect(text).toContain("&lt;script>\\| \\# title \\[31m");
});

test("no cell of the CSV is taken for a formula, and quotes, commas and line ends stay inside their cell", () => {
  const text = noteAsCsv(note(['=HYPERLINK("http://x")', "a,b\nc"]));
  expect(text).toContain('"\'=HYPERLINK(""http://x"")"');
  expect(text).toContain('"a,b\nc"');
});

test("three runs of one thing are three columns, and two comparisons with the first", () => {
  expect(noteAsMarkdown(note(["1", "2", "3"]))).toContain("run 3: r3");
  expect(
    noteAsCsv(note(["1", "2", "3"]))
      .trimEnd()
      .split("\r\n"),
  ).toHaveLength(3);
});

test("without anything doubled the note says so", () => {
  expect(noteAsMarkdown({ ...note([]), functions: [] })).toContain("Nothing ran twice");
});
