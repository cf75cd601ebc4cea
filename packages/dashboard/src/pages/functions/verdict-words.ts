// Verdicts of `idem verify` on functions, sorted and in words.
import { shellWord } from "../../../../idem/src/model/shell-word.ts";
import type { FunctionInFigures } from "./function-data.ts";

export type FunctionVerdict = NonNullable<FunctionInFigures["verdict"]>;

/** Where a function stands; `with` has no verdict of its own. */
export type Standing = "doubled" | "wrong" | "unproven" | "never" | "held" | "with";

export function standingOf({ verdict, verifiedWith }: Pick<FunctionInFigures, "verdict" | "verifiedWith">): Standing {
  if (verifiedWith !== null) return "with";
  switch (verdict?.verdict) {
    case undefined:
      return "never";
    case "DOUBLED":
      return "doubled";
    case "UNPROVEN":
      return "unproven";
    case "HELD":
    case "ACCEPTED":
      return "held";
    default:
      return "wrong";
  }
}

export const hasChanged = ({ verdict }: Pick<FunctionInFigures, "verdict">): boolean =>
  verdict !== null && verdict.codeSince === "changed";

/** Values of the address. */
export const verdictFilters = ["doubled", "wrong", "unproven", "never", "held", "changed"] as const;
export type VerdictFilter = (typeof verdictFilters)[number];

const filterWords = {
  doubled: "Doubled",
  wrong: "Lost or half done",
  unproven: "Unproven",
  never: "Never verified",
  held: "Held",
  changed: "Changed since",
} as const satisfies Record<VerdictFilter, string>;

export const isShown = (of: FunctionInFigures, filter: VerdictFilter | undefined): boolean =>
  filter === undefined || (filter === "changed" ? hasChanged(of) : standingOf(of) === filter);

/** With how many there are of each; what there is none of is left out, but for the one that is chosen. */
export function filterChoices(functions: readonly FunctionInFigures[], chosen: VerdictFilter | undefined) {
  const counted = verdictFilters.map((filter) => ({
    value: filter as string,
    filter,
    count: functions.filter((each) => isShown(each, filter)).length,
  }));
  return [
    { value: "", text: `All ${functions.length}` },
    ...counted
      .filter(({ count, filter }) => count > 0 || filter === chosen)
      .map(({ value, filter, count }) => ({ value, text: `${filterWords[filter]} ${count}` })),
  ];
}

/** "in 61 schedules" */
export const playedWords = ({ schedules }: Pick<FunctionVerdict, "schedules">): string =>
  `in ${schedules.toLocaleString("en-GB")} ${schedules === 1 ? "schedule" : "schedules"}`;

/** The command that verifies it; the module is named where a verdict said where the function stands. */
export function verifyCommand(
  { id, verdict, triggers }: Pick<FunctionInFigures, "id" | "verdict" | "triggers">,
  origin: string,
): string {
  const module = verdict?.place?.file ?? "path/to/module.ts";
  const needsEvent = triggers.some((each) => "event" in each);
  return `npx idem verify ${shellWord(module)} --function ${shellWord(id)}${needsEvent ? " --from-store" : ""} --publish ${origin}`;
}

/** The command that plays one finding again. */
export const repeatCommand = (
  { id, verdict, triggers }: Pick<FunctionInFigures, "id" | "verdict" | "triggers">,
  schedule: string,
): string =>
  `${verifyCommand({ id, verdict, triggers }, "").replace(/ --publish $/, "")} --schedule ${shellWord(schedule)}`;
