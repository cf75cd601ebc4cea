// The schema's history, in order. A released file is never edited; a change is a new file.
import { readPackageText } from "../../platform/package-files.ts";
import type { Migration } from "./migrate.ts";

const names = [
  "0001_foundation",
  "0002_rerun_from",
  "0003_claims_appended",
  "0004_flow",
  "0005_nodes",
  "0006_settings",
  "0007_alerts",
  "0008_audit_actor",
  "0009_hour_counts",
  "0010_step_inputs",
  "0011_after_failure",
  "0012_audit_filters",
] as const;

export const loadMigrations = (): Migration[] =>
  names.map((name) => ({
    version: Number(name.slice(0, 4)),
    name,
    sql: readPackageText(`store/sqlite/migrations/${name}.sql`),
  }));
