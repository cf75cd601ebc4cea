// The databases of a program, prepared for the worlds of `idem verify`: copies and scratch databases. The project's own are only read.
import fs, { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { ConfiguredDatabase, VerifyConfiguration } from "../verify/verify-configuration.ts";
import { copySqlite } from "../verify/worker/sql/copy-sqlite.ts";
import type { DatabaseScript } from "../verify/worker/sql/database-script.ts";
import { cannot } from "./load-program.ts";
import { printable } from "./printable.ts";
import { projectPath } from "./verify-inputs.ts";
import { preparePostgres } from "./verify-postgres.ts";

/** Makes the databases of a configuration ready. */
export type PrepareDatabases = (configuration: VerifyConfiguration) => Promise<readonly DatabaseScript[]>;

export interface DatabaseOptions {
  readonly cwd: string;
  /** `--database`: the scratch server. */
  readonly server?: string | undefined;
  /** It may be another machine's. */
  readonly mayBeRemote?: boolean;
}

/** Everything that `body` had prepared is gone after it. */
export async function withDatabases<T>(
  options: DatabaseOptions,
  body: (prepare: PrepareDatabases) => Promise<T>,
): Promise<T> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    return await body(({ databases }) => prepareDatabases(options, databases, undo));
  } finally {
    for (const each of undo.reverse()) await each();
  }
}

// In memory where there is some: a commit waits for the disk otherwise, and nobody needs what it wrote.
const home = (): string => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

async function prepareDatabases(
  options: DatabaseOptions,
  configured: readonly ConfiguredDatabase[],
  undo: (() => void | Promise<void>)[],
): Promise<readonly DatabaseScript[]> {
  if (configured.length === 0) return [];
  const scratch = mkdtempSync(join(home(), `idem-verify-${process.pid}-`));
  undo.push(() => rmSync(scratch, { recursive: true, force: true }));
  const files = configured.flatMap((database, i) => {
    if (!("file" in database)) return [];
    const folder = join(scratch, String(i));
    mkdirSync(folder);
    return [prepareFile(options.cwd, database.file, folder)];
  });
  const servers = configured.flatMap((database) => ("env" in database ? [database] : []));
  if (servers.length === 0) return files;
  return [...files, ...(await preparePostgres({ ...options, scratch }, servers, undo))];
}

function prepareFile(cwd: string, named: string, folder: string): DatabaseScript {
  const file = resolve(cwd, named);
  const name = projectPath(cwd, file);
  if (existsSync(file) && !isSqlite(file))
    throw cannot(`databases: ${printable(name)} is no file of SQLite, so no copy of it can be given to the worlds.`);
  if (!existsSync(dirname(file))) throw cannot(`databases: the folder of ${printable(name)} is not there.`);
  const image = join(folder, basename(file));
  copySqlite(fs, file, image);
  return { kind: "sqlite", file, name, image };
}

/** An empty one is a database without tables. */
function isSqlite(file: string): boolean {
  const head = Buffer.alloc(16);
  const fd = openSync(file, "r");
  const count = readSync(fd, head, 0, 16, 0);
  closeSync(fd);
  return count === 0 || head.toString("latin1") === "SQLite format 3\0";
}
