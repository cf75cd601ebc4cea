// A step's input, in a sentence.
import type { TimelineEntry } from "./run-data.ts";

export function inputWords({ input, kind }: Pick<TimelineEntry, "input" | "kind">): string {
  if (input === null) {
    if (kind === "function")
      return "Code between steps takes no arguments. It reads the run's event and what steps gave.";
    if (kind === "run" || kind === "transaction") {
      return "It was given no arguments: its code reads what is around it, the run's event and the outcomes before it.";
    }
    return "What it was asked for was not kept.";
  }
  if (input.lost !== null) return `What it was given was not kept. ${input.lost}.`;
  if (input.isEdited) return "A person gave it these arguments in place of its own.";
  return kind === "run" ? "Its code was called with these arguments." : "It was asked for this.";
}
