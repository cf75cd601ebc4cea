// A run that the store itself cancelled, to make room for one that takes its place: its end is announced as if a
// person had cancelled it. The ids of the events are made of the run's, so a second announcement is a repeat.
import { deferredEvents } from "../execute/deferred.ts";
import { derivedUlid } from "../model/ulid.ts";
import type { NestedIngest } from "../store/advance.ts";
import type { Ingested } from "../store/ingest.ts";
import type { LeasedJob } from "../store/leases.ts";
import { endEvents } from "./end-events.ts";
import { persist } from "./persist.ts";
import { decideSends, planNested, RunIds } from "./prepare-ingest.ts";
import { tellEnd } from "./tell-run.ts";
import type { Worker, WorkerOptions } from "./worker.ts";

export type AnnounceJob = Extract<LeasedJob, { kind: "announce" }>;

export async function announceEnd(job: AnnounceJob, worker: Worker, options: WorkerOptions): Promise<Ingested | null> {
  const { store, env, registry, platform, newId } = options;
  const { run, event, events, steps } = job.memo;
  const runIds = new RunIds(newId);
  const idOf = (n: number) => derivedUlid(run.endedAt ?? run.createdAt, JSON.stringify([env, run.id, n]));
  const mayGoOn = () => worker.takesDeliveries !== null;
  let said = 0;
  const made = { newId: () => idOf(2 + said++), now: options.time.now() };
  const putOff = { runId: run.id, env, fn: run.fn, subject: run.subject, generation: run.generation };
  const deferred = deferredEvents(steps, putOff, made);
  for (;;) {
    const ended = { id: run.id, fn: run.fn, event, events };
    const sends = await decideSends(deferred, worker.prepare(), runIds, options.turns);
    const told = endEvents(ended, "cancelled", run.result!, [idOf(0), idOf(1)], worker.prepare(), runIds);
    const { ingest } = planNested(sends, [], told, worker.prepare());
    const heard = ingest === null ? null : await onlyHeard(ingest, options);
    const answer =
      heard === null ? null : await persist(platform, () => store.ingest({ env, ...heard, leaseTo: null }), mayGoOn);
    if (answer?.kind === "stale-registration") {
      await registry.refresh();
      continue;
    }
    const end = {
      env,
      jobId: job.jobId,
      fence: job.fence,
      waits: [],
      outcome: { kind: "value", json: "null" },
    } as const;
    const over = await persist(platform, () => store.resume(end), mayGoOn);
    if (over.kind === "resumed") tellEnd("cancelled", run.result!, job.memo, options);
    return answer;
  }
}

/** Without the events that have no listener. */
async function onlyHeard(nested: NestedIngest, { store, env }: WorkerOptions): Promise<NestedIngest | null> {
  const position = new Map<number, number>();
  const events: NestedIngest["events"][number][] = [];
  for (const [i, { ifAwaited, ...event }] of nested.events.entries()) {
    if (ifAwaited === true && (await store.reads.waitPaths(env, event.name)).length === 0) continue;
    position.set(i, events.length);
    events.push(event);
  }
  if (events.length === 0) return null;
  const pairs = nested.pairs.flatMap((pair) => {
    const event = position.get(pair.event);
    return event === undefined ? [] : [{ ...pair, event }];
  });
  return { registration: nested.registration, events, pairs };
}
