import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { FunctionCharts } from "../../../../idem/src/server/api/function-charts.ts";
import { getJson } from "../../api/client.ts";
import { functionPath } from "../functions/function-data.ts";

export type { FunctionCharts };

export const chartRanges = ["1h", "24h", "7d", "30d"] as const;
export type ChartRange = (typeof chartRanges)[number];

// What was asked for with `range` is counted from rows; once in a while is enough.
const askAgainMs = 15_000;

export const useCharts = (fn: string, range: ChartRange) =>
  useQuery({
    queryKey: ["function-charts", fn, range],
    queryFn: ({ signal }) => getJson<FunctionCharts>(`${functionPath(fn)}/charts`, { range }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: askAgainMs,
  });
