// The store at the end, through its own reads, opened read-only.
import { join } from "node:path";
import type { EngineUnderTest, RunMemo } from "./engine.ts";

export type StoredEvent = RunMemo["event"];

export interface StoredDecision {
  readonly eventId: string;
  readonly fn: string;
  readonly kind: string;
  readonly runId: string | null;
  readonly key: string | null;
  readonly firstEventId: string | null;
}

export interface StoreFacts {
  readonly events: ReadonlyMap<string, StoredEvent>;
  readonly decisions: ReadonlyMap<string, readonly StoredDecision[]>;
  readonly runs: ReadonlyMap<string, RunMemo>;
  /** What integrity_check says; empty when all is well. */
  readonly damage: readonly string[];
  readonly jobless: readonly string[];
  readonly openJobs: number;
}

const env = "default";
const pageSize = 1_000;

export async function readStore(folder: string, engine: EngineUnderTest): Promise<StoreFacts> {
  const { store, connection } = engine.openReadOnlyStore({
    path: join(folder, "idem.db"),
    migrations: engine.migrations,
    clock: engine.nodePlatform,
  });
  const { reads } = store;
  try {
    const events = new Map<string, StoredEvent>();
    const decisions = new Map<string, readonly StoredDecision[]>();
    for await (const event of everyPage((page) => reads.events(env, page))) {
      events.set(event.id, event);
      decisions.set(event.id, await reads.decisionsOfEvent(env, event.id));
    }
    const runs = new Map<string, RunMemo>();
    for await (const run of everyPage((page) => reads.runs(env, page))) {
      runs.set(run.id, (await reads.runMemo(env, run.id))!);
    }
    const { queued, running, waiting } = await reads.counts(env);
    return {
      events,
      decisions,
      runs,
      damage: engine.health.checkIntegrity(connection, "full"),
      jobless: engine.health.runsWithoutJob(connection, env, 100).map(({ runId }) => runId),
      openJobs: queued + running + waiting,
    };
  } finally {
    await store.close();
  }
}

async function* everyPage<T extends { readonly id: string }>(
  read: (page: { limit: number; before?: string }) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  for (let before: string | undefined; ; ) {
    const page = await read({ limit: pageSize, ...(before === undefined ? {} : { before }) });
    yield* page;
    if (page.length < pageSize) return;
    before = page.at(-1)!.id;
  }
}
