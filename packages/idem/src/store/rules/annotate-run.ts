// Puts an app's metadata beside its run. Repeat: the same changes nothing.
import { type AnnotateAnswer, type AnnotateInput, changeMetadata, type MetadataRow } from "../metadata.ts";
import type { RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

const metadataOfRunSql = `select step_id as "stepId", kind, value from metadata where env = ? and run_id = ?`;
const writeMetadataSql = `
  insert into metadata (env, run_id, step_id, kind, value, changed_at) values (?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id, kind) do update set value = excluded.value, changed_at = excluded.changed_at`;

export function* annotateRun(tx: RuleTransaction, { env, runId, changes }: AnnotateInput): Rule<AnnotateAnswer> {
  // Rows that are not there yet cannot be locked; their run can.
  if ((yield* tx.one(tx.sql.runs.lock, env, runId)) === undefined) return { kind: "unknown" };
  const changed = changeMetadata(yield* tx.all<MetadataRow>(metadataOfRunSql, env, runId), changes);
  if ("kind" in changed) return changed;
  for (const { stepId, kind, value } of changed.rows) {
    tx.write(writeMetadataSql, env, runId, stepId, kind, value, tx.at.now);
  }
  return { kind: "annotated" };
}
