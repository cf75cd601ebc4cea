// The one way a run moves. All of the patch or nothing, and only by the holder of the fence.
import type { Outcome } from "../../model/step.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput, ParkRun, SuspendRun } from "../advance.ts";
import { forgetLostSql, readStep } from "../rows.ts";
import { beginWait } from "../rules/begin-wait.ts";
import { claimsOfRun, endRun } from "../rules/end-run.ts";
import { expireWaits } from "../rules/end-wait.ts";
import { holdBeside } from "../rules/hold-beside.ts";
import { findRun, stepsOfRun } from "../rules/read-memo.ts";
import { driveAwaited } from "../rules/rule.ts";
import { ingestNested, staleRegistration } from "./ingest-events.ts";
import { hasSlots, noLocks, slotLocks } from "./lane-slots.ts";
import { lockAhead } from "./lock-ahead.ts";
import { lockChildren } from "./lock-children.ts";
import { findOutcome, insertAttempt, insertStep } from "./record-step.ts";
import { saveLog } from "./save-log.ts";
import type { Transaction } from "./transaction.ts";

// The run's lock: whoever takes the run over, cancels it or brings it news waits here, or is waited for.
// "coalesce": found by its id, never by all that its worker holds or has held.
const lockJobSql = `
  select lost_workers from jobs where env = ? and id = ? and fence = ? and coalesce(leased_by, '') = ? for update`;
const endJobSql = `
  delete from jobs where env = ? and id = ? and fence = ? and coalesce(leased_by, '') = ? returning had_waits, lane`;
const suspendJobSql = `
  update jobs set leased_by = null, due_at = ?, enter_at = coalesce(?, enter_at) where env = ? and id = ? returning lane`;
const parkJobSql = `
  update jobs set leased_by = null, due_at = ?, parked_at = ?, parked_kind = ?, parked_reason = ?
   where env = ? and id = ? returning lane`;

// A run that waits for an event without end is not due, and not "queued" either.
export const neverDue = Number.MAX_SAFE_INTEGER;

export async function advanceRun(tx: Transaction, input: AdvanceInput): Promise<AdvanceAnswer> {
  const { env, runId, jobId, fence, worker, next } = input;
  const stale = input.ingest === null ? null : await staleRegistration(tx, env, input.ingest.registration);
  if (stale !== null) return (await lockJob(tx, input)) === undefined ? refuse(tx, input) : stale;
  const claims = next.kind === "end" ? await driveAwaited(claimsOfRun(tx, env, runId, next.releaseKey)) : [];
  const isMore = input.beside !== undefined && input.beside.want > input.beside.keep;
  const slots = isMore ? await slotLocks(tx, env, jobId) : noLocks;
  await lockAhead(tx, input.ingest === null ? [] : [{ env, ...input.ingest }], { env, claims }, slots);
  await lockChildren(tx, env, input.waits, input.ingest);
  let hadWaits = false;
  let freed = false;
  let lostWorkers = 0;
  if (next.kind === "end") {
    const job = await tx.connection.one<{ had_waits: number; lane: string | null }>(
      endJobSql,
      env,
      jobId,
      fence,
      worker,
    );
    if (job === undefined) return refuse(tx, input);
    freed = hasSlots(job.lane);
    hadWaits = job.had_waits === 1 || input.waits.length > 0;
  } else {
    const job = await lockJob(tx, input);
    if (job === undefined) return refuse(tx, input);
    lostWorkers = job.lost_workers;
  }
  saveLog(tx, input);
  const { outcomes, isProgress } = await recordSteps(tx, input);
  const gotOn = isProgress || input.attempts.length > 0 || input.waits.length > 0;
  if (gotOn && lostWorkers > 0) tx.connection.write(forgetLostSql, env, jobId);
  for (const attempt of input.attempts) insertAttempt(tx, env, runId, worker, attempt);
  const ingested = input.ingest === null ? null : await ingestNested(tx, env, input.ingest);
  // What it sent may have started a run that took its place.
  if (ingested?.cancelled.some((each) => each.runId === runId) === true) return { kind: "ended", state: "cancelled" };
  let recordedAtOnce = false;
  for (const wait of input.waits) {
    if (await driveAwaited(beginWait(tx, input, wait, ingested))) recordedAtOnce = true;
  }

  const answer = { kind: "advanced", now: tx.at.now, outcomes, ingested } as const;
  if (next.kind === "end") {
    const { state, result, releaseKey } = next;
    const woken = await driveAwaited(endRun(tx, env, runId, { state, result, fence, releaseKey, hadWaits }, claims));
    return { ...answer, seen: input.seen, news: [], stamps: null, leased: false, woken, freed };
  }
  if (next.kind === "continue" && !next.collect && !recordedAtOnce) {
    const { seen } = input;
    return withBeside(tx, input, { ...answer, seen, news: [], stamps: null, leased: true, woken: [], freed });
  }
  const nextTimeoutAt = await driveAwaited(expireWaits(tx, env, runId));
  const steps = await driveAwaited(stepsOfRun(tx, env, runId));
  // What a worker recorded itself is no news to it; what nobody's worker recorded ended a wait.
  const news = steps.filter((step) => step.stamp > input.seen && step.worker === null).map(readStep);
  const stamps = input.steps.map(({ stepId }) => steps.find((step) => step.step_id === stepId)!.stamp);
  const seen = steps.at(-1)?.stamp ?? input.seen;
  const leased = next.kind === "continue" || (next.kind === "suspend" && news.length > 0);
  if (!leased) freed = hasSlots(await giveBack(tx, input, next, nextTimeoutAt));
  const advanced = { ...answer, seen, news, stamps, leased, woken: [], freed };
  return leased ? withBeside(tx, input, advanced) : advanced;
}

/** What a run that goes on holds beside its slot. */
async function withBeside(
  tx: Transaction,
  { env, jobId, beside: asked }: AdvanceInput,
  advanced: Advanced,
): Promise<Advanced> {
  if (asked === undefined) return advanced;
  const { beside, freed } = await driveAwaited(holdBeside(tx, env, jobId, asked));
  return { ...advanced, beside, freed };
}

/** The lease goes back; answers the lane whose slots are free with it. */
async function giveBack(
  { connection, at }: Transaction,
  { env, jobId }: AdvanceInput,
  next: SuspendRun | ParkRun,
  nextTimeoutAt: number | null,
): Promise<string | null> {
  if (next.kind === "suspend") {
    const dueAt = earliest(next.dueAt, nextTimeoutAt);
    const job = await connection.one<{ lane: string | null }>(suspendJobSql, dueAt, next.enterAt ?? null, env, jobId);
    return job!.lane;
  }
  const { kind, reason } = next.why;
  const dueAt = next.dueAt ?? neverDue;
  const job = await connection.one<{ lane: string | null }>(parkJobSql, dueAt, at.now, kind, reason, env, jobId);
  return job!.lane;
}

const lockJob = (tx: Transaction, { env, jobId, fence, worker }: AdvanceInput) =>
  tx.connection.one<{ lost_workers: number }>(lockJobSql, env, jobId, fence, worker);

/** The outcomes that count: a step that has one already keeps it. */
async function recordSteps(tx: Transaction, { env, runId, worker, steps, asNews }: AdvanceInput) {
  const outcomes: Outcome[] = [];
  let isProgress = false;
  for (const step of steps) {
    const isNew = await insertStep(tx, env, runId, asNews === true ? null : worker, step);
    if (isNew) isProgress = true;
    outcomes.push(isNew ? step.outcome : (await findOutcome(tx, env, runId, step.stepId))!);
  }
  return { outcomes, isProgress };
}

const earliest = (a: number | null, b: number | null): number => Math.min(a ?? neverDue, b ?? neverDue);

async function refuse(tx: Transaction, input: AdvanceInput): Promise<AdvanceAnswer> {
  const run = await driveAwaited(findRun(tx, input.env, input.runId));
  if (run === undefined || run.ended_state === null) return { kind: "fenced" };
  if (input.next.kind !== "end" || run.ended_fence !== input.fence) return { kind: "ended", state: run.ended_state };
  // The same end again, after its answer was lost: "0 rows" must not be taken for "fenced" (docs/reference/stores.md#saves-and-takeovers).
  const outcomes: Outcome[] = [];
  for (const step of input.steps) {
    outcomes.push((await findOutcome(tx, input.env, input.runId, step.stepId)) ?? step.outcome);
  }
  const again: Advanced = {
    kind: "advanced",
    now: tx.at.now,
    seen: input.seen,
    outcomes,
    news: [],
    stamps: null,
    leased: false,
    ingested: null,
    woken: [],
    freed: false,
  };
  return again;
}
