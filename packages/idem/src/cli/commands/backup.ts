// idem backup: a sound copy of a living store.
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { preparePrivate, syncPath } from "../../platform/private-files.ts";
import type { Answer, Asked } from "../../server/api/api-table.ts";
import { checkFile, copyStore } from "../../store/sqlite/copy-store.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { failed } from "../exit.ts";
import { type Progress, showProgress } from "../progress.ts";
import type { ServerLine } from "../server-line.ts";
import { bytes } from "../times.ts";
import { olderServer, untilEnded } from "../until-ended.ts";

export const backup: Command = {
  name: "backup",
  summary: "copy the store into a file while it is in use, and check the copy",
  usage: "<file>",
  words: { min: 1, max: 1 },
  options: serverOptions,
  details: [
    "The copy is one moment of the store: everything committed before it, nothing after. It appears under its name once it",
    "is complete, checked and on the disk. Copying the file itself while it is in use would miss the write-ahead log.",
    "Of a server elsewhere (--server) it is made there, for an operator who may see every environment, and fetched in parts.",
  ],
  examples: ["idem backup ./backups/shop-2026-05-08.db"],
  async run(context) {
    const target = resolve(context.io.cwd, context.words[0]!);
    if (existsSync(target))
      throw failed(`${target} already exists. Choose another name; a backup is never written over.`);
    const folder = dirname(target);
    if (!existsSync(folder)) throw failed(`There is no folder ${folder}. Make it first.`);
    const partial = `${target}.partial`;
    rmSync(partial, { force: true });
    const progress = showProgress(context.io, "copying pages");
    const server = await context.server();
    try {
      const store =
        server === null ? await copyHere(context, partial, progress) : await fetchCopy(context, server, partial);
      const wrong = checkFile(partial);
      if (wrong.length > 0)
        throw failed(
          `The copy of ${store} is not sound: ${wrong.join("; ")}. The store itself may be broken: idem doctor.`,
        );
      syncPath(partial);
      renameSync(partial, target);
      syncPath(folder);
      const size = statSync(target).size;
      if (context.isJson) context.json({ store, file: target, bytes: size, integrity: "ok" });
      else context.say(`${target}: ${bytes(size)}, integrity ok`);
      return 0;
    } finally {
      progress.end();
      for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${partial}${ending}`, { force: true });
    }
  },
};

async function copyHere(context: Context, partial: string, progress: Progress): Promise<string> {
  const path = context.storePath();
  await context.read(({ connection }) => copyStore(connection, partial, (done, total) => progress.update(done, total)));
  return path;
}

async function fetchCopy(context: Context, line: ServerLine, partial: string): Promise<string> {
  const made = await untilEnded(context, line, "POST /api/backup", {}, "A copy of its store");
  const progress = showProgress(context.io, "bytes fetched");
  preparePrivate(partial);
  const file = openSync(partial, "w");
  const hash = createHash("sha256");
  try {
    for (let offset: number | null = 0; offset !== null; ) {
      const asked: Asked<"POST /api/backup/:backup"> & { readonly what: string } = {
        params: { backup: made.id },
        body: { offset },
        what: "A part of the copy",
      };
      const answer: Answer<"POST /api/backup/:backup"> | null = await line.ask("POST /api/backup/:backup", asked);
      if (answer === null) throw olderServer(line);
      const part = Buffer.from(answer.part, "base64");
      writeSync(file, part);
      hash.update(part);
      progress.update(offset + part.length, made.bytes);
      offset = answer.next;
    }
  } finally {
    closeSync(file);
    progress.end();
  }
  if (hash.digest("hex") !== made.sha256) throw failed("What arrived is not what the server has: try again.");
  return made.store;
}
