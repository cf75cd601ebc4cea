// What a pass needs from outside, for one leased run: the clock, ids, the store behind its fence.

import type { Code } from "../execute/function-code.ts";
import type { EffectStore, RunPorts, RunRoom } from "../execute/ports.ts";
import { payloadOf } from "../model/event.ts";
import { takeEquality } from "../model/expression-equality.ts";
import type { TracedRun } from "../observe/trace-run.ts";
import { noteTrace } from "../protocol/traceparent.ts";
import type { LeasedJob } from "../store/leases.ts";
import { AdvanceRun } from "./advance-run.ts";
import { annotateRun } from "./annotate-run.ts";
import { outgoingEvents } from "./outgoing-events.ts";
import { persist } from "./persist.ts";
import { eventsOfSends, invokedEvent } from "./prepare-ingest.ts";
import type { Worker, WorkerOptions } from "./worker.ts";

export type RunJob = Extract<LeasedJob, { kind: "run" }>;

export function runPorts(
  job: RunJob,
  heldBy: string,
  code: Code,
  { room, trace }: { readonly room: RunRoom; readonly trace: TracedRun | null },
  worker: Worker,
  options: WorkerOptions,
): RunPorts {
  const { platform, time, newId, random, expressions, env } = options;
  const { transactional } = options.store;
  const runId = job.memo.run.id;
  const held = { job, heldBy, code, trace, worker, options };
  return {
    dispatch: { jobId: job.jobId, generation: job.fence },
    reportsElsewhere: options.store.shared !== null,
    room,
    ...(trace === null ? {} : { trace }),
    plans: worker.plans,
    now: () => time.now(),
    reached: () => time.reached(),
    random,
    newId,
    stepId: (name, repeat) => worker.stepIds.of(name, repeat),
    soon: (run) => platform.soon(run),
    timer: (ms, run) => platform.timer(ms, run),
    point: (name) => platform.point(name),
    fetch: (request) => platform.fetch(request),
    isHeld: () => worker.names.mayBegin(heldBy),
    keepsLogs: options.keepsLogs,
    advance: (patch, seen, log) => new AdvanceRun(held, patch, seen, log).ask(),
    ...(transactional === null
      ? {}
      : {
          transact: (body) =>
            transactional.run({ env, worker: heldBy, runId, jobId: job.jobId, fence: job.fence }, body),
        }),
    effects: effectStore(heldBy, worker, options),
    acceptSends: async (sends) => {
      const events = await outgoingEvents(sends.events, code.middleware, options.checkEvents);
      const accepted = eventsOfSends({ ...sends, events }, runId, worker.prepare());
      const { traceparent } = sends;
      return traceparent === null ? accepted : accepted.map((event) => noteTrace(event, traceparent));
    },
    acceptInvoked: (invoked) => {
      const { fn } = job.memo.run;
      const app = options.registry.get(fn)?.app ?? "";
      const event = invokedEvent(invoked, { runId, fn, app }, worker.prepare());
      return trace === null ? event : noteTrace(event, trace.traceparent);
    },
    checkExpression: (expression) => {
      expressions.get(expression);
    },
    // Of the event as it was stored: user code may have changed what it was given.
    takeEquality: (text) => takeEquality(expressions.get(text), payloadOf(job.memo.event)),
    signal: (signal, json) => worker.signal(signal, json),
    annotate: (changes) =>
      persist(
        platform,
        () => annotateRun({ store: options.store, env, logger: options.telling.logger }, runId, changes),
        () => worker.names.holds(heldBy),
      ),
  };
}

/** What is asked of the store is asked until it answers, as long as the run is this worker's. */
function effectStore(heldBy: string, worker: Worker, { store, platform, env, telling }: WorkerOptions): EffectStore {
  const kept = <T>(write: () => Promise<T>) => persist(platform, write, () => worker.names.holds(heldBy));
  return {
    claim: (input) => kept(() => store.claim({ ...input, env, fingerprint: null })),
    extend: (input) => kept(() => store.extend({ ...input, env })),
    settle: (scope, key, fence, outcome) => kept(() => store.settle(env, scope, key, fence, outcome)),
    release: (input) => kept(() => store.release({ ...input, env })),
    report: (what) => telling.logger.error(`idem: ${what}`),
  };
}
