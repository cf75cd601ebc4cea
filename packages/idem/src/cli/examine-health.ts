// Whether the file is sound and whether everything open still moves.
import { statSync } from "node:fs";
import type { Finding } from "../radar/finding.ts";
import { times } from "../radar/finding.ts";
import { callOwner } from "../sdk/owner-door.ts";
import {
  checkIntegrity,
  overdueRuns,
  readFileFacts,
  runsOfUnknownWorkers,
  runsWithoutJob,
  type StuckRun,
  waitingRuns,
} from "../store/sqlite/health-reads.ts";
import type { Context, Reading } from "./command.ts";
import { bytes, iso, relative } from "./times.ts";

// Comparing every index with its table takes about a second for 250 MB.
const fullCheckBytesMax = 512 * 1024 * 1024;
// The owner checkpoints at 16 MiB; a log this long means that something keeps it from doing so.
const logBytesMax = 64 * 1024 * 1024;
// A worker takes up due work at once and a lost worker's within this time.
const overdueMs = 30_000;
const listMax = 1_000;
const ownerAnswerMs = 2_000;
// A living owner may have been about to take it up.
const secondLookMs = 1_000;

export async function examineHealth(
  context: Context,
  reading: Reading,
): Promise<{ readonly findings: Finding[]; readonly facts: Record<string, string> }> {
  const { connection, env, path } = reading;
  const { platform } = context.io;
  const findings: Finding[] = [];
  const size = statSync(path).size;
  const how = size <= fullCheckBytesMax ? "full" : "quick";
  const wrong = checkIntegrity(connection, how);
  const file = readFileFacts(connection);
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const owner = await ownerOf(context, path);
  const { functions } = await reading.reads.functions(env);
  const counts = await reading.reads.counts(env);
  const now = Math.max(platform.wallMs(), file.clock ?? 0);

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
  stuck(
    findings,
    "run-without-job",
    "open without a job: nothing will take them up",
    runsWithoutJob(connection, env, listMax),
    reading,
    {
      next: "Restart the process that owns the store: its housekeeping gives such runs a job; report it, it is a defect of Idem",
    },
  );
  stuck(
    findings,
    "lease-of-unknown-worker",
    "leased to a worker the store does not know",
    runsOfUnknownWorkers(connection, env, listMax),
    reading,
    {
      next: "Restart the process that owns the store: opening it takes back every lease",
    },
  );
  await findOverdue(context, reading, now, owner, findings);
  const waiting = waitingRuns(connection, env, 20);
  if (waiting.length > 0) {
    const total = waiting.reduce((sum, { count }) => sum + count, 0);
    findings.push({
      kind: "waiting",
      level: "note",
      title: `${times(total, "wait")} of open runs`,
      details: waiting.map(
        ({ fn, kind, count, nextAt }) =>
          `"${reading.nameOf(fn)}": ${count} for ${kind === "time" ? "a time" : kind === "run" ? "another run" : `a${kind === "event" ? "n" : ""} ${kind}`}${nextAt === null || nextAt >= Number.MAX_SAFE_INTEGER ? "" : `, the first until ${iso(nextAt)} (${relative(nextAt, now)})`}`,
      ),
      next: null,
      facts: { waiting },
    });
  }
  return {
    findings,
    facts: {
      integrity: wrong.length === 0 ? `ok (${how} check)` : "damaged",
      "schema version": String(reading.schemaVersion),
      journal: `${file.journalMode}, log ${bytes(logBytes)}`,
      synchronous: "FULL, set and read back by every owner as it opens the file; a reader cannot see it",
      "free space inside": bytes(file.freePages * file.pageSize),
      owner: owner === null ? `none answers; last was ${file.owner ?? "nobody"}` : owner,
      "last write": file.clock === null ? "never" : `${iso(file.clock)} (${relative(file.clock, now)})`,
      functions: String(functions.length),
      "open runs": `${counts.queued} queued, ${counts.running} running, ${counts.waiting} waiting`,
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

function stuck(
  findings: Finding[],
  kind: string,
  what: string,
  runs: readonly StuckRun[],
  reading: Reading,
  { next }: { readonly next: string },
): void {
  if (runs.length === 0) return;
  findings.push({
    kind,
    level: "problem",
    title: `${times(runs.length, "run is", "runs are")} ${what}`,
    details: runs
      .slice(0, 5)
      .map(({ runId, fn, createdAt }) => `${runId} of "${reading.nameOf(fn)}", opened ${iso(createdAt)}`),
    next,
    facts: { runIds: runs.map(({ runId }) => runId) },
  });
}

async function findOverdue(
  context: Context,
  reading: Reading,
  now: number,
  owner: string | null,
  findings: Finding[],
): Promise<void> {
  const look = () => overdueRuns(reading.connection, reading.env, now, overdueMs, listMax);
  let runs = look();
  if (runs.length > 0 && owner !== null) {
    await new Promise<void>((resolve) => context.io.platform.timer(secondLookMs, resolve));
    const still = new Map(look().map(({ runId, fence }) => [runId, fence]));
    runs = runs.filter(({ runId, fence }) => still.get(runId) === fence);
  }
  const byFunction = new Map<string, typeof runs>();
  for (const run of runs) byFunction.set(run.fn, [...(byFunction.get(run.fn) ?? []), run]);
  for (const [fn, overdue] of byFunction) {
    const oldest = overdue[0]!;
    findings.push({
      kind: "no-worker",
      level: "problem",
      title: `No worker takes up "${reading.nameOf(fn)}": ${times(overdue.length, "due run")}`,
      details: [
        `the oldest, ${oldest.runId}, has been due since ${iso(oldest.dueSince)} (${relative(oldest.dueSince, now)})`,
        owner === null ? "no process has the store open" : `${owner} has the store open and does not take them`,
      ],
      next: "Start the process that defines this function with idem.start(), or cancel the runs with idem cancel",
      facts: { function: reading.nameOf(fn), count: overdue.length, runIds: overdue.map(({ runId }) => runId) },
    });
  }
}
