// idem restore: a backup takes the store's place. The file that was there is kept under another name.
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { copyPrivate, makePrivate, prepareFolder, syncPath } from "../../platform/private-files.ts";
import { checkFile, foldLog } from "../../store/sqlite/copy-store.ts";
import { SqliteCore } from "../../store/sqlite/core.ts";
import { counterPath, type FileRollback, readCounterFile, writeCounterFile } from "../../store/sqlite/counter-file.ts";
import { type FileFacts, readFileFacts } from "../../store/sqlite/health-reads.ts";
import { loadMigrations } from "../../store/sqlite/migrations.ts";
import { OwnerLock } from "../../store/sqlite/owner-lock.ts";
import { openReadOnlyStore } from "../../store/sqlite/read-only-store.ts";
import { type Command, type Context, storeOptions } from "../command.ts";
import { failed, unusable } from "../exit.ts";
import { commandName } from "../open-reading.ts";
import { iso } from "../times.ts";

export const restore: Command = {
  name: "restore",
  summary: "put a backup in the store's place",
  whyNoServer:
    "it puts a file in the place of the store, and no server may have it meanwhile: stop the server and run this there, with --store.",
  usage: "<backup> [--force]",
  words: { min: 1, max: 1 },
  options: {
    force: { help: "also when the store exists; what was there is kept beside it" },
    ...storeOptions,
  },
  details: [
    "Refused while a process owns the store. What was accepted after the backup is not in it: senders that repeat such events",
    "start runs again, which then meet the destination keys they had before. An alert in the restored store says from when to when;",
    "idem doctor names it until it is acknowledged.",
  ],
  examples: ["idem restore ./backups/shop-2026-05-08.db --store sqlite:./.idem/shop.db --force"],
  async run(context) {
    const target = context.storePath();
    const backup = resolve(context.io.cwd, context.words[0]!);
    if (!existsSync(backup)) throw failed(`There is no file ${backup}.`);
    if (target === backup) throw failed("The backup and the store are the same file.");
    const wrong = checkFile(backup);
    if (wrong.length > 0)
      throw failed(`${backup} is not a sound store: ${wrong.slice(0, 3).join("; ")}. Nothing was changed.`);
    const { clock } = factsOf(context, backup);
    if (existsSync(target) && !context.flags.has("force")) {
      throw failed(`${target} exists. Say --force to put the backup in its place; the old file is kept beside it.`);
    }
    prepareFolder(target);
    const { kept, rollback } = exchange(context, backup, target);
    const missing = rollback === null ? null : { from: rollback.from, to: rollback.to };
    if (context.isJson) context.json({ store: target, restoredFrom: backup, clock, kept, missing });
    else {
      context.say(`${target} is now the copy ${backup}`);
      if (clock !== null)
        context.say(`it ends at ${iso(clock)}, give or take a second; what was accepted later is not in it`);
      if (kept !== null) context.say(`the file that was there is ${kept}`);
      if (missing !== null)
        context.say(
          `an alert says that acknowledged writes from ${iso(missing.from)} to ${iso(missing.to)} are missing: acknowledge it with idem radar`,
        );
    }
    return 0;
  },
};

/** Also refuses what is not a store of this version. */
function factsOf({ io }: Context, path: string): FileFacts {
  const { connection, store } = openReadOnlyStore({ path, migrations: loadMigrations(), clock: io.platform });
  try {
    return readFileFacts(connection);
  } finally {
    void store.close();
  }
}

interface Exchanged {
  /** The name of the file that was there; null for none. */
  readonly kept: string | null;
  /** Acknowledged writes that the backup does not have; null where none are known of. */
  readonly rollback: FileRollback | null;
}

function exchange(context: Context, backup: string, target: string): Exchanged {
  const lock = OwnerLock.take(target);
  const fresh = `${target}.restoring`;
  const endings = ["", "-wal", "-shm", "-owner", "-owner-journal", "-counter"];
  try {
    for (const ending of endings) rmSync(`${fresh}${ending}`, { force: true });
    copyPrivate(backup, fresh);
    // A backup that was opened since has a log of its own; without it the copy would be older than the backup.
    if (existsSync(`${backup}-wal`)) copyPrivate(`${backup}-wal`, `${fresh}-wal`);
    if (!foldLog(fresh)) throw unusable(`The copy of ${backup} is not sound. Nothing was changed.`);
    const rollback = recordRollback(context, fresh, target);
    if (!foldLog(fresh) || checkFile(fresh).length > 0)
      throw unusable(`The copy of ${backup} is not sound. Nothing was changed.`);
    syncPath(fresh);
    const kept = existsSync(target) ? keepOld(context, target) : null;
    renameSync(fresh, target);
    // Behind the store: where only the store is there, its counter is the higher one, and nothing is found twice.
    if (existsSync(counterPath(fresh))) renameSync(counterPath(fresh), counterPath(target));
    syncPath(dirname(target));
    return { kept, rollback };
  } finally {
    for (const ending of endings) rmSync(`${fresh}${ending}`, { force: true });
    lock.release();
  }
}

/**
 * Opened as by any process, next to a counter that says how far the store was that it replaces, the copy is found to be older, and has the alert
 * (store/sqlite/counter-file.ts).
 */
function recordRollback(context: Context, fresh: string, target: string): FileRollback | null {
  const { storeId, clock } = factsOf(context, fresh);
  const filed = readCounterFile(target);
  const replaced = existsSync(target) ? factsIfReadable(context, target) : null;
  const known = [filed, replaced].flatMap((each) => (each?.storeId === storeId ? [each?.clock ?? 0] : []));
  // Where nothing is left of what it replaces, anything may have been acknowledged until now.
  const to = known.length === 0 ? context.now() : Math.max(...known);
  if (storeId !== null && to > (clock ?? 0)) writeCounterFile(fresh, { storeId, clock: to });
  const core = new SqliteCore({
    path: fresh,
    migrations: loadMigrations(),
    clock: context.io.platform,
    owner: commandName(),
    cause: "restored",
  });
  core.close();
  return core.rollback;
}

/** Of the file that is replaced, which may be the damaged one. */
function factsIfReadable(context: Context, path: string): FileFacts | null {
  try {
    return factsOf(context, path);
  } catch {
    return null;
  }
}

function keepOld(context: Context, target: string): string {
  const kept = `${target}.before-${iso(context.now()).replaceAll(/[:.]/g, "-")}`;
  // With the log inside the file one rename moves all of it; a broken file takes its log along, log first, so that no new
  // file ever meets an old log.
  if (!foldLog(target)) {
    for (const ending of ["-wal", "-shm"]) {
      if (existsSync(`${target}${ending}`)) renameSync(`${target}${ending}`, `${kept}${ending}`);
    }
  }
  for (const ending of ["", "-wal", "-shm"]) makePrivate(`${ending === "" ? target : kept}${ending}`);
  renameSync(target, kept);
  for (const ending of ["-wal", "-shm"]) rmSync(`${target}${ending}`, { force: true });
  return kept;
}
