// The one way a run moves. All of the patch or nothing, and only by the holder of the fence.
import type { Outcome } from "../../model/step.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput, NewStep, ParkRun, SuspendRun } from "../advance.ts";
import { forgetLostSql, readStep } from "../rows.ts";
import { beginWait } from "./begin-wait.ts";
import type { RuleTransaction } from "./database.ts";
import { endRun } from "./end-run.ts";
import { expireWaits } from "./end-wait.ts";
import { type HeldJob, holdBeside } from "./hold-beside.ts";
import { ingestNested } from "./ingest-events.ts";
import { findRun, stepsOfRun } from "./read-memo.ts";
import { findOutcome, recordAttempt } from "./record-step.ts";
import type { Asked, Rule } from "./rule.ts";

const suspendJobSql = `
  update jobs set leased_by = null, due_at = ?, enter_at = coalesce(?, enter_at) where env = ? and id = ?
  returning lane, beside_1, beside_2`;
const parkJobSql = `
  update jobs set leased_by = null, due_at = ?, parked_at = ?, parked_kind = ?, parked_reason = ?
   where env = ? and id = ? returning lane, beside_1, beside_2`;

// A run that waits for an event without end is not due, and not "queued" either.
export const neverDue = Number.MAX_SAFE_INTEGER;

type Told = Partial<Pick<Advanced, "outcomes" | "ingested" | "news" | "stamps" | "woken" | "freed">>;

/** The answer to a move; the defaults are what most moves have. */
export const advanced = (
  now: number,
  seen: number,
  leased: boolean,
  { outcomes = none, ingested = null, news = none, stamps = null, woken = none, freed = false }: Told,
): Advanced => ({ kind: "advanced", now, seen, outcomes, news, stamps, leased, ingested, woken, freed });

const none: readonly never[] = [];

/** The hot path: one outcome to record and nothing else to do; null for anything more. */
export function onlyStep({ steps, asNews, beside, attempts, waits, ingest, next }: AdvanceInput): NewStep | null {
  const isOnly =
    steps.length === 1 &&
    asNews === undefined &&
    beside === undefined &&
    attempts.length === 0 &&
    waits.length === 0 &&
    ingest === null &&
    next.kind === "continue" &&
    !next.collect;
  return isOnly ? steps[0]! : null;
}

export function* advanceRun(tx: RuleTransaction, input: AdvanceInput): Rule<AdvanceAnswer> {
  const { env, runId, jobId, fence, worker, attempts, waits, ingest, next } = input;
  const stale = ingest === null ? null : yield* tx.staleRegistration(env, ingest.registration);
  if (stale !== null) return (yield* holdJob(tx, input)) === undefined ? yield* refuse(tx, input) : stale;
  const claims = yield* tx.lockMoved(input);
  let hadWaits = false;
  let freed = false;
  let lostWorkers = 0;
  if (next.kind === "end") {
    const job = yield* tx.one<HeldJob & { had_waits: number }>(tx.sql.jobs.end, env, jobId, fence, worker);
    if (job === undefined) return yield* refuse(tx, input);
    freed = gaveBack(tx, job);
    hadWaits = job.had_waits === 1 || waits.length > 0;
  } else {
    const job = yield* holdJob(tx, input);
    if (job === undefined) return yield* refuse(tx, input);
    lostWorkers = job.lost_workers;
  }
  if (input.log != null) tx.saveLog(env, runId, input.log);
  let gotOn = attempts.length > 0 || waits.length > 0;
  const outcomes: Outcome[] = [];
  for (const step of input.steps) {
    const isNew = yield* tx.recordStep(env, runId, step, input.asNews === true ? null : worker, null);
    if (isNew) gotOn = true;
    // A step that has an outcome already keeps it.
    outcomes.push(isNew ? step.outcome : (yield* findOutcome(tx, env, runId, step.stepId))!);
  }
  if (gotOn && lostWorkers > 0) {
    tx.write(forgetLostSql, env, jobId);
    tx.noteProgress(env, jobId);
  }
  for (const attempt of attempts) recordAttempt(tx, env, runId, worker, attempt);
  const ingested = ingest === null ? null : yield* ingestNested(tx, env, ingest);
  // An event it sent may have started a run that took its place.
  if (ingested?.cancelled.some((each) => each.runId === runId) === true) return { kind: "ended", state: "cancelled" };
  let recordedAtOnce = false;
  for (const wait of waits) {
    if (yield* beginWait(tx, input, wait, ingested)) recordedAtOnce = true;
  }

  const { now } = tx.at;
  if (next.kind === "end") {
    const { state, result, releaseKey } = next;
    const woken = yield* endRun(tx, env, runId, { state, result, fence, releaseKey, hadWaits }, claims);
    return advanced(now, input.seen, false, { outcomes, ingested, woken, freed });
  }
  if (next.kind === "continue" && !next.collect && !recordedAtOnce) {
    return yield* withBeside(tx, input, advanced(now, input.seen, true, { outcomes, ingested }));
  }
  const nextTimeoutAt = yield* expireWaits(tx, env, runId);
  const steps = yield* stepsOfRun(tx, env, runId);
  // A worker's own steps are no news to it; a step without a worker ended a wait, or came as news.
  const news = steps.filter((step) => step.stamp > input.seen && step.worker === null).map(readStep);
  const stamps = input.steps.map(({ stepId }) => steps.find((step) => step.step_id === stepId)!.stamp);
  const seen = steps.at(-1)?.stamp ?? input.seen;
  const told = { outcomes, ingested, news, stamps };
  if (next.kind === "continue" || (next.kind === "suspend" && news.length > 0)) {
    return yield* withBeside(tx, input, advanced(now, seen, true, told));
  }
  freed = gaveBack(tx, (yield* giveBack(tx, input, next, nextTimeoutAt))!);
  return advanced(now, seen, false, { outcomes, ingested, news, stamps, freed });
}

/** The slots that a run that goes on holds beside its own. */
function* withBeside(
  tx: RuleTransaction,
  { env, jobId, beside: asked }: AdvanceInput,
  answer: Advanced,
): Rule<Advanced> {
  if (asked === undefined) return answer;
  const { beside, freed } = yield* holdBeside(tx, env, jobId, asked);
  return { ...answer, beside, freed };
}

/** The lease goes back; answers what is free with it. */
function giveBack(
  tx: RuleTransaction,
  { env, jobId }: AdvanceInput,
  next: SuspendRun | ParkRun,
  nextTimeoutAt: number | null,
): Asked<HeldJob | undefined> {
  if (next.kind === "suspend") {
    const dueAt = earliest(next.dueAt, nextTimeoutAt);
    return tx.one<HeldJob>(suspendJobSql, dueAt, next.enterAt ?? null, env, jobId);
  }
  const { kind, reason } = next.why;
  return tx.one<HeldJob>(parkJobSql, next.dueAt ?? neverDue, tx.at.now, kind, reason, env, jobId);
}

/** Whether somebody may want its slots. */
const gaveBack = (tx: RuleTransaction, { lane, beside_1, beside_2 }: HeldJob): boolean =>
  lane !== null && tx.gaveBack(lane, [beside_1, beside_2]);

const earliest = (a: number | null, b: number | null): number => Math.min(a ?? neverDue, b ?? neverDue);

/** A call that takes the run over, cancels it or brings it news waits from here on, or was waited for. */
const holdJob = (tx: RuleTransaction, { env, jobId, fence, worker }: AdvanceInput) =>
  tx.one<{ lost_workers: number }>(tx.sql.jobs.hold, env, jobId, fence, worker);

function* refuse(tx: RuleTransaction, { env, runId, fence, steps, seen, next }: AdvanceInput): Rule<AdvanceAnswer> {
  const run = yield* findRun(tx, env, runId);
  if (run === undefined || run.ended_state === null) return { kind: "fenced" };
  if (next.kind !== "end" || run.ended_fence !== fence) return { kind: "ended", state: run.ended_state };
  // The same end again, after its answer was lost: "0 rows" must not be taken for "fenced" (docs/reference/stores.md#saves-and-takeovers).
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push((yield* findOutcome(tx, env, runId, step.stepId)) ?? step.outcome);
  return advanced(tx.at.now, seen, false, { outcomes });
}
