import type { OptionWords } from "../option-words.ts";

export const priorityWords: OptionWords<string> = {
  cell: () => ["priority"],
  lines: (expression) => [{ name: "Priority", text: expression, isCode: true }],
};
