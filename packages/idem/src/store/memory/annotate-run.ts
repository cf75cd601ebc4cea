// Puts an app's metadata beside its run. Repeat: the same changes nothing.
import { type AnnotateAnswer, type AnnotateInput, changeMetadata } from "../metadata.ts";
import type { Moment, Tables } from "./tables.ts";

export function annotateRun(tables: Tables, at: Moment, { runId, changes }: AnnotateInput): AnnotateAnswer {
  if (!tables.runs.has(runId)) return { kind: "unknown" };
  const known = tables.metadata.get(runId) ?? [];
  const changed = changeMetadata(known, changes);
  if ("kind" in changed) return changed;
  const kept = known.filter(
    (row) => !changed.rows.some(({ stepId, kind }) => row.stepId === stepId && row.kind === kind),
  );
  if (changed.rows.length > 0) {
    tables.metadata.put(runId, [...kept, ...changed.rows.map((row) => ({ ...row, changedAt: at.now }))]);
  }
  return { kind: "annotated" };
}
