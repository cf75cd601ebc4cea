// Whether a store's file is sound, and who has it.
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { openToOthers } from "../platform/private-files.ts";
import type { Finding } from "../radar/finding.ts";
import { checkIntegrity, readFileFacts } from "../store/sqlite/health-reads.ts";
import type { Context, FilePlace } from "./command.ts";
import type { ExaminedPlace } from "./examine-health.ts";
import { greetOwner, type Owner, silentFor, wakeSilent, whySilent } from "./greet-owner.ts";
import { bytes, iso, relative } from "./times.ts";

// Comparing every index with its table takes about a second for 250 MB.
const fullCheckBytesMax = 512 * 1024 * 1024;
// The owner checkpoints at 16 MiB; a log this long means that something keeps it from doing so.
const logBytesMax = 64 * 1024 * 1024;

export async function examineFile(
  context: Context,
  { path, connection, schemaVersion }: FilePlace,
): Promise<ExaminedPlace> {
  const findings: Finding[] = [];
  const size = statSync(path).size;
  const how = size <= fullCheckBytesMax ? "full" : "quick";
  const wrong = checkIntegrity(connection, how);
  const file = readFileFacts(connection);
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const owner = await greetOwner(context.io, path, context.env);
  if (owner.kind === "reached") owner.close();
  const lastOwner = file.owner ?? "nobody";
  const now = Math.max(context.io.platform.wallMs(), file.clock ?? 0);
  if (wrong.length > 0) {
    findings.push({
      kind: "integrity",
      level: "problem",
      title: "The file is damaged",
      details: wrong,
      next: "Stop the process, keep a copy of the file, and restore the last backup: idem restore <backup> --force",
      facts: { wrong },
    });
  }
  if (owner.kind === "silent") {
    findings.push({
      kind: "owner-silent",
      level: "problem",
      title: "The process that has the store does not answer",
      details: [`${lastOwner} was asked, and did not answer ${silentFor}. Nothing moves until it does.`, whySilent],
      next: wakeSilent,
      facts: { owner: lastOwner },
    });
  }
  if (logBytes > logBytesMax) {
    findings.push({
      kind: "log-too-long",
      level: "problem",
      title: `The write-ahead log has grown to ${bytes(logBytes)}`,
      details: ["A reader that never ends keeps the owner from folding it into the file."],
      next: "Find the process that reads the file for so long and end it; the next checkpoint shortens the log",
      facts: { logBytes },
    });
  }
  findings.push(...openFiles(path));
  return {
    findings,
    bytes: size,
    now,
    isTakenUp: owner.kind === "reached",
    whoTakesUp: whoTakesUp(owner, lastOwner),
    nextFor: {
      "run-without-job":
        "Restart the process that owns the store: its housekeeping gives such runs a job; report it, it is a defect of Idem",
      "lease-of-unknown-worker": "Restart the process that owns the store: opening it takes back every lease",
    },
    facts: {
      integrity: wrong.length === 0 ? `ok (${how} check)` : "damaged",
      "schema version": String(schemaVersion),
      journal: `${file.journalMode}, log ${bytes(logBytes)}`,
      synchronous: "FULL, set and read back by every owner as it opens the file; a reader cannot see it",
      "free space inside": bytes(file.freePages * file.pageSize),
      owner: tellOwner(owner, lastOwner),
      "last write": file.clock === null ? "never" : `${iso(file.clock)} (${relative(file.clock, now)})`,
    },
  };
}

/** Files an owner could not close, and folders that were there before: they are not Idem's to close. */
function openFiles(path: string): Finding[] {
  const folder = dirname(path);
  const open = [folder, ...["", "-wal", "-shm", "-owner", "-counter"].map((ending) => `${path}${ending}`)].flatMap(
    (each) => {
      const mode = openToOthers(each);
      return mode === null ? [] : [{ path: each, mode }];
    },
  );
  if (open.length === 0) return [];
  const isFile = open.some(({ path: each }) => each !== folder);
  return [
    {
      kind: "open-to-others",
      level: isFile ? "problem" : "note",
      title: isFile
        ? "Other users of this machine can reach the store's files"
        : "Other users of this machine can look into the store's folder",
      details: open.map(({ path: each, mode }) => `${each} is ${mode}`),
      next: isFile
        ? `As the user they belong to: chmod 600 ${path}*; the next opening does it by itself where it may`
        : `chmod 700 ${folder}, where nothing else in it is for others; the files themselves are closed`,
      facts: { open },
    },
  ];
}

function whoTakesUp(owner: Owner, lastOwner: string): string {
  switch (owner.kind) {
    case "none":
      return "no process has the store open";
    case "silent":
      return `${lastOwner} has the store open and does not answer`;
    case "reached":
      return `${owner.name} has the store open and does not take them`;
  }
}

function tellOwner(owner: Owner, lastOwner: string): string {
  switch (owner.kind) {
    case "none":
      return `none answers; last was ${lastOwner}`;
    case "silent":
      return `${lastOwner}; does not answer`;
    case "reached":
      return owner.name;
  }
}
