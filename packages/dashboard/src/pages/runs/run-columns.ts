// The columns of a list of runs one by one, beside id and state, and its orders.
import type { RunOrder } from "../../../../idem/src/server/api/run-orders.ts";

export const columnNames = ["key", "fn", "event", "started", "took", "ended"] as const;
export type ColumnName = (typeof columnNames)[number];

interface Column {
  readonly text: string;
  /** As a grid has it. */
  readonly width: string;
}

export const columns: Readonly<Record<ColumnName, Column>> = {
  key: { text: "Key", width: "minmax(110px, 1fr)" },
  fn: { text: "Function", width: "minmax(90px, 1.2fr)" },
  event: { text: "Event", width: "minmax(90px, 0.9fr)" },
  started: { text: "Started", width: "104px" },
  took: { text: "Took", width: "84px" },
  ended: { text: "Ended", width: "104px" },
};

export const usualColumns: readonly ColumnName[] = ["key", "fn"];

export const orderWords: Readonly<Record<RunOrder, string>> = {
  longest: "longest first",
  shortest: "shortest first",
  "started-last": "last started first",
  "started-first": "first started first",
};

const orderColumn: Readonly<Record<RunOrder, ColumnName>> = {
  longest: "took",
  shortest: "took",
  "started-last": "started",
  "started-first": "started",
};

/** Chosen ones in the order of all; what a list is ordered by is always in sight. */
export function columnsOf(chosen: string | undefined, order: string): readonly ColumnName[] {
  const named = chosen === undefined ? usualColumns : chosen.split(",");
  const ordered: string | undefined = orderColumn[order as RunOrder];
  return columnNames.filter((name) => named.includes(name) || name === ordered);
}

/** As the address has them; undefined for the usual ones. */
export function columnsText(chosen: readonly ColumnName[]): string | undefined {
  const text = columnNames.filter((name) => chosen.includes(name)).join(",");
  return text === usualColumns.join(",") ? undefined : text === "" ? "none" : text;
}
