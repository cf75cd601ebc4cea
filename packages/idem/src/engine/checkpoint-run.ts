// Steps an app reports while it is being called, so that they are safe before it goes on (docs/reference/wire.md#checkpoints).
//
//   the call this report belongs to │ is under way here │ is under way on another node │ was followed by another │ its run has ended
//   ────────────────────────────────┼───────────────────┼──────────────────────────────┼─────────────────────────┼──────────────────
//   answer                          │ recorded          │ recorded by its fence        │ stale: stop             │ stale: stop
//
// The app names its call by the fence of the lease it was made under. The run's holder looks for what others recorded of it once
// the app has answered. A report without a fence that reaches another node is to be tried again: the steps go with the answer.
//
// A report that arrives twice finds its own facts. One whose step has another outcome already is stale too: its code goes on
// with a value that is not the one that counts.
import { checkSize } from "../execute/attempt-step.ts";
import { type KnownOfSteps, stepsDone } from "../execute/call-remote.ts";
import { checkDefers } from "../execute/deferred.ts";
import type { Logger } from "../execute/function-code.ts";
import { isDivergence } from "../model/divergence.ts";
import { errors } from "../model/errors.ts";
import { isEnded } from "../model/run.ts";
import { metadataOf, type WireOp } from "../protocol/wire-ops.ts";
import type { NewStep } from "../store/advance.ts";
import type { HeldRun } from "../store/reads.ts";
import type { Store } from "../store/store.ts";
import { annotateRun } from "./annotate-run.ts";
import { isHeldElsewhere } from "./held-elsewhere.ts";
import { limits } from "./limits.ts";
import type { Worker } from "./worker.ts";

/** Which call a report belongs to, as far as the app says; workers that connect say no generation. */
export interface CallNamed {
  readonly generation: number | null;
  readonly requestId: string | null;
}

export interface CheckpointOf {
  readonly worker: Worker;
  readonly store: Store;
  readonly env: string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Resolves once everything reported is durable; throws CHECKPOINT_STALE when the app must stop. */
export async function checkpointRun(
  { worker, store, env, logger, now }: CheckpointOf,
  runId: string,
  from: CallNamed,
  ops: readonly WireOp[],
): Promise<void> {
  const stale = (why: string) => errors.CHECKPOINT_STALE({ runId, why });
  const dispatch = worker.activeDispatch(runId);
  if (dispatch === null) {
    const run = await store.reads.run(env, runId);
    if (run === null) throw errors.RUN_UNKNOWN({ runId });
    if (isHeldElsewhere({ store, worker }, run)) return recordForHolder({ store, env, logger, now }, runId, from, ops);
    throw stale(isEnded(run.state) ? `it is ${run.state}` : "another call of it has begun, or is about to");
  }
  const { pass, fence } = dispatch;
  const isOther = from.requestId !== null && pass.asking !== null && from.requestId !== pass.asking;
  if (isOther || (from.generation !== null && from.generation !== fence)) throw stale("a newer call of it has begun");
  checkReportable(ops);
  const said = metadataOf(ops);
  if (said.length > 0) await annotateRun({ store, env, logger }, runId, said);
  const done = stepsDone(ops, pass.memo, now());
  const fresh = done.filter(({ stepId }) => pass.memo.get(stepId) === undefined);
  const isSame = done.every(({ stepId, outcome }) => {
    const known = pass.memo.get(stepId);
    return known === undefined || known.outcome.json === outcome.json;
  });
  if (fresh.length > 0 && !(await pass.record(fresh))) throw stale("it was taken up elsewhere");
  if (!isSame) throw stale("a step in it already has another outcome");
  if (pass.isDraining) throw stale("this server is stopping; the step is recorded and another process goes on");
}

/** Another node has the run: what was done is recorded under the fence of its lease, which is refused once that is over. */
async function recordForHolder(
  { store, env, logger, now }: Omit<CheckpointOf, "worker">,
  runId: string,
  { generation }: CallNamed,
  ops: readonly WireOp[],
): Promise<void> {
  const stale = (why: string) => errors.CHECKPOINT_STALE({ runId, why });
  checkReportable(ops);
  // A step that diverged is recorded by a name that only the holder's memo knows.
  if (generation === null || ops.some((op) => op.op === "ran" && isDivergence(op))) {
    throw errors.SERVER_BUSY({ why: `run ${runId} is executed by another node` });
  }
  const held = await store.reads.held(env, runId);
  if (held === null || held.fence !== generation) throw stale("another call of it has begun, or is about to");
  const steps = stepsDone(ops, unknownMemo, now());
  checkRoom(runId, held, steps);
  const said = metadataOf(ops);
  if (said.length > 0) await annotateRun({ store, env, logger }, runId, said);
  if (steps.length === 0) return;
  const answer = await store.advance({
    env,
    worker: held.worker,
    runId,
    jobId: runId,
    fence: generation,
    steps,
    asNews: true,
    attempts: [],
    waits: [],
    ingest: null,
    seen: 0,
    next: { kind: "continue", collect: false },
  });
  if (answer.kind === "ended") throw stale(`it is ${answer.state}`);
  if (answer.kind !== "advanced") throw stale("it was taken up elsewhere");
  const isSame = steps.every(({ outcome }, i) => answer.outcomes[i]!.json === outcome.json);
  if (!isSame) throw stale("a step in it already has another outcome");
}

/** As the holder would judge it. A step that was tried before is never in a checkpoint: it is answered. */
function checkRoom(runId: string, held: HeldRun, steps: readonly NewStep[]): void {
  if (held.stepCount + steps.length > limits.stepsMax) {
    throw errors.RUN_TOO_MANY_STEPS({ runId, max: limits.stepsMax });
  }
  checkDefers(runId, held.deferCount, steps);
  let { bytes } = held;
  for (const step of steps) {
    checkSize(step.outcome.json, step, { id: runId, bytes }, limits);
    bytes += Buffer.byteLength(step.outcome.json);
  }
}

const unknownMemo: KnownOfSteps = {
  divergedName: () => null,
  failures: () => null,
  inputOf: (_, given) => given,
};

function checkReportable(ops: readonly WireOp[]): void {
  const strange = ops.find(({ op }) => !reportable.has(op));
  if (strange === undefined) return;
  throw errors.REPLY_INVALID({ why: `a checkpoint cannot carry "${strange.op}" (step "${strange.name}")` });
}

// "planned" only says that a step has begun.
const reportable: ReadonlySet<WireOp["op"]> = new Set(["ran", "planned", "defer", "defer-abort", "nothing"]);
