// The doubled things with what their runs did, for the note.
import type { Doubled } from "../radar/doubled-runs.ts";
import type { NotedFunction, NotedRun } from "../radar/monday-note.ts";
import type { Reading } from "./command.ts";

// A note of this length is not read any more; the JSON of the doctor has all.
const entitiesMax = 2_000;

export async function notedFunctions(reading: Reading, doubled: readonly Doubled[]): Promise<NotedFunction[]> {
  const functions: NotedFunction[] = [];
  for (const found of doubled) {
    const listed = found.doubled.slice(0, entitiesMax);
    const entities = [];
    for (const entity of listed) {
      const runs: NotedRun[] = [];
      for (const id of entity.runIds) {
        const run = await notedRun(reading, id);
        if (run !== null) runs.push(run);
      }
      entities.push({ ...entity, runs });
    }
    functions.push({ ...found, doubled: entities, left: found.doubled.length - listed.length });
  }
  return functions;
}

async function notedRun({ idem }: Reading, id: string): Promise<NotedRun | null> {
  const run = await idem.runs.get(id);
  if (run === null) return null;
  return {
    id,
    state: run.state,
    startedAt: run.startedAt ?? run.createdAt,
    steps: run.timeline
      .filter(({ kind }) => kind !== "function")
      .map(({ name, state, output, error }) => ({
        name,
        state,
        output: error === null ? (JSON.stringify(output) ?? "null") : `${error.name}: ${error.message}`,
      })),
  };
}
