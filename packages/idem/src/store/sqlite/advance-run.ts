// The one way a run moves. All of the patch or nothing, and only by the holder of the fence.
import type { Outcome } from "../../model/step.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput, ParkRun, SuspendRun } from "../advance.ts";
import { forgetLostSql, readStep } from "../rows.ts";
import { beginWait } from "../rules/begin-wait.ts";
import { endRun } from "../rules/end-run.ts";
import { expireWaits } from "../rules/end-wait.ts";
import { type HeldJob, holdBeside } from "../rules/hold-beside.ts";
import { findRun, stepsOfRun } from "../rules/read-memo.ts";
import { driveAtOnce } from "../rules/rule.ts";
import { ingestNested, staleRegistration } from "./ingest-events.ts";
import { findOutcome, insertAttempt, insertStep, saveStep } from "./record-step.ts";
import { saveLog } from "./save-log.ts";
import type { Transaction } from "./transaction.ts";

const selectJobSql = "select 1 from jobs where env = ? and id = ? and fence = ? and leased_by = ?";
const endJobSql =
  "delete from jobs where env = ? and id = ? and fence = ? and leased_by = ? returning had_waits, lane, beside_1, beside_2";
const suspendJobSql = `
  update jobs set leased_by = null, due_at = ?, enter_at = coalesce(?, enter_at) where env = ? and id = ?
  returning lane, beside_1, beside_2`;
const parkJobSql = `
  update jobs set leased_by = null, due_at = ?, parked_at = ?, parked_kind = ?, parked_reason = ?
   where env = ? and id = ? returning lane, beside_1, beside_2`;

// A run that waits for an event without end is not due, and not "queued" either.
const neverDue = Number.MAX_SAFE_INTEGER;

export function advanceRun(tx: Transaction, input: AdvanceInput): AdvanceAnswer {
  const { env, runId, jobId, fence, worker, next } = input;
  const stale = input.ingest === null ? null : staleRegistration(tx, env, input.ingest.registration);
  if (stale !== null) return holds(tx, input) ? stale : refuse(tx, input);

  if (isSaveOnly(input) && saveStep(tx, input, input.steps[0]!)) {
    noteProgress(tx, env, jobId);
    saveLog(tx, input);
    const outcomes = [input.steps[0]!.outcome];
    return {
      kind: "advanced",
      now: tx.at.now,
      outcomes,
      ingested: null,
      seen: input.seen,
      news: [],
      stamps: null,
      leased: true,
      woken: [],
      freed: false,
    };
  }
  let hadWaits = false;
  let freed = false;
  if (next.kind === "end") {
    const job = tx.connection.one<HeldJob & { had_waits: number }>(endJobSql, env, jobId, fence, worker);
    if (job === undefined) return refuse(tx, input);
    if (job.lane !== null) freed = tx.lanes.giveBack(job.lane, job.beside_1, job.beside_2);
    hadWaits = job.had_waits === 1 || input.waits.length > 0;
  } else if (!holds(tx, input)) return refuse(tx, input);

  saveLog(tx, input);
  const outcomes = recordSteps(tx, input);
  if (input.attempts.length > 0 || input.waits.length > 0) noteProgress(tx, env, jobId);
  for (const attempt of input.attempts) insertAttempt(tx, env, runId, worker, attempt);
  const ingested = input.ingest === null ? null : ingestNested(tx, env, input.ingest);
  // What it sent may have started a run that took its place.
  if (ingested?.cancelled.some((each) => each.runId === runId) === true) return { kind: "ended", state: "cancelled" };
  let recordedAtOnce = false;
  for (const wait of input.waits) {
    if (driveAtOnce(beginWait(tx, input, wait, ingested))) recordedAtOnce = true;
  }

  const answer = { kind: "advanced", now: tx.at.now, outcomes, ingested } as const;
  if (next.kind === "end") {
    const { state, result, releaseKey } = next;
    const woken = driveAtOnce(endRun(tx, env, runId, { state, result, fence, releaseKey, hadWaits }, null));
    return { ...answer, seen: input.seen, news: [], stamps: null, leased: false, woken, freed };
  }
  if (next.kind === "continue" && !next.collect && !recordedAtOnce) {
    const { seen } = input;
    return withBeside(tx, input, { ...answer, seen, news: [], stamps: null, leased: true, woken: [], freed });
  }
  const nextTimeoutAt = driveAtOnce(expireWaits(tx, env, runId));
  const steps = driveAtOnce(stepsOfRun(tx, env, runId));
  // What a worker recorded itself is no news to it; what nobody's worker recorded ended a wait.
  const news = steps.filter((step) => step.stamp > input.seen && step.worker === null).map(readStep);
  const stamps = input.steps.map(({ stepId }) => steps.find((step) => step.step_id === stepId)!.stamp);
  const seen = steps.at(-1)?.stamp ?? input.seen;
  const leased = next.kind === "continue" || (next.kind === "suspend" && news.length > 0);
  if (!leased) {
    const { lane, beside_1, beside_2 } = giveBack(tx, input, next, nextTimeoutAt);
    if (lane !== null) freed = tx.lanes.giveBack(lane, beside_1, beside_2);
  }
  const advanced = { ...answer, seen, news, stamps, leased, woken: [], freed };
  return leased ? withBeside(tx, input, advanced) : advanced;
}

/** What a run that goes on holds beside its slot. */
function withBeside(tx: Transaction, { env, jobId, beside: asked }: AdvanceInput, advanced: Advanced): Advanced {
  if (asked === undefined) return advanced;
  const { beside, freed } = driveAtOnce(holdBeside(tx, env, jobId, asked));
  return { ...advanced, beside, freed };
}

/** The lease goes back; answers what is free with it. */
function giveBack(
  { connection, at }: Transaction,
  { env, jobId }: AdvanceInput,
  next: SuspendRun | ParkRun,
  nextTimeoutAt: number | null,
): HeldJob {
  if (next.kind === "suspend") {
    const dueAt = earliest(next.dueAt, nextTimeoutAt);
    return connection.one<HeldJob>(suspendJobSql, dueAt, next.enterAt ?? null, env, jobId)!;
  }
  const { kind, reason } = next.why;
  const dueAt = next.dueAt ?? neverDue;
  return connection.one<HeldJob>(parkJobSql, dueAt, at.now, kind, reason, env, jobId)!;
}

/** The hot path: one outcome to record, nothing else to do. */
function isSaveOnly({ steps, asNews, beside, attempts, waits, ingest, next }: AdvanceInput): boolean {
  return (
    steps.length === 1 &&
    asNews === undefined &&
    beside === undefined &&
    attempts.length === 0 &&
    waits.length === 0 &&
    ingest === null &&
    next.kind === "continue" &&
    !next.collect
  );
}

const holds = (tx: Transaction, { env, jobId, fence, worker }: AdvanceInput): boolean =>
  tx.connection.one(selectJobSql, env, jobId, fence, worker) !== undefined;

function noteProgress(tx: Transaction, env: string, jobId: string): void {
  if (!tx.known.mayHaveLostWorker(env, jobId)) return;
  tx.connection.run(forgetLostSql, env, jobId);
  tx.known.noteProgress(env, jobId);
}

/** The outcomes that count: a step that has one already keeps it. */
function recordSteps(tx: Transaction, { env, runId, jobId, worker, steps, asNews }: AdvanceInput): Outcome[] {
  return steps.map((step) => {
    if (!insertStep(tx, env, runId, asNews === true ? null : worker, step))
      return findOutcome(tx, env, runId, step.stepId)!;
    noteProgress(tx, env, jobId);
    return step.outcome;
  });
}

const earliest = (a: number | null, b: number | null): number => Math.min(a ?? neverDue, b ?? neverDue);

function refuse(tx: Transaction, input: AdvanceInput): AdvanceAnswer {
  const run = driveAtOnce(findRun(tx, input.env, input.runId));
  if (run === undefined || run.ended_state === null) return { kind: "fenced" };
  if (input.next.kind !== "end" || run.ended_fence !== input.fence) return { kind: "ended", state: run.ended_state };
  // The same end again, after its answer was lost: "0 rows" must not be taken for "fenced" (docs/reference/stores.md#saves-and-takeovers).
  const again: Advanced = {
    kind: "advanced",
    now: tx.at.now,
    seen: input.seen,
    outcomes: input.steps.map((step) => findOutcome(tx, input.env, input.runId, step.stepId) ?? step.outcome),
    news: [],
    stamps: null,
    leased: false,
    ingested: null,
    woken: [],
    freed: false,
  };
  return again;
}
