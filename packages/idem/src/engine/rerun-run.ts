// A person asks for a new run from an old one; its id. Limits and cancelling events hold for it as they are configured now.

import { needsLane } from "../flow/lane.ts";
import { planFlow, type StartFlow } from "../flow/plan.ts";
import { errors } from "../model/errors.ts";
import { payloadOf } from "../model/event.ts";
import type { ByHand } from "../store/audit.ts";
import type { Engine } from "./engine.ts";
import type { RegisteredTarget } from "./registry.ts";
import { dataOfRerun } from "./rerun-data.ts";
import { type RerunOptions, rerunFrom } from "./rerun-from.ts";

export async function rerunRun(engine: Engine, runId: string, options: RerunOptions): Promise<string> {
  const { store, env, registry, worker } = engine;
  const run = await store.reads.run(env, runId);
  if (run === null) throw errors.RUN_UNKNOWN({ runId });
  const { fn } = run;
  const target = registry.get(fn);
  const isRemote = target?.config.runtime !== undefined;
  // The memo can be megabytes; only a rerun from a step or with other data needs it.
  const isWhole = options.fromStep === undefined && options.input === undefined && options.data === undefined;
  const memo = isWhole ? null : await store.reads.runMemo(env, runId);
  const from = memo === null ? null : rerunFrom(memo, isRemote, options);
  const data = memo === null || options.data === undefined ? null : await dataOfRerun(engine, memo, options.data);
  const flow = target === null ? null : await flowOf(engine, { ...target, fn }, runId, data);
  const leaseTo = worker.reserve(fn);
  try {
    const newRunId = options.newRunId ?? engine.newId();
    const rank = engine.now();
    const lane = flow?.lane ?? null;
    const cancelOn = flow?.cancelOn ?? [];
    const begins = { ...(from === null ? {} : { from }), ...(data === null ? {} : { data }) };
    const input = {
      env,
      runId,
      newRunId,
      rank,
      leaseTo,
      code: target?.code ?? null,
      lane,
      cancelOn,
      byHand: noted(options, newRunId),
      ...begins,
    };
    const answer = await store.rerun(input).catch((error) => {
      if (leaseTo !== null) worker.names.doubt(leaseTo, error);
      throw error;
    });
    if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId });
    if (answer.leased !== null) worker.take([answer.leased], leaseTo);
    else worker.poke();
    return answer.runId;
  } finally {
    if (leaseTo !== null) worker.unreserve(1);
  }
}

/** The old run's entry leads to the new one. */
function noted({ byHand, fromStep, data }: RerunOptions, newRunId: string): ByHand | undefined {
  if (byHand === undefined) return undefined;
  const how = fromStep !== undefined ? `from step ${fromStep}, ` : data !== undefined ? "with other data, " : "";
  return { ...byHand, reason: `${how}as ${newRunId}` };
}

/** The flow options that a run of this event has to pass now; most functions have none. */
async function flowOf(
  engine: Engine,
  target: RegisteredTarget,
  runId: string,
  data: string | null,
): Promise<StartFlow | null> {
  if (!needsLane(target.config) && target.config.cancelOn === undefined) return null;
  const memo = await engine.store.reads.runMemo(engine.env, runId);
  if (memo === null) return null;
  const event = data === null ? memo.event : { ...memo.event, data };
  const of = { env: engine.env, fn: target.fn, config: target.config };
  return planFlow(of, { ...event, payload: payloadOf(event) }, engine.expressions, false).flow;
}
