// One run as the page asks for it: its timeline, what it did outside, and the runs of its key. An open run is asked again when the
// stream says that something changed.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { getJson, sendJson } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import type { EffectItem, GroupItem, RunAnswer } from "./run-data.ts";
import { isOpen } from "./run-data.ts";

const path = (runId: string) => `api/runs/${encodeURIComponent(runId)}`;
export const outputPath = (runId: string): string => `${path(runId)}/output`;
export const stepOutputPath = (runId: string, stepId: string): string =>
  `${path(runId)}/steps/${encodeURIComponent(stepId)}/output`;

export const stepInputPath = (runId: string, stepId: string): string =>
  `${path(runId)}/steps/${encodeURIComponent(stepId)}/input`;

/** `isWanted` false: asked by a part that needs it only sometimes. */
export const useRun = (runId: string, isWanted = true) =>
  useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => getJson<RunAnswer>(path(runId), {}, signal),
    enabled: isWanted,
  });

export const useRunGroup = (runId: string) =>
  useQuery({
    queryKey: ["run", runId, "group"],
    queryFn: async ({ signal }) => (await getJson<{ group: GroupItem }>(`${path(runId)}/group`, {}, signal)).group,
  });

/** Only a run with steps can have done something outside. */
export const useRunEffects = (runId: string, hasSteps: boolean) =>
  useQuery({
    queryKey: ["run", runId, "effects"],
    queryFn: ({ signal }) => getJson<{ effects: readonly EffectItem[] }>(`${path(runId)}/effects`, {}, signal),
    enabled: hasSteps,
  });

export function useFreshRun(runId: string, answer: RunAnswer | undefined): void {
  const queries = useQueryClient();
  const open = answer === undefined || isOpen(answer.run);
  useFollow(useCallback(async () => open && (await forgetRun(queries, runId)), [queries, runId, open]));
}

export const forgetRun = (queries: QueryClient, runId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ["run", runId] });

export const rerun = (runId: string, from: { readonly fromStep?: string; readonly input?: readonly unknown[] } = {}) =>
  sendJson<{ runId: string }>("POST", `${path(runId)}/rerun`, from);

export const release = (runId: string, reason: string) =>
  sendJson<{ released: boolean; state: string }>("POST", `${path(runId)}/release`, reason === "" ? {} : { reason });

export const cancel = (runId: string, reason: string) =>
  sendJson<{ cancelled: boolean; state: string }>("POST", `${path(runId)}/cancel`, reason === "" ? {} : { reason });
