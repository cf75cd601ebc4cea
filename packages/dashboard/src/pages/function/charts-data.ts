import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client.ts";

export type FunctionCharts = Answer<"GET /api/functions/:function/charts">;

export const chartRanges = ["1h", "24h", "7d", "30d"] as const;
export type ChartRange = (typeof chartRanges)[number];

// Charts of a `range` are counted from rows; once in a while is enough.
const askAgainMs = 15_000;

export const useCharts = (fn: string, range: ChartRange) =>
  useQuery({
    queryKey: ["function-charts", fn, range],
    queryFn: ({ signal }) =>
      ask("GET /api/functions/:function/charts", { params: { function: fn }, query: { range }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: askAgainMs,
  });
