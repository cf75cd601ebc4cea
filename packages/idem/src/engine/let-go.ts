// A leased run whose code is no longer reached from here goes back, due at once, for a process that reaches it: an app's worker may
// have left while the lease was on its way.
import type { LeasedJob } from "../store/leases.ts";
import { persist } from "./persist.ts";
import type { WorkerOptions } from "./worker.ts";

// Nothing is news to a worker that does not go on with it: the next memo has it.
const allSeen = Number.MAX_SAFE_INTEGER;

export async function letGo(
  job: Extract<LeasedJob, { kind: "run" }>,
  heldBy: string,
  isHeld: () => boolean,
  { store, env, platform, time }: WorkerOptions,
): Promise<void> {
  const write = () =>
    store.advance({
      env,
      worker: heldBy,
      runId: job.memo.run.id,
      jobId: job.jobId,
      fence: job.fence,
      steps: [],
      attempts: [],
      waits: [],
      ingest: null,
      seen: allSeen,
      next: { kind: "suspend", dueAt: time.reached() },
    });
  await persist(platform, write, isHeld);
}
