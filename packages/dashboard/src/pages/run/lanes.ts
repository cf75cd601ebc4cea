// The lines of a timeline, in order: a step each, steps of one kind as one, and of those what is slow or went wrong. Steps that were
// planned together share a bracket. The store keeps no plans, but code that awaits one step before it begins the next can never
// overlap: whatever overlaps was planned together.
import type { Row } from "./rows.ts";
import { findSeries, hasError, isSlow, type Series, seriesOf, spanOf } from "./series.ts";

export type Lane =
  | {
      readonly kind: "row";
      readonly id: string;
      readonly row: Row;
      readonly bracket: Bracket | null;
      /** Under the line of its series. */
      readonly isInner: boolean;
      readonly isSlow: boolean;
    }
  | { readonly kind: "series"; readonly id: string; readonly series: Series; readonly isOpen: boolean }
  /** Those of a series between two that are worth a line. */
  | {
      readonly kind: "rest";
      readonly id: string;
      readonly rows: readonly Row[];
      readonly words: string;
      readonly isOpen: boolean;
    };

/** A line's place in its bracket. */
export type Bracket = "first" | "middle" | "last";

/** `all`: every step; `slow`: of a series those that are slow or had an error; `failed`: nothing but steps that had one. */
export type Show = "all" | "slow" | "failed";

export interface Shown {
  readonly show: Show;
  /** Part of a step's name; "" for any. */
  readonly find: string;
  /** Lines that a person opened or closed against their nature. */
  readonly turned: ReadonlySet<string>;
  /** Always has a line of its own. */
  readonly selected: string | null;
}

// More lines than this in one bracket are read by nobody.
const bracketMax = 12;

export function lanesOf(rows: readonly Row[], shown: Shown): Lane[] {
  const find = shown.find.trim().toLowerCase();
  if (find !== "") return rows.filter(({ name }) => name.toLowerCase().includes(find)).map((row) => line(row));
  if (shown.show === "failed") return rows.filter(hasError).map((row) => line(row));
  const series = findSeries(rows);
  const lanes: Lane[] = [];
  const seen = new Set<Series>();
  let between: Row[] = [];
  const flush = () => {
    lanes.push(...planned(between).flatMap((together) => bracketed(together, shown)));
    between = [];
  };
  for (const row of rows) {
    const of = series.get(row);
    if (of === undefined) between.push(row);
    else if (!seen.has(of)) {
      flush();
      seen.add(of);
      lanes.push(...seriesLanes(of, shown));
    }
  }
  flush();
  return lanes;
}

const line = (row: Row, of: Series | null = null, bracket: Bracket | null = null): Lane => ({
  kind: "row",
  id: row.id,
  row,
  bracket,
  isInner: of !== null,
  isSlow: of !== null && isSlow(row, of),
});

function seriesLanes(series: Series, { show, turned, selected }: Shown): Lane[] {
  const id = `series-${series.id}`;
  const isOpen = !turned.has(id);
  const lanes: Lane[] = [{ kind: "series", id, series, isOpen }];
  if (!isOpen) return lanes;
  if (show === "all") return [...lanes, ...series.rows.map((row) => line(row, series))];
  let rest: Row[] = [];
  const flush = () => {
    if (rest.length > 0) lanes.push(...restLanes(series, rest, turned));
    rest = [];
  };
  for (const row of series.rows) {
    // A step still going on is where people look.
    const isTelling = hasError(row) || isSlow(row, series) || row.to === null || row.id === selected;
    if (!isTelling) {
      rest.push(row);
      continue;
    }
    flush();
    lanes.push(line(row, series));
  }
  flush();
  return lanes;
}

function restLanes(series: Series, rows: readonly Row[], turned: ReadonlySet<string>): Lane[] {
  // A fold of one takes as much room as what is in it.
  if (rows.length === 1) return [line(rows[0]!, series)];
  const id = `rest-${rows[0]!.id}`;
  const isOpen = turned.has(id);
  const span = spanOf(rows);
  const words = `${rows.length} like these${span === null ? "" : `, ${span}`}`;
  const rest: Lane = { kind: "rest", id, rows, words, isOpen };
  return isOpen ? [rest, ...rows.map((row) => line(row, series))] : [rest];
}

/** Rows in their order, those that overlap in one list. Kept rows and those that are no steps stand alone. */
function planned(rows: readonly Row[]): Row[][] {
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

/** All of different names, and too many: they are one line, for they were one plan. */
function bracketed(together: readonly Row[], shown: Shown): Lane[] {
  if (together.length === 1) return [line(together[0]!)];
  if (together.length > bracketMax) return seriesLanes(seriesOf("steps at once", together), shown);
  const place = (i: number): Bracket => (i === 0 ? "first" : i === together.length - 1 ? "last" : "middle");
  return together.map((row, i) => line(row, null, place(i)));
}

/** The number of steps, of those worth a line, and of those that had an error. */
export function countsOf(rows: readonly Row[]): {
  readonly all: number;
  readonly slow: number;
  readonly failed: number;
} {
  const series = findSeries(rows);
  const steps = rows.filter(({ entry }) => entry !== null);
  const failed = steps.filter(hasError);
  const slow = steps.filter((row) => hasError(row) || (series.has(row) && isSlow(row, series.get(row)!)));
  return { all: steps.length, slow: slow.length, failed: failed.length };
}
