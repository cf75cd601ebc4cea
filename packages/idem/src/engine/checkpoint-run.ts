// Steps an app reports while it is being called, so that they are safe before it goes on (docs/reference/wire.md#checkpoints).
//
//   the call this report belongs to │ is the one under way │ was followed by another │ its run has ended │ is another node's
//   ────────────────────────────────┼──────────────────────┼─────────────────────────┼───────────────────┼──────────────────────
//   answer                          │ recorded             │ stale: stop             │ stale: stop       │ try again: the holder
//                                                                                                          may hear it, else the
//                                                                                                          steps go with the answer
//
// A report that arrives twice finds its own facts. One whose step has another outcome already is stale too: its code goes on
// with a value that is not the one that counts.
import { stepsDone } from "../execute/call-remote.ts";
import type { Logger } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import { isEnded } from "../model/run.ts";
import { metadataOf, type WireOp } from "../protocol/wire-ops.ts";
import type { Store } from "../store/store.ts";
import { annotateRun } from "./annotate-run.ts";
import { isHeldElsewhere } from "./held-elsewhere.ts";
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
    if (isHeldElsewhere({ store, worker }, run)) throw errors.OTHER_NODE({ why: `run ${runId} is executed by it` });
    throw stale(isEnded(run.state) ? `it is ${run.state}` : "another call of it has begun, or is about to");
  }
  const { pass, fence } = dispatch;
  const isOther = from.requestId !== null && pass.asking !== null && from.requestId !== pass.asking;
  if (isOther || (from.generation !== null && from.generation !== fence)) throw stale("a newer call of it has begun");
  const strange = ops.find(({ op }) => !reportable.has(op));
  if (strange !== undefined) {
    throw errors.REPLY_INVALID({ why: `a checkpoint cannot carry "${strange.op}" (step "${strange.name}")` });
  }
  const said = metadataOf(ops);
  if (said.length > 0) await annotateRun({ store, env, logger }, runId, said);
  const done = stepsDone(ops, pass, now());
  const fresh = done.filter(({ stepId }) => pass.memo.get(stepId) === undefined);
  const isSame = done.every(({ stepId, outcome }) => {
    const known = pass.memo.get(stepId);
    return known === undefined || known.outcome.json === outcome.json;
  });
  if (fresh.length > 0 && !(await pass.record(fresh))) throw stale("it was taken up elsewhere");
  if (!isSame) throw stale("a step in it already has another outcome");
  if (pass.isDraining) throw stale("this server is stopping; the step is recorded and another process goes on");
}

// "planned" only says that a step has begun.
const reportable: ReadonlySet<WireOp["op"]> = new Set(["ran", "planned", "defer", "defer-abort", "nothing"]);
