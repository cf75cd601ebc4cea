// Every command, in the order of help: what one starts, sends, looks at, changes, and takes care of. Each is loaded when it is asked for:
// most of what one needs the others do not.
import type { Command } from "./command.ts";

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import("./commands/dev.ts")).dev,
  start: async () => (await import("./commands/start.ts")).start,
  secret: async () => (await import("./commands/secret.ts")).secret,
  init: async () => (await import("./commands/init.ts")).init,
  verify: async () => (await import("./commands/verify.ts")).verify,
  "check-deploy": async () => (await import("./commands/check-deploy.ts")).checkDeployCommand,
  send: async () => (await import("./commands/send.ts")).send,
  runs: async () => (await import("./commands/runs.ts")).runs,
  run: async () => (await import("./commands/run.ts")).run,
  events: async () => (await import("./commands/events.ts")).events,
  explain: async () => (await import("./commands/explain.ts")).explain,
  rerun: async () => (await import("./commands/rerun.ts")).rerun,
  cancel: async () => (await import("./commands/cancel.ts")).cancel,
  pause: async () => (await import("./commands/pause.ts")).pause,
  resume: async () => (await import("./commands/resume.ts")).resume,
  limit: async () => (await import("./commands/limit.ts")).limit,
  release: async () => (await import("./commands/release.ts")).release,
  drop: async () => (await import("./commands/drop.ts")).drop,
  keys: async () => (await import("./commands/keys.ts")).keys,
  effects: async () => (await import("./commands/effects.ts")).effects,
  functions: async () => (await import("./commands/functions.ts")).functions,
  crons: async () => (await import("./commands/crons.ts")).crons,
  webhooks: async () => (await import("./commands/webhooks.ts")).webhooks,
  nodes: async () => (await import("./commands/nodes.ts")).nodes,
  audit: async () => (await import("./commands/audit.ts")).audit,
  tail: async () => (await import("./commands/tail.ts")).tail,
  radar: async () => (await import("./commands/radar.ts")).radar,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
  backup: async () => (await import("./commands/backup.ts")).backup,
  restore: async () => (await import("./commands/restore.ts")).restore,
  prune: async () => (await import("./commands/prune.ts")).prune,
  migrate: async () => (await import("./commands/migrate.ts")).migrate,
  "migrate-store": async () => (await import("./commands/migrate-store.ts")).migrateStore,
  upgrade: async () => (await import("./commands/upgrade.ts")).upgrade,
  sql: async () => (await import("./commands/sql.ts")).sql,
  mcp: async () => (await import("./commands/mcp.ts")).mcp,
  docs: async () => (await import("./commands/docs.ts")).docs,
  // Given the list when it runs: it stands in the list itself.
  completion: async () => (await import("./commands/completion.ts")).completion(allCommands),
};

export const commandNames: readonly string[] = Object.keys(loaders);

export const allCommands = (): Promise<readonly Command[]> => Promise.all(Object.values(loaders).map((load) => load()));

/** Null where there is none of this name. */
export const findCommand = async (name: string): Promise<Command | null> =>
  Object.hasOwn(loaders, name) ? loaders[name]!() : null;
