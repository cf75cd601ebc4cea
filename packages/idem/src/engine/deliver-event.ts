// An event reaches the runs that wait for it and those it cancels. Everything here may be done twice: a wait that is gone stays as
// it was decided, a run that has ended stays ended.
import { payloadOf } from "../model/event.ts";
import { cancelledBy, type PayloadOfRun, probesOf, wokenBy } from "../schedule/wake-waits.ts";
import type { WokenRun } from "../store/advance.ts";
import type { LeasedJob } from "../store/leases.ts";
import { persist } from "./persist.ts";
import type { WorkerOptions } from "./worker.ts";

export type DeliverJob = Extract<LeasedJob, { kind: "deliver" }>;

// As many as share a commit without holding up others.
const cancelledAtOnce = 50;

const payloadOfRun: PayloadOfRun = ({ event }) => payloadOf(event);

export async function deliverEvent(
  job: DeliverJob,
  { store, env, expressions, turns, platform, cancelRun }: WorkerOptions,
  mayGoOn: () => boolean,
): Promise<readonly WokenRun[]> {
  const { event } = job;
  const payload = payloadOf(event);
  const paths = await store.reads.waitPaths(env, event.name);
  const probes = probesOf(payload, paths);
  const candidates = await store.reads.waitCandidates(env, event.id, probes);
  const woken = await wokenBy(payload, candidates, payloadOfRun, { expressions, turns });
  const rules = await store.reads.cancelCandidates(env, event.id, probes);
  const cancelled = await cancelledBy(payload, rules, payloadOfRun, { expressions, turns });
  for (let i = 0; i < cancelled.length; i += cancelledAtOnce) {
    const some = cancelled.slice(i, i + cancelledAtOnce);
    await Promise.all(some.map((runId) => cancelRun(runId, `cancelled by event ${event.id} (${event.name})`)));
  }
  const before = platform.point("deliver:before-commit");
  if (before !== undefined) await before;
  const write = () =>
    store.resume({
      env,
      jobId: job.jobId,
      fence: job.fence,
      waits: woken.map(({ runId, stepId }) => ({ runId, stepId })),
      outcome: { kind: "value", json: JSON.stringify(payload) },
    });
  const answer = await persist(platform, write, mayGoOn);
  const after = platform.point("deliver:after-commit");
  if (after !== undefined) await after;
  return answer.kind === "resumed" ? answer.woken : [];
}
