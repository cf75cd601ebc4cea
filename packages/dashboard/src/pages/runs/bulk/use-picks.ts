// Ticked rows: one by one, a range, or all that match the filter.
import { useEffect, useMemo, useState } from "react";
import type { RowPicks } from "../../../parts/list.tsx";
import { labelParts } from "../group-words.ts";
import type { GroupItem } from "../groups-data.ts";
import type { RunsView } from "../runs-view.ts";
import { type BulkFilter, filterOfView, runOfRow } from "./bulk-filter.ts";

/** The server takes as many; more than that is a filter. */
const pickedMax = 500;

export interface Picks<Row> {
  readonly rows: RowPicks<Row>;
  /** Run ids. */
  readonly picked: ReadonlySet<string>;
  /** All that match the filter as it was when it was chosen; null while rows are ticked one by one. */
  readonly all: BulkFilter | null;
  /** Null where the list's filter is none that bulk work can ask for. */
  readonly chooseAll: (() => void) | null;
  readonly clear: () => void;
}

/** `groupOf` is null for a row that is a heading. */
export function usePicks<Row>(
  view: RunsView,
  rows: readonly Row[],
  groupOf: (row: Row) => GroupItem | null,
): Picks<Row> {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState<BulkFilter | null>(null);
  const [last, setLast] = useState<number | null>(null);
  const filter = JSON.stringify(view.search, (name, value) => (name === "open" ? undefined : value));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is another list, and what was ticked is not in sight
  useEffect(() => {
    setPicked(new Set());
    setAll(null);
    setLast(null);
  }, [filter]);
  const clear = () => {
    setPicked(new Set());
    setAll(null);
  };
  const runOf = (row: Row | undefined): string | null => {
    const group = row === undefined ? null : groupOf(row);
    return group === null ? null : runOfRow(group, view);
  };
  const toggle = (index: number, isRange: boolean) => {
    const own = runOf(rows[index]);
    if (own === null) return;
    const isOn = all !== null || !picked.has(own);
    const [from, to] = isRange && last !== null ? [Math.min(last, index), Math.max(last, index)] : [index, index];
    const next = new Set(all === null ? picked : rows.flatMap((row) => runOf(row) ?? []));
    for (const row of rows.slice(from, to + 1)) {
      const id = runOf(row);
      if (id === null) continue;
      if (isOn && all === null) next.add(id);
      else next.delete(id);
    }
    setAll(null);
    setPicked(new Set([...next].slice(0, pickedMax)));
    setLast(index);
  };
  const isChoosable = useMemo(() => filterOfView(view, 0) !== null, [view]);
  return {
    rows: {
      isPicked: (row) => {
        const id = runOf(row);
        return id !== null && (all !== null || picked.has(id));
      },
      label: (row) => {
        const { name, value } = labelParts(groupOf(row)!);
        return `Select ${name === null ? "" : `${name} `}${value}`;
      },
      toggle,
    },
    picked,
    all,
    chooseAll: isChoosable ? () => setAll(filterOfView(view, Date.now())) : null,
    clear,
  };
}
