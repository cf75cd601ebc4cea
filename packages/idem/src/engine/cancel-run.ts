// Cancelling a run on request. Its code is stopped where this process executes it; where another does, that one hears of it
// from the store, and whatever it still brings is refused.
import { deferredEvents } from "../execute/deferred.ts";
import { serializeError } from "../model/user-errors.ts";
import type { ByHand } from "../store/audit.ts";
import type { CancelAnswer } from "../store/runs.ts";
import { endEvents } from "./end-events.ts";
import type { Engine } from "./engine.ts";
import { decideSends, planNested, RunIds } from "./prepare-ingest.ts";
import { tellEnd } from "./tell-run.ts";

export type Cancelled = Exclude<CancelAnswer, { kind: "stale-registration" }>;

export async function cancelRun(
  engine: Engine,
  runId: string,
  reason: string,
  /** Absent where no person asked. */
  byHand?: ByHand,
): Promise<Cancelled> {
  const { store, env, registry, worker } = engine;
  const newId = () => engine.newId();
  const memo = await store.reads.runMemo(env, runId);
  if (memo === null) return { kind: "unknown" };
  const result = serializeError(Object.assign(new Error(reason), { name: "CancelledError", stack: undefined }));
  const releaseKey = registry.get(memo.run.fn)?.config.idempotency?.afterFailure === "release";
  const runIds = new RunIds(newId);
  const eventIds = [newId(), newId()];
  const { fn, subject, generation } = memo.run;
  const deferred = deferredEvents(memo.steps, { runId, env, fn, subject, generation }, { newId, now: engine.now() });
  const pass = worker.activePass(runId) ?? worker.sweeping?.activePass(runId);
  let open = () => {};
  pass?.hold(
    new Promise((resolve) => {
      open = resolve;
    }),
  );
  try {
    for (;;) {
      const ended = { id: runId, fn, event: memo.event, events: memo.events };
      const sends = await decideSends(deferred, worker.prepare(), runIds, engine.turns);
      const told = endEvents(ended, "cancelled", result, eventIds, worker.prepare(), runIds);
      const { ingest } = planNested(sends, [], told, worker.prepare());
      const answer = await store.cancel({ env, runId, result, releaseKey, ingest, byHand });
      if (answer.kind === "stale-registration") {
        await registry.refresh();
        continue;
      }
      if (answer.kind === "cancelled") {
        worker.cancel(runId);
        worker.takeIn(answer.ingested, null);
        worker.wake(answer.woken);
        if (answer.freed) worker.slotsFreed();
        engine.ends.announce(runId, { state: "cancelled", result });
        tellEnd("cancelled", result, memo, engine);
      }
      return answer;
    }
  } finally {
    open();
  }
}
