import { describe, expect, test } from "vitest";
import { processOf, rowsOf as rowsWith, workOf } from "./rows.ts";
import type { RunDetail, TimelineEntry } from "./run-data.ts";
import { stepsWords, tellingStep } from "./run-words.ts";
import { attempt, entry, run } from "./timeline.suite.ts";

const rowsOf = (of: RunDetail, now: number) => rowsWith(of, { now, effects: [], workers: {} });
const failed = (n: number, startedAt: number, endedAt: number, retryAt: number | null, message = "It answered 503") =>
  attempt({ attempt: n, startedAt, endedAt, retryAt, error: { name: "Error", message } });

describe("rows of a run", () => {
  test("attempts stand in one row in order, with the pause before the next and its reason", () => {
    const fetched = entry({
      name: "fetch",
      startedAt: 1_100,
      endedAt: 1_200,
      attempts: [failed(1, 10, 100, 1_100), attempt({ attempt: 2, startedAt: 1_100, endedAt: 1_200 })],
    });
    const [, row] = rowsOf(run({ timeline: [fetched] }), 2_000);
    expect(row).toMatchObject({ from: 10, to: 1_200, words: "1.19 s" });
    expect(row!.bars).toEqual([
      { kind: "error", from: 10, to: 100 },
      { kind: "pause", from: 100, to: 1_100, text: "503, again in 1 s" },
      { kind: "value", from: 1_100, to: 1_200, text: "2" },
    ]);
  });

  test("over eight attempts are the first, how many, and the last three", () => {
    const attempts = Array.from({ length: 37 }, (_, i) =>
      failed(i + 1, i * 100, i * 100 + 10, i === 36 ? null : (i + 1) * 100),
    );
    const [, row] = rowsOf(
      run({ state: "failed", timeline: [entry({ state: "failed", endedAt: 3_610, attempts })] }),
      9_000,
    );
    expect(row!.bars.map(({ kind, text }) => text ?? kind)).toEqual([
      "error",
      "… 37 attempts …",
      "35",
      "503, again in 90 ms",
      "36",
      "503, again in 90 ms",
      "37",
    ]);
  });

  test("a step that will be tried again pauses until now", () => {
    const timeline = [
      entry({
        state: "retrying",
        startedAt: 10,
        endedAt: null,
        waitsUntil: 5_020,
        attempts: [failed(1, 10, 20, 5_020, "Socket closed: ECONNRESET")],
      }),
    ];
    const [, row] = rowsOf(run({ state: "waiting", endedAt: null, timeline }), 2_000);
    expect(row).toMatchObject({ state: "waiting", to: null, words: "1.99 s so far" });
    expect(row!.bars[1]).toEqual({ kind: "pause", from: 20, to: null, text: "Socket closed, again in 5 s" });
  });

  test("a wait is no work, an attempt is", () => {
    const timeline = [
      entry({ name: "a", startedAt: 10, endedAt: 40, attempts: [attempt({ startedAt: 10, endedAt: 40 })] }),
      entry({
        name: "nap",
        kind: "sleep",
        startedAt: 40,
        endedAt: 900,
        attempts: [attempt({ startedAt: 40, endedAt: 900 })],
      }),
    ];
    const rows = rowsOf(run({ timeline }), 2_000);
    expect(rows.map(({ name, note }) => [name, note])).toEqual([
      ["queued", "taken up after 10 ms"],
      ["a", null],
      ["nap", "slept"],
    ]);
    expect(workOf(rows, 2_000)).toEqual([{ from: 10, to: 40 }]);
  });

  test("what was found out about a run is marked where it was, took no time and is no step", () => {
    const value = { from: "5ynk8qRRWg", to: "Xu16YFyXVl" };
    const output = { value, bytes: 40, isOmitted: false } as unknown as TimelineEntry["output"];
    const timeline = [
      entry({ name: "a", startedAt: 10, endedAt: 40, attempts: [attempt({ startedAt: 10, endedAt: 40 })] }),
      entry({
        name: "code changed",
        kind: "code-changed",
        startedAt: 50,
        endedAt: 50,
        output,
        attempts: [attempt({ startedAt: 50, endedAt: 50 })],
      }),
    ];
    expect(rowsOf(run({ timeline }), 100)[2]).toMatchObject({
      words: "",
      bars: [{ kind: "remark", from: 50, to: 50 }],
      note: "5ynk8qRRWg → Xu16YFyXVl",
    });
    expect([stepsWords(run({ timeline })), tellingStep(run({ timeline }))?.name]).toEqual(["1 step", "a"]);
  });

  test("rows stand in the order in which steps began, kept ones before all", () => {
    const timeline = [
      entry({ name: "kept", isKept: true, startedAt: -9_000, endedAt: -8_000, attempts: [attempt({})] }),
      entry({ name: "short", startedAt: 50, endedAt: 60 }),
      entry({ name: "long", startedAt: 45, endedAt: 90 }),
    ];
    const rows = rowsOf(run({ timeline }), 100);
    expect(rows.map(({ name }) => name)).toEqual(["queued", "kept", "long", "short"]);
    expect(rows[1]!.bars).toEqual([]);
  });

  test("a run whose code is at work says so from its last outcome on", () => {
    const timeline = [entry({ name: "a", startedAt: 10, endedAt: 40 })];
    expect(rowsOf(run({ state: "running", endedAt: null, timeline }), 540).at(-1)).toMatchObject({
      id: "working",
      from: 40,
      to: null,
      words: "500 ms so far",
    });
  });

  test("the first row says who took the run up", () => {
    const timeline = [
      entry({ startedAt: 12, endedAt: 40, attempts: [attempt({ startedAt: 12, endedAt: 40, worker: "w1" })] }),
    ];
    const facts = { now: 100, effects: [], workers: { w1: "process 4121 on web-2" } };
    expect(rowsWith(run({ startedAt: 12, timeline }), facts)[0]).toMatchObject({
      note: "worker web-2 took it after 12 ms",
    });
    expect(processOf("process 4121 on web-2")).toEqual({ host: "web-2", process: "4121" });
    expect(processOf("gateway")).toEqual({ host: "gateway", process: null });
  });
});
