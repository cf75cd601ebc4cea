// The schema's history, in order. A file that was on main is never edited; a change is a new file, with its line here (`npm run check`
// says which).
import { type Migration, migrationsOf, type ReleasedFiles } from "../schema-history.ts";

const released: ReleasedFiles = {
  "0001_foundation": "3b1e917bdd73a500",
  "0002_settings": "bab491d840a0d97d",
  "0003_alerts": "b17f6c017e61db11",
  "0004_audit_actor": "0ba2fd040376f7c4",
  "0005_hour_counts": "01e10d9a6fd5393d",
  "0006_step_inputs": "a593d08957c968ab",
  "0007_after_failure": "4d98f89cd6197aa1",
  "0008_audit_filters": "f73b2a90e95a3e31",
  "0009_parked_runs": "23d2533fe87a626f",
  "0010_webhook_scope": "4485298c45c8291c",
  "0011_code_of_runs": "7d88f77b1c486927",
  "0012_end_counts": "96754181b2f4ef72",
  "0013_metadata": "a11d303fe5f0df26",
  "0014_run_logs": "92262f7fcf643404",
  "0015_channels": "f3f2d761f14242e8",
  "0016_event_values": "ec42d8bb1f25ab9f",
  "0017_slots_beside": "2862544b9662d093",
  "0018_turns_beside": "e49185177eef9267",
  "0019_wait_checks": "1bec0474d5680e84",
  "0020_heartbeats": "d5daebea7f2a91d0",
};

export const loadMigrations = (): Migration[] => migrationsOf("store/postgres/migrations", released);
