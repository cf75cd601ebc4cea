// The store's ceiling: the same rows and commits as a run of three steps, with no engine, no CEL and no user code around them.

import type { NewStep } from "../packages/idem/modules/store/advance.js";
import type { Store } from "../packages/idem/modules/store/store.js";
import { nodePlatform, UlidSource } from "./engine.ts";
import { shuffled } from "./measure.ts";

const env = "default";
const worker = "bench-worker";

const step = (stepId: string, name: string): NewStep => ({
  stepId,
  name,
  repeat: 0,
  kind: "run",
  outcome: { kind: "value", json: "1" },
  attempt: 1,
  startedAt: 1,
  endedAt: 2,
});

const steps = [
  step("86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", "a"),
  step("e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98", "b"),
  step("84a516841ba77a5b4648de2cd0dfcb30ea46dbb4", "c"),
];

export async function ceilingOf(store: Store, key: boolean): Promise<(n: number) => Promise<void>> {
  const ids = new UlidSource(
    () => nodePlatform.wallMs(),
    (count) => nodePlatform.randomBytes(count),
  );
  await store.heartbeat(worker, 3_600_000);
  return async (n) => {
    const eventId = ids.next();
    const runId = ids.next();
    await store.ingest({
      env,
      registration: null,
      leaseTo: worker,
      events: [
        {
          id: eventId,
          callerId: null,
          windowMs: 0,
          name: "bench/run",
          data: `{"n":${n}}`,
          ts: nodePlatform.wallMs(),
          extra: null,
          sourceRunId: null,
        },
      ],
      pairs: [
        {
          kind: "start",
          event: 0,
          fn: "bench-three-steps",
          runId,
          key: key ? String(shuffled(n)) : null,
          windowMs: 86_400_000,
          hold: false,
          subject: String(n),
          generation: eventId,
          rank: n,
          dueAt: null,
          leaseTo: worker,
          reason: null,
          flow: null,
        },
      ],
    });
    const job = { env, worker, runId, jobId: runId, fence: 1, attempts: [], waits: [], ingest: null, seen: 0 };
    for (const each of steps) {
      await store.advance({ ...job, steps: [each], next: { kind: "continue", collect: false } });
    }
    const next = { kind: "end", state: "completed", result: `{"n":${n},"c":3}`, releaseKey: false } as const;
    await store.advance({ ...job, steps: [], next });
  };
}
