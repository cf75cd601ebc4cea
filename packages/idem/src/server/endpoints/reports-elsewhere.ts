// Reports of a handler that reach another node than the one that executes its run:
//
//   the report               │ what becomes of it
//   ─────────────────────────┼──────────────────────────────────────────────────────────────────────────────────────────────
//   steps that are over      │ recorded here, under the fence of the node that has the run (engine/checkpoint-run.ts)
//   a wait, a plan, an error,│ left for the node that has the run, as a letter; answered once the store has what follows from it. Where
//   the result               │ that node has died, the next to have the run finds the letter
//   the same again           │ answered like the first time
//   after it handed over     │ stale: stop
//
// The node that has the run looks for steps that others recorded before it decides what comes next, and before it takes the app for silent.
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import { isEnded } from "../../model/run.ts";
import type { EndpointReport } from "../../protocol/endpoint-request.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { World } from "../world.ts";
import { endpointLimits } from "./limits.ts";
import { isKept, untilKept } from "./until-kept.ts";

/** A report, as it came. */
export type Said = Pick<EndpointReport, "json">;

export class ReportsElsewhere {
  constructor(private readonly world: Pick<World, "letters" | "platform">) {}

  /** Resolves once it is stored. */
  async report(engine: Engine, report: EndpointReport): Promise<void> {
    const { runId, ops, json } = report;
    const { env, store } = engine;
    const memo = await store.reads.runMemo(env, runId);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId });
    if (hasHandedOver(memo)) {
      if (!isKept(memo, ops)) throw errors.CHECKPOINT_STALE({ runId, why: "the server goes on with it" });
      return store.shared?.stand();
    }
    if (onlyFinished(report)) {
      const held = await store.reads.held(env, runId);
      if (held === null) throw errors.SERVER_BUSY({ why: `run ${runId} is being taken up` });
      return engine.checkpoint(runId, { generation: held.fence, requestId: null }, ops);
    }
    await this.world.letters!.send(env, runId, { kind: "report", json });
    await untilKept(engine, this.world.platform, runId, ops, endpointLimits.keptElsewhereMs);
    const after = await store.reads.runMemo(env, runId);
    if (after !== null && isEnded(after.run.state)) checkRepeated(after, report);
    await store.shared?.stand();
  }

  /** For the node that has the run; the answer ends it. */
  listen(env: string, runId: string, hear: (report: Said) => void): () => void {
    const close = this.world.letters?.open(env, runId, { fromBefore: true }, (letter) => {
      if (letter.kind === "report") hear(letter);
    });
    return close ?? (() => {});
  }
}

/** Work that only the server does has been done: the app has handed over. */
export const hasHandedOver = ({ steps, attempts, waits }: RunMemo): boolean =>
  attempts.length > 0 || waits.length > 0 || steps.some(({ kind }) => kind !== "run");

/** Steps that are over: the app goes on after them. */
export const onlyFinished = ({ ops }: EndpointReport): boolean => ops.every(({ op }) => finished.has(op));

const finished: ReadonlySet<string> = new Set(["ran", "defer", "defer-abort", "nothing"]);

/** The run has ended: its last report sent again is answered like the first time; any other comes too late. */
export function checkRepeated(memo: RunMemo, { runId, ops }: EndpointReport): void {
  const outcomes = new Map(memo.steps.map(({ stepId, outcome }) => [stepId, outcome.json]));
  const isSame = ops.every((op) => {
    if (op.op === "complete") return memo.run.state === "completed" && memo.run.result === op.json;
    return op.op === "ran" ? outcomes.get(op.stepId) === op.json : op.op !== "threw" || memo.run.state === "failed";
  });
  if (!isSame) throw errors.CHECKPOINT_STALE({ runId, why: `it is ${memo.run.state}` });
}
