// idem backup: a sound copy of a living store.
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { syncPath } from "../../platform/private-files.ts";
import { checkFile, copyStore } from "../../store/sqlite/copy-store.ts";
import { type Command, storeOptions } from "../command.ts";
import { failed } from "../exit.ts";
import { showProgress } from "../progress.ts";
import { bytes } from "../times.ts";

export const backup: Command = {
  name: "backup",
  summary: "copy the store into a file while it is in use, and check the copy",
  whyNoServer: "it copies the file, which is beside its owner.",
  usage: "<file>",
  words: { min: 1, max: 1 },
  options: storeOptions,
  details: [
    "The copy is one moment of the store: everything committed before it, nothing after. It appears under its name once it",
    "is complete, checked and on the disk. Copying the file itself while it is in use would miss the write-ahead log.",
  ],
  examples: ["idem backup ./backups/shop-2026-05-08.db"],
  async run(context) {
    const path = context.storePath();
    const target = resolve(context.io.cwd, context.words[0]!);
    if (existsSync(target))
      throw failed(`${target} already exists. Choose another name; a backup is never written over.`);
    const folder = dirname(target);
    if (!existsSync(folder)) throw failed(`There is no folder ${folder}. Make it first.`);
    const partial = `${target}.partial`;
    rmSync(partial, { force: true });
    return context.read(async ({ connection }) => {
      const progress = showProgress(context.io, "copying pages");
      try {
        await copyStore(connection, partial, (done, total) => progress.update(done, total));
        const wrong = checkFile(partial);
        if (wrong.length > 0)
          throw failed(
            `The copy of ${path} is not sound: ${wrong.join("; ")}. The store itself may be broken: idem doctor.`,
          );
        syncPath(partial);
        renameSync(partial, target);
        syncPath(folder);
      } finally {
        progress.end();
        for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${partial}${ending}`, { force: true });
      }
      const size = statSync(target).size;
      if (context.isJson) context.json({ store: path, file: target, bytes: size, integrity: "ok" });
      else context.say(`${target}: ${bytes(size)}, integrity ok`);
      return 0;
    });
  },
};
