// Runs in another order than that of their ids: by how long they took, or by when they began.
import type { RunSummary } from "./reads.ts";

export interface RunSort {
  /** `took`: from its start to its end, or to `asOf` where it had not ended then. */
  readonly by: "took" | "started";
  readonly isDescending: boolean;
  /** An instant: the next page is asked for with the same, so that open runs stay where they stood. */
  readonly asOf: number;
  /** Only what comes behind this place. */
  readonly after?: SortPlace;
}

export interface SortPlace {
  readonly value: number;
  readonly id: string;
}

/** A run's place; null for one that has not begun. */
export function placeIn(
  { by, asOf }: Pick<RunSort, "by" | "asOf">,
  { id, startedAt, endedAt }: Pick<RunSummary, "id" | "startedAt" | "endedAt">,
): SortPlace | null {
  if (startedAt === null) return null;
  return { id, value: by === "started" ? startedAt : Math.min(endedAt ?? asOf, asOf) - startedAt };
}

/** Below zero where `a` comes first; of equal ones the newer does. */
function compare({ isDescending }: RunSort, a: SortPlace, b: SortPlace): number {
  if (a.value !== b.value) return isDescending ? b.value - a.value : a.value - b.value;
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

/** Those that have begun and come behind the place, in order. */
export function inSort(runs: readonly RunSummary[], sort: RunSort): RunSummary[] {
  return runs
    .flatMap((run) => {
      const place = placeIn(sort, run);
      const isBehind = place !== null && (sort.after === undefined || compare(sort, place, sort.after) > 0);
      return isBehind ? [{ run, place }] : [];
    })
    .sort((a, b) => compare(sort, a.place, b.place))
    .map(({ run }) => run);
}
