// Every command, in the order of help: what one starts, sends, looks at, changes, and takes care of.
import type { Command } from "./command.ts";
import { audit } from "./commands/audit.ts";
import { backup } from "./commands/backup.ts";
import { cancel } from "./commands/cancel.ts";
import { completion } from "./commands/completion.ts";
import { crons } from "./commands/crons.ts";
import { dev } from "./commands/dev.ts";
import { doctor } from "./commands/doctor.ts";
import { drop } from "./commands/drop.ts";
import { effects } from "./commands/effects.ts";
import { events } from "./commands/events.ts";
import { explain } from "./commands/explain.ts";
import { functions } from "./commands/functions.ts";
import { keys } from "./commands/keys.ts";
import { migrate } from "./commands/migrate.ts";
import { migrateStore } from "./commands/migrate-store.ts";
import { nodes } from "./commands/nodes.ts";
import { pause } from "./commands/pause.ts";
import { prune } from "./commands/prune.ts";
import { radar } from "./commands/radar.ts";
import { release } from "./commands/release.ts";
import { rerun } from "./commands/rerun.ts";
import { restore } from "./commands/restore.ts";
import { resume } from "./commands/resume.ts";
import { run } from "./commands/run.ts";
import { runs } from "./commands/runs.ts";
import { secret } from "./commands/secret.ts";
import { send } from "./commands/send.ts";
import { sql } from "./commands/sql.ts";
import { start } from "./commands/start.ts";
import { tail } from "./commands/tail.ts";
import { verify } from "./commands/verify.ts";
import { webhooks } from "./commands/webhooks.ts";

export const commands: readonly Command[] = [
  dev,
  start,
  secret,
  verify,
  send,
  runs,
  run,
  events,
  explain,
  rerun,
  cancel,
  pause,
  resume,
  release,
  drop,
  keys,
  effects,
  functions,
  crons,
  webhooks,
  nodes,
  audit,
  tail,
  radar,
  doctor,
  backup,
  restore,
  prune,
  migrate,
  migrateStore,
  sql,
  // Told what there is when it runs: it stands in the list itself.
  completion(() => commands),
];
