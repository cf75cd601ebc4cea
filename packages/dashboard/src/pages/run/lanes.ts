// Steps that were planned together share a bracket. The store keeps no plans, but code that awaits one step before it begins the
// next can never overlap: whatever overlaps was planned together.
import type { Row } from "./rows.ts";

export type Lane =
  | { readonly kind: "row"; readonly row: Row; readonly bracket: Bracket | null }
  | {
      readonly kind: "folded";
      readonly id: string;
      readonly name: string;
      readonly rows: readonly Row[];
      readonly completed: number;
      readonly failed: number;
      readonly bracket: Bracket | null;
    };

/** Where in its bracket a line stands. */
export type Bracket = "first" | "middle" | "last";

// More lines than this in one bracket are read by nobody.
const bracketMax = 12;

export function lanesOf(rows: readonly Row[], unfolded: ReadonlySet<string>): Lane[] {
  return planned(rows).flatMap((together) => {
    if (together.length === 1) return [{ kind: "row" as const, row: together[0]!, bracket: null }];
    return bracketed(together.length > bracketMax ? foldMany(together, unfolded) : together.map((row) => line(row)));
  });
}

/** Rows in their order, those that overlap in one list. Kept rows and those that are no steps stand alone. */
export function planned(rows: readonly Row[]): Row[][] {
  const lists: Row[][] = [];
  let reached = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    const isStep = row.entry !== null && !row.entry.isKept && row.entry.kind !== "function";
    const end = row.to ?? Number.POSITIVE_INFINITY;
    const last = lists.at(-1);
    if (isStep && last !== undefined && row.from < reached) last.push(row);
    else lists.push([row]);
    if (!isStep) reached = Number.NEGATIVE_INFINITY;
    else reached = row.from < reached ? Math.max(reached, end) : end;
  }
  return lists;
}

const line = (row: Row): Lane => ({ kind: "row", row, bracket: null });

/** `load-page-17`, `load-page:17` and `load-page 17` are pages of one kind. */
const stemOf = (name: string): string => name.replace(/[\s:._#/-]*\d+$/, "") || name;

function foldMany(rows: readonly Row[], unfolded: ReadonlySet<string>): Lane[] {
  const kinds = new Map<string, Row[]>();
  for (const row of rows) kinds.set(stemOf(row.name), [...(kinds.get(stemOf(row.name)) ?? []), row]);
  // All of different names: they are one fold, for they were one plan.
  const lists = kinds.size > bracketMax ? [["steps at once", [...rows]] as const] : [...kinds];
  return lists.flatMap(([name, list]): Lane[] => {
    if (list.length === 1) return [line(list[0]!)];
    const id = list[0]!.id;
    const failed = list.filter(({ state }) => state === "failed");
    const completed = list.filter(({ state }) => state === "completed").length;
    const folded: Lane = { kind: "folded", id, name, rows: list, completed, failed: failed.length, bracket: null };
    return [folded, ...(unfolded.has(id) ? list : failed).map(line)];
  });
}

const bracketed = (lanes: readonly Lane[]): Lane[] =>
  lanes.length === 1
    ? [...lanes]
    : lanes.map((lane, i) => ({ ...lane, bracket: i === 0 ? "first" : i === lanes.length - 1 ? "last" : "middle" }));

/** "238 ✓ 2 ✗", or what else there is to say of them. */
export function countWords({
  rows,
  completed,
  failed,
}: {
  readonly rows: readonly Row[];
  readonly completed: number;
  readonly failed: number;
}): string {
  const open = rows.length - completed - failed;
  return [completed > 0 ? `${completed} ✓` : "", failed > 0 ? `${failed} ✗` : "", open > 0 ? `${open} open` : ""]
    .filter((each) => each !== "")
    .join(" ");
}
