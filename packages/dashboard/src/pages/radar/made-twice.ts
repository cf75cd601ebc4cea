// The things two runs of a pair made: the step that gave another answer in each, and its name for the thing.
import { useQuery } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client.ts";
import type { Pair } from "./radar-data.ts";

type RunFacts = Answer<"GET /api/runs/:run">["run"];
type Step = Pick<RunFacts["timeline"][number], "stepId" | "name" | "output">;

export interface Made {
  readonly step: string;
  readonly first: string;
  readonly later: string;
}

export interface MadePair {
  readonly pair: Pair;
  readonly first: RunFacts | null;
  readonly later: RunFacts | null;
  readonly made: Made | null;
}

const readRun = async (id: string | null, signal: AbortSignal): Promise<RunFacts | null> => {
  if (id === null) return null;
  try {
    return (await ask("GET /api/runs/:run", { params: { run: id }, signal })).run;
  } catch {
    // Reaped, or too slow for a detail: the row stands without it.
    signal.throwIfAborted();
    return null;
  }
};

/** For a few pairs: each is two runs with all their steps. */
export const useMadePairs = (pairs: readonly Pair[], isOfRuns: boolean) =>
  useQuery({
    queryKey: ["radar", "made", pairs.map(({ laterId }) => laterId)],
    queryFn: ({ signal }) =>
      Promise.all(
        pairs.map(async (pair): Promise<MadePair> => {
          const [first, later] = await Promise.all([readRun(pair.firstId, signal), readRun(pair.laterId, signal)]);
          return {
            pair,
            first,
            later,
            made: first === null || later === null ? null : madeBy(first.timeline, later.timeline),
          };
        }),
      ),
    enabled: isOfRuns && pairs.length > 0,
    refetchInterval: 10_000,
  });

/** The first step that gave each run something of its own. */
export function madeBy(first: readonly Step[], later: readonly Step[]): Made | null {
  const byId = new Map(later.map((step) => [step.stepId, step]));
  for (const step of first) {
    const other = byId.get(step.stepId);
    if (step.output === null || other?.output == null || step.output.isOmitted || other.output.isOmitted) continue;
    const [one, two] = [nameOf(step.output.value), nameOf(other.output.value)];
    if (one !== null && two !== null && one !== two) return { step: step.name, first: one, later: two };
  }
  return null;
}

const nameFields = ["id", "receipt", "number", "reference", "url", "key"];
const nameChars = 60;

/** A made thing's name: its id, or the text itself. */
function nameOf(value: unknown): string | null {
  if (typeof value === "string" && value !== "") return value.slice(0, nameChars);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const named = [...nameFields, ...Object.keys(fields).filter((name) => /(id|Id|_id|number|Number)$/.test(name))];
  for (const name of named) {
    const text = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if ((typeof text === "string" && text !== "") || typeof text === "number") return String(text).slice(0, nameChars);
  }
  return null;
}

export interface LaterStates {
  readonly ended: number;
  /** Could still be cancelled. */
  readonly open: number;
}

// The API's limit for one request.
const groupsMax = 100;

/** Later runs by whether they can still be stopped. */
export const useLaterStates = (pairs: readonly Pair[], isOfRuns: boolean) => {
  const ids = pairs.slice(0, groupsMax).map(({ laterId }) => laterId);
  return useQuery({
    queryKey: ["radar", "states", ids],
    queryFn: async ({ signal }): Promise<LaterStates> => {
      const { groups } = await ask("GET /api/groups", { query: { ids: ids.join(",") }, signal });
      const states = new Map(groups.flatMap(({ runs }) => runs.map(({ id, state }) => [id, state])));
      const known = ids.flatMap((id) => states.get(id) ?? []);
      const ended = known.filter((state) => /^(completed|failed|cancelled)$/.test(state)).length;
      return { ended, open: known.length - ended };
    },
    enabled: isOfRuns && ids.length > 0,
    refetchInterval: 10_000,
    retry: false,
  });
};

/** What was sent to whom by the newest pair, as far as its steps said. */
export const useDestinations = (runId: string | null) =>
  useQuery({
    queryKey: ["radar", "effects", runId],
    queryFn: async ({ signal }) => {
      const { effects } = await ask("GET /api/runs/:run/effects", { params: { run: runId! }, signal });
      return [...new Set(effects.map(({ destination }) => destination))];
    },
    enabled: runId !== null,
    staleTime: 60_000,
    retry: false,
  });
