// Starting a run that an app has already begun and named: a durable endpoint's handler runs its first step before this
// engine hears of the run. It is born leased here whatever else runs, where anything is executed at all: it is executed elsewhere and costs no slot's worth of work.

import { acceptEvent } from "../ingest/accept-events.ts";
import { openRun } from "../ingest/open-runs.ts";
import { errors } from "../model/errors.ts";
import { payloadOf } from "../model/event.ts";
import type { Engine } from "./engine.ts";
import { limits } from "./limits.ts";

export interface RunToStart {
  readonly runId: string;
  /** Made from the run's id: the same asking again is the same event. */
  readonly eventId: string;
  readonly fn: string;
  readonly event: { readonly name: string; readonly data: unknown };
}

/** The reason why it was not started, or null. Not to be called for a run that is known to exist. */
export async function startRunAs(engine: Engine, { runId, eventId, fn, event }: RunToStart): Promise<string | null> {
  const { store, env, registry, worker, expressions } = engine;
  const facts = { eventId, now: engine.now(), windowMs: 0, sourceRunId: null, allowReserved: true };
  const accepted = acceptEvent(event, "The request", facts, limits);
  for (;;) {
    const target = registry.get(fn);
    if (target === null) throw errors.FUNCTION_UNKNOWN({ function: fn });
    const leaseTo = worker.takesDeliveries;
    if (leaseTo === null && engine.executes) throw errors.SERVER_BUSY({ why: "it is starting or stopping" });
    const payload = payloadOf(accepted);
    const occasion = {
      event: 0,
      payload,
      written: accepted,
      eventId,
      invokedBy: null,
      runId,
      env,
      now: facts.now,
      leaseTo,
    };
    const pair = openRun(target, [], occasion, expressions);
    const input = { env, registration: registry.registration, events: [accepted], pairs: [pair], leaseTo };
    const answer = await store.ingest(input).catch((error) => {
      if (leaseTo !== null) worker.names.doubt(leaseTo, error);
      throw error;
    });
    if (answer.kind === "stale-registration") {
      await registry.refresh();
      continue;
    }
    worker.takeIn(answer, leaseTo);
    const [decision] = answer.decisions;
    return decision?.kind === "started" ? null : (decision?.reason ?? "no run was started");
  }
}
