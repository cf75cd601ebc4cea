// The note for Monday morning: every doubled entity with both runs' step outputs side by side, as Markdown for people and as
// CSV for writing the credit memos.
import { csvOf } from "../model/csv.ts";
import type { Doubled, DoubledEntity } from "./doubled-runs.ts";
import { instant, span } from "./finding.ts";

interface NotedStep {
  readonly name: string;
  readonly state: string;
  /** JSON text of what it returned, or the error's message. */
  readonly output: string;
}

export interface NotedRun {
  readonly id: string;
  readonly state: string;
  readonly startedAt: number;
  readonly steps: readonly NotedStep[];
}

export interface NotedEntity extends DoubledEntity {
  readonly runs: readonly NotedRun[];
}

export interface NotedFunction extends Omit<Doubled, "doubled" | "presentCount"> {
  readonly doubled: readonly NotedEntity[];
  /** Doubled entities that did not fit into the note. */
  readonly left: number;
}

export interface MondayNote {
  readonly store: string;
  readonly env: string;
  readonly madeAt: number;
  readonly since: number;
  readonly nearMs: number;
  readonly functions: readonly NotedFunction[];
}

// A cell is for comparing two answers by eye; whole answers are in the CSV.
const cellCharsMax = 120;

export function noteAsMarkdown(note: MondayNote): string {
  const lines = [
    "# Runs that happened twice",
    "",
    `Store ${cell(note.store)}, environment ${cell(note.env)}, from ${instant(note.since)} to ${instant(note.madeAt)}.`,
    "",
  ];
  if (note.functions.length === 0) lines.push("Nothing ran twice in this time.", "");
  for (const found of note.functions) {
    const count = found.doubled.length + found.left;
    lines.push(
      `## ${cell(found.function)}: ${count} of ${found.entityCount} ${found.entities}`,
      "",
      `First ${instant(found.firstAt)}, last ${instant(found.lastAt)}.`,
      "",
      `What happened, in plain words: the message that starts this work arrived more than once for the same thing, within ${span(note.nearMs)}. Each arrival was taken for new work, so the work was done again, and whatever it creates exists twice. Nobody asked for the second one. A system is called idempotent when a message that arrives twice has the effect of one; the line below makes this function so.`,
      "",
      "```ts",
      found.isConfigured
        ? `// the function has the key ${found.expression}; its window is too short, or keys were released by hand`
        : `idempotency: ${JSON.stringify(found.expression)},`,
      "```",
      "",
    );
    for (const entity of found.doubled) lines.push(...sideBySide(found, entity));
    if (found.left > 0) lines.push(`${found.left} more are not listed here.`, "");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

/** Both runs of one thing, step by step. */
export function sideBySide(found: Pick<NotedFunction, "expression">, entity: NotedEntity): string[] {
  const { runs } = entity;
  const header = runs.map((run, i) => `run ${i + 1}: ${cell(run.id)}`);
  const rule = ["---", ...runs.map(() => "---")];
  const rows = [
    ["began", ...runs.map((run) => instant(run.startedAt))],
    ["ended as", ...runs.map((run) => run.state)],
    ...stepNames(runs).map((name) => [`step ${name}`, ...runs.map((run) => shorten(outputOf(run, name)))]),
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    `### ${cell(found.expression.split(".").at(-1) ?? "key")} ${cell(entity.value)}`,
    "",
    line(["", ...header]),
    line(rule),
    ...rows.map(([name, ...cells]) => line([cell(name!), ...cells.map(cell)])),
    "",
  ];
}

const stepNames = (runs: readonly NotedRun[]): string[] => [
  ...new Set(runs.flatMap(({ steps }) => steps.map(({ name }) => name))),
];

const outputOf = (run: NotedRun, name: string): string => {
  const outputs = run.steps.filter((step) => step.name === name);
  return outputs.length === 0
    ? "–"
    : outputs.map(({ state, output }) => (state === "completed" ? output : `${state}: ${output}`)).join("; ");
};

const shorten = (text: string): string => (text.length <= cellCharsMax ? text : `${text.slice(0, cellCharsMax)}…`);

/** Payloads are strangers' text: nothing in them may become markup. */
export const cell = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\|`*_[\]#]/g, "\\$&");

export function noteAsCsv(note: MondayNote): string {
  const rows: string[][] = [
    [
      "function",
      "field",
      "value",
      "first run",
      "first run began",
      "first run state",
      "other run",
      "other run began",
      "other run state",
      "step",
      "first run output",
      "other run output",
    ],
  ];
  for (const found of note.functions) {
    for (const { value, runs } of found.doubled) {
      const [first, ...others] = runs;
      if (first === undefined) continue;
      for (const other of others) {
        const both = [first.id, instant(first.startedAt), first.state, other.id, instant(other.startedAt), other.state];
        const names = stepNames([first, other]);
        for (const name of names.length === 0 ? [""] : names) {
          const outputs = name === "" ? ["", ""] : [outputOf(first, name), outputOf(other, name)];
          rows.push([found.function, found.expression, value, ...both, name, ...outputs]);
        }
      }
    }
  }
  return csvOf(rows);
}
