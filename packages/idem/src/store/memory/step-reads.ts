// Facts about steps beyond a memo, for people.
import { runLogBytesMax } from "../../model/log-line.ts";
import { previewChars, type StoreReads } from "../reads.ts";
import { givenOf, makingKinds, type StepGiven } from "../steps.ts";
import type { Database, Tables } from "./tables.ts";

type StepReads = Pick<StoreReads, "stepInputs" | "stepInput" | "lastOutcomes" | "runLog">;

export function memoryStepReads(database: Database): StepReads {
  return {
    async stepInputs(env, runId, bytesMax) {
      return givenOf(givenIn(database.env(env), runId)).map((given) => ({
        ...given,
        input: given.inputBytes !== null && given.inputBytes <= bytesMax ? given.input : null,
      }));
    },

    async stepInput(env, runId, stepId) {
      return givenOf(givenIn(database.env(env), runId)).find((given) => given.stepId === stepId)?.input ?? null;
    },

    async runLog(env, runId) {
      const tables = database.env(env);
      if (!tables.runs.has(runId)) return null;
      const log = tables.logs.get(runId) ?? [];
      return { parts: log.map(({ text }) => text), isFull: (tables.logBytes.get(runId) ?? 0) > runLogBytesMax };
    },

    async lastOutcomes(env, runIds) {
      const tables = database.env(env);
      return runIds.flatMap((runId) => {
        const last = tables.stepsOf(runId).findLast(({ kind, outcome: { kind: left, json } }) => {
          return left === "value" && json !== "null" && makingKinds.includes(kind);
        });
        if (last === undefined) return [];
        return { runId, step: last.name, preview: last.outcome.json.slice(0, previewChars) };
      });
    },
  };
}

/** From the least to the most telling. */
function givenIn(tables: Tables, runId: string): StepGiven[] {
  const attempts = (tables.attempts.get(runId) ?? []).map((row) => ({ ...row, childRunId: null }));
  return [...attempts, ...tables.waitsOf(runId), ...tables.stepsOf(runId)]
    .filter(({ input, childRunId }) => input !== null || childRunId !== null)
    .map(({ stepId, input, childRunId }) => ({
      stepId,
      input,
      inputBytes: input === null ? null : Buffer.byteLength(input),
      childRunId,
    }));
}
