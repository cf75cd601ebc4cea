// A comparison to take away: Markdown for a report, CSV for a table.
import type { Compared } from "./compared.ts";
import { differingPart } from "./differences.ts";

export interface Named {
  readonly title: string;
  readonly runs: readonly [string, string];
}

// A bar would end the cell, a line's end the row.
const cell = (text: string): string => text.replace(/[\\|`<>]/g, (char) => `\\${char}`).replace(/\s+/g, " ");
const missing = "(not there)";

export function markdownOf({ sentences, parts }: Compared, { title, runs }: Named): string {
  const lines = [
    `# ${cell(title)}`,
    "",
    `- Run 1: ${runs[0]}`,
    `- Run 2: ${runs[1]}`,
    "",
    ...sentences.map(({ title: said, words }) => `- **${cell(said)}**: ${cell(words)}`),
    "",
  ];
  for (const part of parts) {
    if (part.rows.length === 0 && part.note === null) continue;
    lines.push(`## ${cell(part.title)}`, "");
    if (part.note !== null) lines.push(cell(part.note), "");
    if (part.rows.length > 0) {
      lines.push("| Path | Run 1 | Run 2 |", "| --- | --- | --- |");
      for (const { path, one, other } of part.rows)
        lines.push(`| ${cell(path)} | ${cell(shown(one, other))} | ${cell(shown(other, one))} |`);
      lines.push("");
    }
    if (part.same.length > 0) lines.push(`${part.same.length} other fields are the same.`, "");
  }
  return lines.join("\n");
}

const shown = (text: string | undefined, against: string | undefined): string =>
  text === undefined ? missing : differingPart(text, against);

// A cell that begins so is a formula to a spreadsheet; the apostrophe makes it text.
const formula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const field = (text: string): string => `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

export function csvOf({ parts }: Compared): string {
  const rows = [["part", "path", "run 1", "run 2", "differs"]];
  for (const { title, rows: differing, same } of parts) {
    for (const { path, one, other, isExpected } of differing)
      rows.push([title, path, one ?? missing, other ?? missing, isExpected ? "as expected" : "yes"]);
    for (const { path, text } of same) rows.push([title, path, text, text, "no"]);
  }
  return `${rows.map((row) => row.map(field).join(",")).join("\r\n")}\r\n`;
}
