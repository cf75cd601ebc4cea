// Functions as the pages ask for them, and how they are set up in words.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Answer, ask } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { lengthWords } from "../../parts/time-words.ts";

export type FunctionInFigures = Answer<"GET /api/functions">["functions"][number];

// The stream speaks up to twice a second; figures of a day need not.
const askAgainMs = 3_000;

/** Asks again for what begins with this key when the stream says that something happened. */
export function useFresh(key: string): void {
  const queries = useQueryClient();
  useFollow(
    useCallback(() => queries.invalidateQueries({ queryKey: [key] }), [queries, key]),
    askAgainMs,
  );
}

export const useFunctions = () =>
  useQuery({
    queryKey: ["function-figures"],
    queryFn: async ({ signal }) => (await ask("GET /api/functions", { signal })).functions,
  });

export const useFunction = (fn: string) =>
  useQuery({
    queryKey: ["function-figures", fn],
    queryFn: async ({ signal }) =>
      (await ask("GET /api/functions/:function", { params: { function: fn }, signal })).function,
  });

export const forgetFunctions = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ["function-figures"] });

/** "2 at work, 510 in line" */
export function nowWords({ open: { running, queued, waiting, parked } }: Pick<FunctionInFigures, "open">): string {
  const parts = [
    `${running} at work`,
    queued > 0 || running > 0 ? `${queued} in line` : "",
    waiting > 0 ? `${waiting} waiting` : "",
    parked > 0 ? `${parked} parked` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** "for 24 h", "until it finishes" */
export function windowWords(key: NonNullable<FunctionInFigures["key"]>): string {
  // Longer than anybody lives: kept for good.
  const isForever = key.windowMs > 100 * 365 * 24 * 3_600_000;
  if (isForever) return "kept forever";
  if (key.untilFinished)
    return key.windowMs === 0 ? "until it finishes" : `${lengthWords(key.windowMs)}, and until it finishes`;
  return lengthWords(key.windowMs);
}

export const triggerWords = (trigger: FunctionInFigures["triggers"][number]): string =>
  "cron" in trigger
    ? `schedule ${trigger.cron}`
    : `event ${trigger.event}${trigger.if === undefined ? "" : ` where ${trigger.if}`}`;
