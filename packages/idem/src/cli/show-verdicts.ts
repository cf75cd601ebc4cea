// The verifier's findings, for a person: the verdict of each function, and of each finding what happened, where, and how to see it again.
import { relative } from "node:path";
import { type Verdict, verdicts } from "../model/verdict.ts";
import type { VerifiedFunction, VerifyReport } from "../verify/report.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { type Screen, sayBeside } from "./say-beside.ts";
import { duration } from "./times.ts";
import { linesAround } from "./verify-inputs.ts";

type Shown = VerifiedFunction["findings"][number];

const signs: Readonly<Record<Verdict, string>> = {
  DOUBLED: "✗",
  LOST: "✗",
  HALF: "✗",
  DIVERGED: "✗",
  UNPROVEN: "?",
  ACCEPTED: "~",
  HELD: "✓",
};

const paintOf = (paint: Paint, verdict: Verdict): ((text: string) => string) => {
  if (verdict === "HELD") return paint.green;
  return verdict === "UNPROVEN" || verdict === "ACCEPTED" ? paint.yellow : paint.red;
};

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** "09:00:20.004", of the world's own clock; a later day is named. */
function timeOf(at: number, start: number): string {
  const [day, time] = new Date(at).toISOString().split("T") as [string, string];
  const isSameDay = day === new Date(start).toISOString().slice(0, 10);
  return isSameDay ? time.slice(0, -1) : `${day} ${time.slice(0, 8)}`;
}

export function showReport(context: Screen, report: VerifyReport): void {
  for (const verified of report.functions) {
    showFunction(context, verified);
    context.say("");
  }
  const { paint } = context;
  const { verdicts: found, schedules, tookMs, problems, baseline } = report.summary;
  showLeftOut(context, report.leftOut);
  if (baseline !== null) showBaseline(context, baseline);
  for (const problem of problems) context.say(`${paint.red("✗")} ${printable(problem)}`);
  if (problems.length > 0) context.say("");
  const counts = verdicts.flatMap((verdict) => {
    const count = found[verdict];
    return count === undefined ? [] : paintOf(paint, verdict)(`${count} ${verdict.toLowerCase()}`);
  });
  if (report.leftOut.length > 0) counts.push(paint.dim(`${report.leftOut.length} left out`));
  context.say(`${counts.join(" · ")}    ${paint.dim(`${counted(schedules, "schedule")}, ${duration(tookMs)}`)}`);
}

/** Those of one reason together. */
function showLeftOut(context: Screen, leftOut: VerifyReport["leftOut"]): void {
  const { paint } = context;
  for (const why of new Set(leftOut.map((each) => each.why))) {
    const ids = leftOut.filter((each) => each.why === why).map(({ id }) => id);
    const label = `${counted(ids.length, "function")} left out: `;
    sayBeside(context, label, `${ids.join(", ")}: ${why}`, paint.dim(label), paint.dim);
  }
  if (leftOut.length > 0) context.say("");
}

function showBaseline(context: Screen, { known, fresh, gone }: NonNullable<VerifyReport["summary"]["baseline"]>): void {
  const { paint } = context;
  for (const { id, function: fn, kind, what } of gone) {
    const label = `${paint.green("✓")} gone: `;
    sayBeside(context, "✓ gone: ", `${fn}: ${kind.toLowerCase()}, ${what} (${id})`, label);
  }
  if (gone.length > 0) context.say("  write the baseline again, and they cannot come back: --write-baseline");
  context.say(`${paint.dim("baseline:")} ${known} known, ${fresh} new, ${gone.length} gone`);
  context.say("");
}

function showFunction(context: Screen, verified: VerifiedFunction): void {
  const { paint } = context;
  const { id, verdict, event, schedules, unplayed, effects, commits, findings, notes } = verified;
  const started = event === null ? "" : paint.dim(`    event ${printable(event.name)} (${printable(event.from)})`);
  context.say(`${paint.bold(printable(id))}${started}`);
  if (verdict === "HELD") {
    const played =
      unplayed === 0 ? counted(schedules, "schedule") : `${schedules} of ${schedules + unplayed} schedules`;
    const what = `in ${played}: ${counted(effects, "effect")}, ${counted(commits, "commit")}, one of everything each time`;
    sayBeside(context, "  ✓ HELD      ", what, `  ${paint.green("✓ HELD")}      `);
  }
  for (const finding of findings) showFinding(context, id, finding);
  if (unplayed > 0) {
    const rest = `${schedules} of ${schedules + unplayed} schedules were played within the budget, those that show most first; --budget gives more`;
    sayBeside(context, "    note: ", rest, paint.dim("    note: "), paint.dim);
  }
  for (const note of notes) sayBeside(context, "    note: ", note, paint.dim("    note: "), paint.dim);
}

function showFinding(context: Screen, id: string, finding: Shown): void {
  const { paint } = context;
  const { verdict, thing, timeline, because, repeat, isKnown } = finding;
  const head = `  ${`${signs[verdict]} ${verdict}`.padEnd(12)}`;
  sayBeside(context, head, thing, paintOf(paint, verdict)(head));
  if (because !== null) {
    sayBeside(context, "    accepted: ", because);
    return;
  }
  if (isKnown) {
    sayBeside(context, "    known: ", `it stands in the baseline (${finding.id})`);
    context.say(`    ${paint.dim("repeat:")} ${printable(repeat)}`);
    return;
  }
  const start = timeline[0]?.at ?? 0;
  for (const { at, text } of timeline) {
    const time = `      ${timeOf(at, start)}  `;
    sayBeside(context, time, text, paint.dim(time));
  }
  showPlace(context, finding);
  // Nothing was played where nothing happened at all.
  if (timeline.length > 0 || verdict !== "UNPROVEN") context.say(`    ${paint.dim("repeat:")} ${printable(repeat)}`);
  // A report of a test needs no test: there is one.
  if (verdict === "UNPROVEN" || !repeat.startsWith("idem ")) return;
  context.say(`    ${paint.dim("as a test:")}`);
  for (const line of testOf(id, finding)) context.say(`      ${printable(line)}`.trimEnd());
}

function showPlace(context: Screen, { place, mend }: Shown): void {
  const { paint, io } = context;
  if (place !== null) {
    context.say(`    ${printable(relative(io.cwd, place.file))}:${place.line}`);
    const lines = linesAround(place.file, place.line, 2);
    const width = String(place.line + 2).length;
    for (const { line, text } of lines) {
      const numbered = `      ${line === place.line ? ">" : " "} ${String(line).padStart(width)} | ${printable(text)}`;
      context.say(line === place.line ? numbered : paint.dim(numbered));
    }
  }
  if (mend === null) return;
  sayBeside(context, "    ", mend.text);
  let shown = place?.file;
  for (const { file, line, before, after } of mend.edits) {
    if (file !== shown) context.say(`    ${printable(relative(io.cwd, file))}:${line}`);
    shown = file;
    context.say(paint.red(`      ${line} - ${printable(before.trim())}`));
    context.say(paint.green(`      ${line} + ${printable(after.trim())}`));
  }
}

/** A file of its own, for node:test and Vitest alike: it passes once the finding is mended. Two seconds are its usual time, and Vitest waits for five. */
function testOf(id: string, { repeat, schedule }: Shown): string[] {
  return [
    'import { execSync } from "node:child_process";',
    'import { test } from "node:test"; // or "vitest"',
    "",
    `test(${JSON.stringify(`${id}: one of everything, under ${schedule}`)}, () => {`,
    `  execSync(${JSON.stringify(`npx ${repeat}`)}, { stdio: "inherit" });`,
    "}, 60_000);",
  ];
}
