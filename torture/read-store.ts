// The store at the end, through its own reads.
import { join } from "node:path";
import type { EngineUnderTest, RunMemo, StoreReads } from "./engine.ts";

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
  /** The findings of the store's own check of its integrity; empty when all is well. */
  readonly damage: readonly string[];
  readonly jobless: readonly string[];
  readonly openJobs: number;
  /** Alerts that the store lost acknowledged writes. */
  readonly losses: readonly string[];
}

export const env = "default";
const pageSize = 1_000;
// Look-ups of different rows do not wait for each other where the store is a server.
const readsAtOnce = 8;

export async function readStore(folder: string, engine: EngineUnderTest): Promise<StoreFacts> {
  const { store, connection } = engine.openReadOnlyStore({
    path: join(folder, "idem.db"),
    migrations: engine.migrations,
    clock: engine.nodePlatform,
  });
  try {
    return await readFacts(store.reads, {
      damage: engine.health.checkIntegrity(connection, "full"),
      jobless: engine.health.runsWithoutJob(connection, env, 100).map(({ runId }) => runId),
    });
  } finally {
    await store.close();
  }
}

export async function readFacts(
  reads: StoreReads,
  health: Pick<StoreFacts, "damage" | "jobless">,
): Promise<StoreFacts> {
  const events = new Map<string, StoredEvent>();
  const decisions = new Map<string, readonly StoredDecision[]>();
  for await (const event of everyPage((page) => reads.events(env, page))) events.set(event.id, event);
  await forEach([...events.keys()], async (id) => {
    decisions.set(id, await reads.decisionsOfEvent(env, id));
  });
  const runIds: string[] = [];
  for await (const { id } of everyPage((page) => reads.runs(env, page))) runIds.push(id);
  const runs = new Map<string, RunMemo>();
  await forEach(runIds, async (id) => {
    runs.set(id, (await reads.runMemo(env, id))!);
  });
  const { queued, running, waiting } = await reads.counts(env);
  const alerts = await reads.alerts(env, { fn: "", limit: pageSize });
  const losses = alerts.filter(({ kind }) => kind === "store-rollback").map(({ id, about }) => `alert ${id}: ${about}`);
  return { events, decisions, runs, ...health, openJobs: queued + running + waiting, losses };
}

async function forEach(ids: readonly string[], read: (id: string) => Promise<void>): Promise<void> {
  const left = [...ids];
  const work = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await read(id);
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
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
