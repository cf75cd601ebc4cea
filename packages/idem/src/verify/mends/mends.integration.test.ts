// A proposed mend was played, and is right: where it is an edit, the edited program holds.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { corpusProgram, openThreads, verifyProgram } from "../corpus.suite.ts";
import type { Finding } from "../report.ts";

const threads = openThreads();
afterAll(() => threads.close());

const readSource = (file: string): string => readFileSync(file, "utf8");

async function firstFinding(program: string): Promise<Finding> {
  const { findings } = await verifyProgram(threads, corpusProgram(program), { mends: true, readSource });
  return findings[0]!;
}

/** The program with the edits made, beside the others. */
function edited({ mend }: Finding): string {
  const { edits } = mend!;
  const lines = readSource(edits[0]!.file).split("\n");
  for (const { line, before, after } of edits) {
    expect(lines[line - 1]).toBe(before);
    lines[line - 1] = after;
  }
  const folder = mkdtempSync(join(dirname(edits[0]!.file), "edited-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "program.mjs");
  writeFileSync(file, lines.join("\n"));
  return file;
}

describe("a mend that is an edit holds when it is made", () => {
  test.each([
    ["no-key", `headers: { "Idempotency-Key": key }`],
    ["random-key", `"idempotency-key": key`],
    ["no-function-key", `idempotency: "event.data.placementId"`],
    ["wide-key", `idempotency: "event.data.clientId + '-' + event.data.placementId"`],
  ])("%s", async (name, expected) => {
    const finding = await firstFinding(`${name}/faulty.mjs`);
    expect(finding.mend!.edits.map(({ after }) => after).join("\n")).toContain(expected);
    const { verdict, findings } = await verifyProgram(threads, edited(finding));
    expect(findings).toEqual([]);
    expect(verdict).toBe("HELD");
  });
});

describe("a mend that needs more than a line is told in words", () => {
  test.each([
    ["outside-step", /^Move it into a step of its own .* Pass the step's own key, as stripe takes it/],
    ["two-effects", /^Step "create-invoice" has more than one effect: give each a step of its own\./],
    ["late-timer", /^Wait in the step for POST api\.resend\.com\/emails, and let the step throw/],
    ["swallowed-failure", /let the step throw where that is refused/],
    ["moving-step-id", /^Outside steps Date\.now\(\) in line 9 is another each time .* \(\) => Date\.now\(\)\)/],
  ])("%s", async (name, expected) => {
    const { mend } = await firstFinding(`${name}/faulty.mjs`);
    expect(mend?.text).toMatch(expected);
    expect(mend?.edits).toEqual([]);
  });
});

test("what no proposed change would mend has no mend", async () => {
  const { verdict, mend } = await firstFinding("cached-promise/faulty.mjs");
  expect({ verdict, mend }).toEqual({ verdict: "LOST", mend: null });
});

test("a finding has the smallest schedule that shows it, and the least data", async () => {
  const { findings } = await verifyProgram(threads, corpusProgram("no-key/faulty.mjs"), {
    mends: true,
    only: ["again-at-once+die-after-effect:1"],
  });
  const [{ schedule, event, timeline }] = findings as [Finding];
  expect(schedule).toBe("die-after-effect:1");
  expect(Object.keys(event!.data as object).length).toBeLessThan(3);
  expect(timeline.map(({ text }) => text).join("\n")).not.toContain("same event arrived");
});
