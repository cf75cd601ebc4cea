// Steps of one kind: three or more whose names differ by a number (`index-shard-1` to `index-shard-300`), or that have one name. They
// are read as one line that says how they went; people look for the slow ones and those with an error.
import type { Row } from "./rows.ts";

export interface Series {
  /** The first row's id: it stays while steps join. */
  readonly id: string;
  readonly name: string;
  readonly rows: readonly Row[];
  readonly completed: number;
  readonly failed: number;
  /** Completed, but not at the first try. */
  readonly afterError: number;
  readonly p50: number | null;
  readonly p95: number | null;
  /** A length above this is slow; null while none has ended. */
  readonly slowOverMs: number | null;
  readonly slow: number;
}

const seriesMin = 3;
// Above the 95th percentile one step in twenty is; three times as much is another kind of step.
const slowTimes = 3;

export const hasError = ({ entry }: Row): boolean =>
  entry !== null && (entry.state === "failed" || entry.attempts.some(({ error }) => error !== null));

export const isSlow = (row: Row, { slowOverMs }: Pick<Series, "slowOverMs">): boolean =>
  slowOverMs !== null && lengthOf(row) > slowOverMs;

const lengthOf = ({ from, to }: Row): number => (to === null ? 0 : to - from);

/** Every number of a name is left out, with what parts it from the rest. */
const patternOf = (name: string): string => name.replace(/\d+/g, "#");

/** Rows that make a series, by the pattern of their names; of what was kept from an earlier run, by themselves. */
export function findSeries(rows: readonly Row[]): ReadonlyMap<Row, Series> {
  const byPattern = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.entry === null || row.entry.kind === "function") continue;
    const pattern = `${row.entry.isKept ? "kept" : row.entry.kind} ${patternOf(row.name)}`;
    const list = byPattern.get(pattern);
    if (list === undefined) byPattern.set(pattern, [row]);
    else list.push(row);
  }
  const found = new Map<Row, Series>();
  for (const list of byPattern.values()) {
    if (list.length < seriesMin) continue;
    const series = seriesOf(nameOfAll(list), list);
    for (const row of list) found.set(row, series);
  }
  return found;
}

export function seriesOf(name: string, rows: readonly Row[]): Series {
  const lengths = rows.flatMap((row) => (row.to === null ? [] : [lengthOf(row)])).sort((a, b) => a - b);
  const at = (share: number) => lengths[Math.max(0, Math.ceil(lengths.length * share) - 1)] ?? null;
  const [p50, p95] = [at(0.5), at(0.95)];
  const slowOverMs = p95 === null ? null : p95 * slowTimes;
  const completed = rows.filter(({ state }) => state === "completed");
  return {
    id: rows[0]!.id,
    name,
    rows,
    completed: completed.length,
    failed: rows.filter(({ state }) => state === "failed").length,
    afterError: completed.filter(hasError).length,
    p50,
    p95,
    slowOverMs,
    slow: rows.filter((row) => isSlow(row, { slowOverMs })).length,
  };
}

const numbersOf = (name: string): string[] => name.match(/\d+/g) ?? [];

/** `index-shard` of `index-shard-1` and `index-shard-2`; `shard-…-upload` where the number stands inside. */
function nameOfAll(rows: readonly Row[]): string {
  const [first, ...others] = rows.map(({ name }) => name);
  const numbers = others.map(numbersOf);
  let place = -1;
  const shown = first!.replace(/\d+/g, (number) => {
    place++;
    return numbers.every((each) => each[place] === number) ? number : "\0";
  });
  return shown.replace(/[\s:._#/-]*\0$/, "").replaceAll("\0", "…") || first!;
}

/** "1 to 40", from the least to the greatest, whichever of them began first; null where their names do not count. */
export function spanOf(rows: readonly Row[]): string | null {
  const numbers = rows.map(({ name }) => numbersOf(name));
  const [first] = numbers;
  const differing = (first ?? []).flatMap((number, place) =>
    numbers.every((others) => others[place] === number) ? [] : [place],
  );
  if (differing.length !== 1) return null;
  const counting = numbers.map((each) => Number(each[differing[0]!]));
  return `${Math.min(...counting)} to ${Math.max(...counting)}`;
}
