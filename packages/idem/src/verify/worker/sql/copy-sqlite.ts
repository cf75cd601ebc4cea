// A file of SQLite, whole: with what stands beside it and is not yet in it. The one it is made of is only read.
import type fs from "node:fs";

export function copySqlite(
  files: Pick<typeof fs, "existsSync" | "copyFileSync" | "rmSync" | "constants">,
  from: string,
  to: string,
): void {
  for (const part of ["", "-wal", "-journal"]) {
    if (files.existsSync(from + part)) files.copyFileSync(from + part, to + part, files.constants.COPYFILE_FICLONE);
    else files.rmSync(to + part, { force: true });
  }
  files.rmSync(`${to}-shm`, { force: true });
}
