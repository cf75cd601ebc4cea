// The overview's questions to the server.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client.ts";
import { useFresh } from "../functions/function-data.ts";

export type Overview = Answer<"GET /api/overview">;
export type OverviewFunction = Overview["functions"][number];
export const overviewRanges = ["1h", "24h", "7d"] as const;
export type OverviewRange = (typeof overviewRanges)[number];

// Lines move without news.
const askAgainMs = 15_000;

export function useOverview(range: OverviewRange) {
  useFresh("overview");
  return useQuery({
    queryKey: ["overview", range],
    queryFn: ({ signal }) => ask("GET /api/overview", { query: { range }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: askAgainMs,
  });
}

/** For links: exactly the runs that were counted. */
export const endedIn = (since: number, until?: number) => ({
  group: "none" as const,
  since: new Date(since).toISOString(),
  ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
});
