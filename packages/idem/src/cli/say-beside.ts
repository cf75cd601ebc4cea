// A label, and beside it a text that goes on under itself where it does not fit into one line of the terminal.
import type { Context } from "./command.ts";
import { printable, textWidth } from "./printable.ts";

/** The part of a command that writes lines for people. */
export interface Screen extends Pick<Context, "say" | "paint"> {
  readonly io: { readonly cwd: string; readonly out: { readonly columns: number | null } };
}

/** `painted` is the label as it is shown, `body` paints a line of the text. */
export type Said = [label: string, text: string, painted?: string, body?: (line: string) => string];

export function sayBeside(context: Screen, ...[label, text, painted = label, body = (line) => line]: Said): void {
  const { columns } = context.io.out;
  const [first = "", ...rest] = wrapped(printable(text), columns === null ? null : columns - textWidth(label));
  context.say(`${painted}${body(first)}`.trimEnd());
  for (const line of rest) context.say(`${" ".repeat(textWidth(label))}${body(line)}`);
}

// Narrower than this, lines are left to the terminal.
const wrapMin = 24;

function wrapped(text: string, columns: number | null): string[] {
  if (columns === null || columns < wrapMin) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && textWidth(line) + 1 + textWidth(word) > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
