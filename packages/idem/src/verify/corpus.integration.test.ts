// The verifier on programs whose faults are known. A short form; `npm run proof -- corpus` plays every single adversity, and prints the figures.
import { afterAll, describe, expect, test } from "vitest";
import { corpusPairs, openThreads, verifyProgram } from "./corpus.suite.ts";
import type { Schedule } from "./schedules.ts";

const threads = openThreads();
afterAll(() => threads.close());

/** Those that show most for their time. */
const isTelling = ({ id }: Schedule): boolean =>
  /^(die-after-effect|die-at-commit:2:after|twin|other-(id|name)-?|always|answer-409|replay|rerun$)/.test(id);

test("there are at least fifty pairs", () => {
  expect(corpusPairs().length).toBeGreaterThanOrEqual(50);
});

describe.each(corpusPairs())("$name", ({ faulty, mended, expected }) => {
  test("its fault is found, with the right verdict and line", async () => {
    const quick = await verifyProgram(threads, faulty, { picks: isTelling });
    const report = quick.verdict === expected.verdict ? quick : await verifyProgram(threads, faulty);
    const found = report.findings.map(({ verdict, place }) => ({ verdict, line: place?.line }));
    expect(found).toContainEqual(expected);
    expect(report.verdict).toBe(expected.verdict);
  });

  test("its mended twin raises no alarm", async () => {
    const picks = (schedule: Schedule, index: number): boolean => isTelling(schedule) || index % 3 === 0;
    const { verdict, findings } = await verifyProgram(threads, mended, { picks });
    expect(findings).toEqual([]);
    expect(verdict).toBe("HELD");
  });
});
