// What the verifier finds, on programs whose faults are known.
import { afterAll, describe, expect, test } from "vitest";
import { corpusPairs, openThreads, verifyProgram } from "./corpus.suite.ts";

const threads = openThreads();
afterAll(() => threads.close());

describe.each(corpusPairs())("$name", ({ faulty, mended, expected }) => {
  test("its fault is found, with the right verdict and line", async () => {
    const report = await verifyProgram(threads, faulty);
    const found = report.findings.map(({ verdict, place }) => ({ verdict, line: place?.line }));
    expect(found).toContainEqual(expected);
    expect(report.verdict).toBe(expected.verdict);
  });

  test("its mended twin raises no alarm", async () => {
    const { verdict, findings } = await verifyProgram(threads, mended, { budgetMs: 300 });
    expect(findings).toEqual([]);
    expect(verdict).toBe("HELD");
  });
});
