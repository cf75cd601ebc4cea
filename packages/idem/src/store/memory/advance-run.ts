// The one way a run moves: all of the patch or nothing, and only by the holder of the fence.
// Repeat: steps and attempts already there are kept and answered; a repeated end by the same fence is answered as the first.
import { runLogBytesMax } from "../../model/log-line.ts";
import type { Step } from "../../model/step.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput, ParkRun, SuspendRun, WokenRun } from "../advance.ts";
import { addWaits } from "./add-waits.ts";
import { endRun } from "./end-run.ts";
import { expireWaits } from "./end-wait.ts";
import { staleRegistration, storeEvents } from "./ingest.ts";
import { holdBeside, isWanted } from "./lanes.ts";
import { findStep, lastStamp, recordAttempt, recordStep } from "./record-step.ts";
import { runOf, showStep } from "./show.ts";
import { type JobRow, type Moment, never, type RunJob, type RunRow, type Tables } from "./tables.ts";

export function advanceRun(tables: Tables, at: Moment, input: AdvanceInput): AdvanceAnswer {
  const run = tables.runs.get(input.runId);
  if (run !== undefined && run.endState !== null) return answerEnded(tables, at, input, run);
  const job = tables.jobs.get(input.jobId);
  if (run === undefined || job === undefined || !isHeldBy(job, input)) return { kind: "fenced" };
  const stale = staleRegistration(tables, input.ingest);
  if (stale !== null) return stale;

  saveLog(tables, input);
  const by = input.asNews === true ? null : input.worker;
  const steps = input.steps.map((step) => recordStep(tables, at, run.id, step, by));
  const isProgress = steps.some(({ recorded }) => recorded) || input.attempts.length > 0 || input.waits.length > 0;
  if (isProgress) tables.jobs.put(job.id, { ...job, lost: null, enterAt: null });
  for (const attempt of input.attempts) recordAttempt(tables, at, run.id, attempt, input.worker);
  const ingested = input.ingest === null ? null : storeEvents(tables, at, input.ingest, null);
  // An event it sent started a run that took its place.
  const { endState } = runOf(tables, run.id);
  if (endState !== null) return { kind: "ended", state: endState };
  const decidedCount = addWaits(tables, at, run.id, input.waits, input.ingest);
  return {
    kind: "advanced",
    now: at.now,
    outcomes: steps.map(({ step }) => step.outcome),
    ingested,
    ...goOn(
      tables,
      at,
      input,
      steps.map(({ step }) => step.stamp),
      decidedCount,
    ),
  };
}

/** From the first of them on that would be too much, a run is full and keeps no more. */
function saveLog(tables: Tables, { runId, log }: AdvanceInput): void {
  if (log === undefined || log === null) return;
  const before = tables.logBytes.get(runId) ?? 0;
  const kept = tables.logs.get(runId) ?? [];
  if (before > runLogBytesMax || kept.some(({ part }) => part === log.part)) return;
  const bytes = before + Buffer.byteLength(log.text);
  tables.logBytes.put(runId, Math.min(bytes, runLogBytesMax + 1));
  if (bytes <= runLogBytesMax) tables.logs.put(runId, [...kept, { part: log.part, text: log.text }]);
}

const isHeldBy = (job: JobRow, { runId, worker, fence }: AdvanceInput): boolean =>
  job.kind === "run" && job.id === runId && job.leasedBy === worker && job.fence === fence;

/** The answer to a lost answer: without it, the one who ended the run would be told that somebody else has it. */
function answerEnded(tables: Tables, at: Moment, input: AdvanceInput, run: RunRow): AdvanceAnswer {
  if (input.next.kind !== "end" || run.endedFence !== input.fence) return { kind: "ended", state: run.endState! };
  return {
    kind: "advanced",
    now: at.now,
    seen: lastStamp(tables, run.id),
    outcomes: input.steps.map((step) => findStep(tables, run.id, step.stepId)?.outcome ?? step.outcome),
    news: [],
    stamps: null,
    leased: false,
    ingested: null,
    woken: [],
    freed: false,
  };
}

type GoneOn = Pick<Advanced, "seen" | "news" | "stamps" | "leased" | "woken" | "freed" | "beside">;

function goOn(
  tables: Tables,
  at: Moment,
  input: AdvanceInput,
  stamps: readonly number[],
  decidedCount: number,
): GoneOn {
  const { runId, next } = input;
  const { lane } = tables.jobs.get(runId) as RunJob;
  if (next.kind === "end") {
    const woken: WokenRun[] = endRun(tables, at, runId, { ...next, fence: input.fence });
    const freed = isWanted(tables.database, at, lane);
    return { seen: lastStamp(tables, runId), news: [], stamps: null, leased: false, woken, freed };
  }
  // A caller that did not look has seen no more than before: an outcome that arrived meanwhile must still be news to its next call,
  // or the run would suspend over it and sleep for ever.
  if (next.kind === "continue" && !next.collect && decidedCount === 0) {
    const { seen } = input;
    return { seen, news: [], stamps: null, leased: true, woken: [], freed: false, ...besideOf(tables, at, input) };
  }
  if (next.kind !== "continue" || next.collect) expireWaits(tables, at, runId);
  const news = collectNews(tables, input);
  const leased = next.kind === "continue" || (next.kind === "suspend" && news.length > 0);
  if (!leased) giveBack(tables, at, runId, next);
  const freed = !leased && isWanted(tables.database, at, lane);
  const gone = { seen: lastStamp(tables, runId), news, stamps, leased, woken: [], freed };
  return leased ? { ...gone, ...besideOf(tables, at, input) } : gone;
}

/** The slots that a run that goes on holds beside its own. */
function besideOf(
  tables: Tables,
  at: Moment,
  { runId, beside }: AdvanceInput,
): Partial<Pick<Advanced, "beside" | "freed">> {
  return beside === undefined ? {} : holdBeside(tables, at, tables.jobs.get(runId) as RunJob, beside);
}

/** Outcomes that waits left, or that came as news. Steps of workers are none: the caller knows its own, earlier holders' were in its memo. */
const collectNews = (tables: Tables, { runId, seen }: AdvanceInput): Step[] =>
  tables
    .stepsOf(runId)
    .filter((step) => step.stamp > seen && step.worker === null)
    .map(showStep);

function giveBack(tables: Tables, at: Moment, runId: string, next: SuspendRun | ParkRun): void {
  const job = { ...tables.jobs.get(runId)!, leasedBy: null };
  if (next.kind === "park") {
    tables.jobs.put(runId, { ...job, dueAt: next.dueAt ?? never, parked: { ...next.why, at: at.now } });
    return;
  }
  const timeouts = tables.waitsOf(runId).map((wait) => wait.timeoutAt ?? never);
  const dueAt = Math.min(next.dueAt ?? never, ...timeouts);
  tables.jobs.put(runId, { ...job, dueAt, enterAt: next.enterAt ?? job.enterAt });
}
