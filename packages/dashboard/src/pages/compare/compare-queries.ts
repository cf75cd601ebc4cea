// Two runs as they are now. A comparison stands still while it is read: that a run moved on is said, not shown.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { ask, getText } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { isOpen, type RunAnswer } from "../run/run-data.ts";
import { inputPath, outputPath, stepOutputPath } from "../run/run-queries.ts";
import type { Side } from "./compared.ts";

// Larger ones are a download, not a table.
const textBytesMax = 1024 * 1024;
// Two runs of this many steps are 80 small questions; beyond it the answer's own values serve.
const stepsAsked = 40;

const still = { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: false } as const;

/** Everything of one side, or null while it is on its way. */
export function useSide(runId: string) {
  const {
    data: answer,
    error,
    refetch,
    dataUpdatedAt,
  } = useQuery({
    queryKey: ["compare", runId],
    queryFn: ({ signal }) => ask("GET /api/runs/:run", { params: { run: runId }, signal }),
    ...still,
  });
  const texts = useQueries({
    queries: textsOf(answer).map(({ path, bytes }) => ({
      queryKey: ["compare", runId, path, dataUpdatedAt],
      queryFn: ({ signal }: { signal: AbortSignal }) => (bytes > textBytesMax ? null : getText(path, signal)),
      ...still,
    })),
  });
  const failed = error ?? texts.find((each) => each.error !== null)?.error ?? null;
  const side =
    answer === undefined || texts.some(({ data }) => data === undefined)
      ? null
      : sideOf(
          answer,
          texts.map(({ data }) => data ?? null),
        );
  return { side, error: failed, refetch };
}

function textsOf(answer: RunAnswer | undefined): { readonly path: string; readonly bytes: number }[] {
  if (answer === undefined) return [];
  const { run, event } = answer;
  return [
    { path: inputPath(run.id), bytes: event.dataBytes },
    { path: outputPath(run.id), bytes: run.output?.bytes ?? 0 },
    ...stepsOf(answer).map(({ stepId, output }) => ({ path: stepOutputPath(run.id, stepId), bytes: output!.bytes })),
  ];
}

const stepsOf = ({ run }: RunAnswer) =>
  run.timeline.filter(({ output, stepId }) => output !== null && stepId !== "").slice(0, stepsAsked);

function sideOf(answer: RunAnswer, texts: readonly (string | null)[]): Side {
  const [event = null, output = null, ...steps] = texts;
  const known = new Map<string, string | null>();
  for (const { stepId, output: shown } of answer.run.timeline) {
    if (shown !== null) known.set(stepId, shown.isOmitted ? null : JSON.stringify(shown.value));
  }
  for (const [i, { stepId }] of stepsOf(answer).entries()) known.set(stepId, steps[i] ?? null);
  return { answer, event, output, steps: known };
}

// A look every so often is enough to say that something moved.
const lookMs = 3_000;

/** Those of the two that moved on since they were read. */
export function useMovedOn(sides: readonly (Side | null)[]): readonly number[] {
  const [moved, setMoved] = useState<readonly number[]>([]);
  const seen = useRef(sides);
  seen.current = sides;
  useFollow(
    useCallback(async () => {
      const looks = seen.current.map(async (side) => {
        if (side === null || !isOpen(side.answer.run)) return false;
        const { run } = await ask("GET /api/runs/:run", { params: { run: side.answer.run.id } });
        const was = side.answer.run;
        return run.state !== was.state || run.timeline.length !== was.timeline.length;
      });
      const found = await Promise.all(looks);
      setMoved(found.flatMap((each, i) => (each ? [i + 1] : [])));
    }, []),
    lookMs,
  );
  return moved;
}
