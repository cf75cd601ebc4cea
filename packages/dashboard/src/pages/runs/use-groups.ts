// The list of groups, held still while a person reads, and beside it those that may not wait: the doubled ones.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { isRunOrder } from "../../../../idem/src/server/api/run-orders.ts";
import { useFollow } from "../../api/follow.ts";
import { type KeysetList, useKeysetList } from "../../parts/keyset-list.ts";
import { useChangedRows } from "./changed-rows.ts";
import {
  fetchGroups,
  type GroupItem,
  type Matching,
  type Ordered,
  type Pinned,
  pageRows,
  type TotalsAnswer,
} from "./groups-data.ts";
import type { RunsView } from "./runs-view.ts";
import { totalsKey } from "./use-totals.ts";

const idOf = ({ id }: GroupItem): string => id;

export interface Groups {
  readonly list: KeysetList<GroupItem>;
  /** Null where nothing is pinned: another order, another grouping, a narrower filter. */
  readonly pinned: Pinned | null;
  /** The number of runs of the state; null where only a look at all of them would say. */
  readonly matching: Matching | null;
  /** In an order by length or start: how many of the newest were put in order, where not all were. */
  readonly ordered: Ordered | null;
  /** The numbers come with the rows: nothing narrows these that does not narrow those. */
  readonly hasTotals: boolean;
  /** The expression the rows are narrowed by. */
  readonly cel: string | undefined;
  /** Why the expression cannot be read; the rows are those of the filter before. */
  readonly mistake: string | null;
}

export function useGroups(view: RunsView): Groups {
  const { search, group, order, state, times, range } = view;
  const { fn, key, event, q } = search;
  const show = search.show === "failed" ? undefined : search.show;
  const { cel, mistake } = useReadableCel(search.cel);
  const queries = useQueryClient();
  const queryKey = useMemo(
    () => ["groups", group, order, fn, state, times, key, event, q, cel, show],
    [group, order, fn, state, times, key, event, q, cel, show],
  );
  const pinnedKey = [...queryKey, "pinned"];
  const matchingKey = [...queryKey, "matching"];
  const orderedKey = [...queryKey, "ordered"];
  const hasTotals = group === "key" && !view.isNarrowed;
  const list = useKeysetList({
    key: queryKey,
    fetchPage: async (before, signal) => {
      const narrowed = { fn, state, ...times, key, event, q, cel, show };
      const asked = hasTotals && before === undefined ? { totals: "true" as const } : {};
      const params = { group, order, ...narrowed, ...asked, before, limit: pageRows };
      const { groups, pinned, matching, ordered, totals, next, lookedBackTo } = await fetchGroups(params, signal);
      // They come with the first page, and with each look for newer ones: nothing else waits less.
      if (before === undefined) {
        queries.setQueryData<Pinned | null>(pinnedKey, pinned);
        queries.setQueryData<Matching | null>(matchingKey, matching);
        queries.setQueryData<Ordered | null>(orderedKey, ordered);
      }
      if (totals !== null) queries.setQueryData<TotalsAnswer>(totalsKey(range), totals);
      return { rows: groups, next, lookedBackTo };
    },
    idOf,
    isNewestFirst: !isRunOrder(order),
  });
  const { data: ordered = null } = useQuery<Ordered | null>({
    queryKey: orderedKey,
    queryFn: () => null,
    enabled: false,
  });
  const { data: pinned = null } = useQuery<Pinned | null>({ queryKey: pinnedKey, queryFn: () => null, enabled: false });
  const { data: matching = null } = useQuery<Matching | null>({
    queryKey: matchingKey,
    queryFn: () => null,
    enabled: false,
  });
  const rows = useChangedRows(list.rows, group === "none" ? "" : JSON.stringify(queryKey), list.rowsAbove);
  const shown = { ...list, rows: group === "none" ? list.rows : rows };
  return { list: shown, pinned, matching, ordered, hasTotals, cel, mistake };
}

interface Readable {
  readonly cel: string | undefined;
  readonly mistake: string | null;
}

/** The expression once the server can read it; until then the one before, so that the rows stay. */
function useReadableCel(wanted: string | undefined): Readable {
  const queries = useQueryClient();
  const check = useQuery({
    queryKey: ["expression", wanted],
    queryFn: async ({ signal }) => {
      // Of the last second: it is only to be read.
      await fetchGroups({ cel: wanted, since: "1s", limit: 1 }, signal);
      queries.setQueryData(["expression-read"], wanted);
      return true;
    },
    enabled: wanted !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: before } = useQuery<string>({ queryKey: ["expression-read"], queryFn: () => "", enabled: false });
  if (wanted === undefined) return { cel: undefined, mistake: null };
  if (check.isSuccess) return { cel: wanted, mistake: null };
  return { cel: before, mistake: check.error === null ? null : mistakeOf(check.error.message) };
}

/** Without where the server read it from: the field stands right above. */
const mistakeOf = (detail: string): string =>
  detail.replace(/^.*query parameter "cel",\s*/, "").replace(/^./, (first) => first.toUpperCase());

/** Doubled groups over the whole time, newest first; for the ruler and for runs listed one by one. Undefined until they are known. */
export function useLoudGroups({ range }: RunsView, isWanted: boolean): readonly GroupItem[] | undefined {
  const { data, refetch } = useQuery({
    queryKey: ["loud-groups", range],
    queryFn: ({ signal }) => fetchGroups({ ...range, show: "doubled", limit: pageRows }, signal),
    enabled: isWanted,
    placeholderData: (before) => before,
  });
  useFollow(useCallback(async () => isWanted && (await refetch()), [isWanted, refetch]));
  return data?.groups;
}

export const noGroups: readonly GroupItem[] = [];
