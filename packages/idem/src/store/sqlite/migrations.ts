// The schema's history, in order. A file that was on main is never edited; a change is a new file, with its line here (`npm run check`
// says which).
import { type Migration, migrationsOf, type ReleasedFiles } from "../schema-history.ts";

const released: ReleasedFiles = {
  "0001_foundation": "b68d3d36043248ea",
  "0002_rerun_from": "3bda9b901319d043",
  "0003_claims_appended": "a9160755ca644e26",
  "0004_flow": "b2b8f6be7ca6e5f2",
  "0005_nodes": "6f8eb872555856eb",
  "0006_settings": "9f45bd336aadd8f0",
  "0007_alerts": "d69f36e559b60fcc",
  "0008_audit_actor": "181f4d164ad64a08",
  "0009_hour_counts": "129b3b3fdf9cc32c",
  "0010_step_inputs": "7404682b50b50981",
  "0011_after_failure": "4d98f89cd6197aa1",
  "0012_audit_filters": "26da2c3240faa161",
  "0013_parked_runs": "2208ded5c8626636",
  "0014_webhook_scope": "d631241a5d719cc4",
  "0015_code_of_runs": "502cadedd711c8be",
  "0016_end_counts": "1ecff9bfc040b8b4",
  "0017_metadata": "e1a056379dee3fa8",
  "0018_run_logs": "1c6177a967e33bd5",
  "0019_channels": "9c791a071e061eba",
  "0020_event_values": "c38a6d58cbcca17b",
  "0021_slots_beside": "2862544b9662d093",
  "0022_turns_beside": "57065fbc1e225adf",
  "0023_started_by_run": "327424f5492f48d1",
};

let loaded: readonly Migration[] | null = null;

/** The same list each time: what it makes is remembered by it. */
export function loadMigrations(): readonly Migration[] {
  loaded ??= migrationsOf("store/sqlite/migrations", released);
  return loaded;
}
