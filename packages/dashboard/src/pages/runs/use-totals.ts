// The numbers over the list, for its time and function; from hourly counts, so they cost the same for a million runs.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import type { Query } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { fetchGroups, fetchTotals, type TotalsAnswer } from "./groups-data.ts";

type Range = Query<"GET /api/totals">;

export const totalsKey = (range: Range) => ["totals", range];

/** `isGiven`: they come with the groups, of the same reading, and are not asked for here. */
export function useTotals(range: Range, isGiven = false) {
  const totals = useQuery<TotalsAnswer>({
    queryKey: totalsKey(range),
    queryFn: ({ signal }) => fetchTotals(range, signal),
    placeholderData: keepPreviousData,
    enabled: !isGiven,
  });
  const { refetch } = totals;
  useFollow(useCallback(async () => !isGiven && (await refetch()), [refetch, isGiven]));
  return totals;
}

export interface Troubles {
  readonly failed: number;
  /** Runs that no process can take, and the function of the newest. */
  readonly withoutWorker: number;
  readonly withoutWorkerFn: string | null;
}

const waitingShown = 100;

/** Other troubles, when nothing ran twice; not asked for otherwise. */
export function useTroubles(range: Range, isWanted: boolean): Troubles | undefined {
  const { data, refetch } = useQuery({
    queryKey: ["troubles", range],
    queryFn: async ({ signal }): Promise<Troubles> => {
      const [byFunction, waiting] = await Promise.all([
        fetchGroups({ ...range, group: "function" }, signal),
        fetchGroups({ ...range, show: "no-worker", limit: waitingShown }, signal),
      ]);
      return {
        failed: byFunction.functions.reduce((sum, { failed }) => sum + failed, 0),
        withoutWorker: waiting.groups.length,
        withoutWorkerFn: waiting.groups[0]?.function ?? null,
      };
    },
    enabled: isWanted,
    placeholderData: keepPreviousData,
  });
  useFollow(useCallback(async () => isWanted && (await refetch()), [isWanted, refetch]));
  return data;
}
