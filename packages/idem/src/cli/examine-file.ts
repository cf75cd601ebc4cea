// Whether a store's file is sound, and who has it.
import { statSync } from "node:fs";
import type { Finding } from "../radar/finding.ts";
import { callOwner } from "../sdk/owner-door.ts";
import { checkIntegrity, readFileFacts } from "../store/sqlite/health-reads.ts";
import type { Context, FilePlace } from "./command.ts";
import type { ExaminedPlace } from "./examine-health.ts";
import { bytes, iso, relative } from "./times.ts";

// Comparing every index with its table takes about a second for 250 MB.
const fullCheckBytesMax = 512 * 1024 * 1024;
// The owner checkpoints at 16 MiB; a log this long means that something keeps it from doing so.
const logBytesMax = 64 * 1024 * 1024;
const ownerAnswerMs = 2_000;

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
  const owner = await ownerOf(context, path);
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
  return {
    findings,
    bytes: size,
    now,
    isTakenUp: owner !== null,
    whoTakesUp: owner === null ? "no process has the store open" : `${owner} has the store open and does not take them`,
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
      owner: owner === null ? `none answers; last was ${file.owner ?? "nobody"}` : owner,
      "last write": file.clock === null ? "never" : `${iso(file.clock)} (${relative(file.clock, now)})`,
    },
  };
}

async function ownerOf({ io, env }: Context, path: string): Promise<string | null> {
  const { platform } = io;
  const reached = platform.local === undefined ? null : await callOwner(platform.local, path, platform, ownerAnswerMs);
  if (reached === null) return null;
  try {
    return (await reached.ask("hello", env, {})).owner;
  } catch (error) {
    return `does not answer (${(error as Error).message})`;
  } finally {
    reached.close();
  }
}
