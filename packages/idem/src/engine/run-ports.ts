// What a pass needs from outside, for one leased run: the clock, ids, the store behind its fence.

import type { Code } from "../execute/function-code.ts";
import type { EffectStore, Patch, RunPorts, RunRoom } from "../execute/ports.ts";
import { payloadOf } from "../model/event.ts";
import { takeEquality } from "../model/expression-equality.ts";
import type { NewLog } from "../model/log-line.ts";
import type { TracedRun } from "../observe/trace-run.ts";
import { noteTrace } from "../protocol/traceparent.ts";
import type { AdvanceAnswer } from "../store/advance.ts";
import type { LeasedJob, RunMemo } from "../store/leases.ts";
import { annotateRun } from "./annotate-run.ts";
import { endEvents } from "./end-events.ts";
import { outgoingEvents } from "./outgoing-events.ts";
import { persist } from "./persist.ts";
import {
  decideSends,
  eventsOfSends,
  invokedEvent,
  noSends,
  planNested,
  RunIds,
  type SentEvents,
} from "./prepare-ingest.ts";
import { raiseDiverged } from "./raise-diverged.ts";
import { tellAdvanced } from "./tell-run.ts";
import type { Worker, WorkerOptions } from "./worker.ts";

const none: readonly never[] = [];

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
    advance: (patch, seen, log) => advance(job, heldBy, { ...patch, seen, log }, { code, trace }, worker, options),
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

async function advance(
  job: RunJob,
  heldBy: string,
  patch: Patch & { readonly seen: number; readonly log: NewLog | null },
  { code, trace }: { readonly code: Code; readonly trace: TracedRun | null },
  worker: Worker,
  options: WorkerOptions,
): Promise<AdvanceAnswer> {
  const { store, platform, env, newId, registry, time } = options;
  const { memo } = job;
  const runIds = new RunIds(newId);
  const endIds = [newId(), newId()];
  const attempts = patch.attempts?.map(({ counted: _counted, ...attempt }) => attempt) ?? none;
  for (;;) {
    // Decided first, and only waited for where there are any: what is asked of the store stays in the order of asking.
    const sends = patch.sends ?? none;
    const sent = sends.length === 0 ? null : await decideSends(sends, worker.prepare(), runIds, options.turns);
    const nested = nestedOf(memo, patch, sent, { runIds, endIds, trace }, worker);
    const askedMono = platform.monoMs();
    let tries = 0;
    const write = () => {
      tries++;
      return store.advance({
        env,
        worker: heldBy,
        runId: memo.run.id,
        jobId: job.jobId,
        fence: job.fence,
        steps: patch.steps ?? [],
        attempts,
        waits: nested.waits,
        ingest: nested.ingest,
        seen: patch.seen,
        ...(patch.log === null ? {} : { log: patch.log }),
        next: patch.next,
      });
    };
    const answer = await persist(platform, write, () => worker.names.holds(heldBy));
    if (answer.kind === "stale-registration") {
      await registry.refresh();
      continue;
    }
    if (answer.kind === "advanced") {
      time.note(askedMono, answer.now);
      if (patch.next.kind === "end") {
        const point = platform.point("finish:after-commit");
        if (point !== undefined) await point;
      }
      worker.takeIn(answer.ingested, null);
      if (trace !== null && answer.ingested !== null) {
        options.traces.decided(nested.ingest?.events ?? none, answer.ingested.decisions);
      }
      worker.wake(answer.woken);
      if (answer.freed) worker.poke();
      tellAdvanced(patch, answer, memo, code, options);
      const failed = (what: string, error: unknown) => options.telling.logger.warn(`idem: ${what} failed`, error);
      raiseDiverged(patch, memo.run, { store, env, newId, failed });
    }
    // A run that was given back knows its fence no more: the try whose answer was lost may have been the one that counted.
    if (answer.kind === "fenced" && tries > 1) tellAdvanced(patch, null, memo, code, options);
    return answer;
  }
}

function nestedOf(
  memo: RunMemo,
  patch: Patch,
  sent: SentEvents | null,
  {
    runIds,
    endIds,
    trace,
  }: { readonly runIds: RunIds; readonly endIds: readonly string[]; readonly trace: TracedRun | null },
  worker: Worker,
) {
  const waits = patch.waits ?? [];
  const { next } = patch;
  if (sent === null && waits.length === 0 && next.kind !== "end") return { waits: [], ingest: null };
  const prepare = worker.prepare();
  const { event, events } = memo;
  const run = { id: memo.run.id, fn: memo.run.fn, event, events, traceparent: trace?.traceparent ?? null };
  const ended = next.kind === "end" ? endEvents(run, next.state, next.result, endIds, prepare, runIds) : null;
  return planNested(sent ?? noSends(prepare), waits, ended, prepare);
}
