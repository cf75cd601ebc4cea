// One run as the page asks for it: its timeline, what it did outside, and the runs of its key. An open run is asked again when the
// stream says that something changed.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { ApiError, ask, type Body, downloadOf, pathOf } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { isOpen, type RunAnswer } from "./run-data.ts";

export const outputPath = (run: string): string => pathOf("/api/runs/:run/output", { run });
export const inputPath = (run: string): string => pathOf("/api/runs/:run/input", { run });
export const stepOutputPath = (run: string, step: string): string =>
  pathOf("/api/runs/:run/steps/:step/output", { run, step });
export const stepInputPath = (run: string, step: string): string =>
  pathOf("/api/runs/:run/steps/:step/input", { run, step });

export const historyOf = (run: string): string => downloadOf("/api/runs/:run/history", { run }, {});

/** The server's refusal, and what to do about it. */
export const problemWords = (error: unknown): string =>
  error instanceof ApiError ? [error.detail, error.next].filter((each) => each !== null).join(". ") : String(error);

/** `isWanted` false: asked by a part that needs it only sometimes. */
export const useRun = (runId: string, isWanted = true) =>
  useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => ask("GET /api/runs/:run", { params: { run: runId }, signal }),
    enabled: isWanted,
  });

export const useRunGroup = (runId: string) =>
  useQuery({
    queryKey: ["run", runId, "group"],
    queryFn: async ({ signal }) => (await ask("GET /api/runs/:run/group", { params: { run: runId }, signal })).group,
  });

/** Only a run with steps can have done something outside. */
export const useRunEffects = (runId: string, hasSteps: boolean) =>
  useQuery({
    queryKey: ["run", runId, "effects"],
    queryFn: ({ signal }) => ask("GET /api/runs/:run/effects", { params: { run: runId }, signal }),
    enabled: hasSteps,
  });

export function useFreshRun(runId: string, answer: RunAnswer | undefined): void {
  const queries = useQueryClient();
  const open = answer === undefined || isOpen(answer.run);
  useFollow(useCallback(async () => open && (await forgetRun(queries, runId)), [queries, runId, open]));
}

export const forgetRun = (queries: QueryClient, runId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ["run", runId] });

export const rerun = (run: string, body: Body<"POST /api/runs/:run/rerun"> = {}) =>
  ask("POST /api/runs/:run/rerun", { params: { run }, body });

export const release = (run: string, reason: string) =>
  ask("POST /api/runs/:run/release", { params: { run }, body: reason === "" ? {} : { reason } });

export const cancel = (run: string, reason: string) =>
  ask("POST /api/runs/:run/cancel", { params: { run }, body: reason === "" ? {} : { reason } });
