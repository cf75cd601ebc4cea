// The engine's part of the user's database where its store is there, too: events of `send({ tx })`, steps of `step.transaction`. The world's store is in
// memory, so both stand in tables beside the user's, written by the user's own transactions.
import { createRequire } from "node:module";
import { join } from "node:path";
import type { ClientBase, Pool, PoolClient } from "pg";
import { Connection } from "../../../store/postgres/connection.ts";
import { guardClient } from "../../../store/postgres/guarded-client.ts";
import { Outbox } from "../../../store/postgres/outbox.ts";
import { Statements } from "../../../store/postgres/statement.ts";
import { storeIdName } from "../../../store/postgres/store-id.ts";
import type { Store } from "../../../store/store.ts";
import type { StoreTransactions, Transacted, TransactInput } from "../../../store/transactional.ts";
import { asMachine } from "../caller.ts";
import type { Life } from "../life.ts";
import { onWorldTime, worldSchema } from "./postgres-clock.ts";
import type { Ask } from "./postgres-rows.ts";

/** As the store's own migrations make them, as far as they are used. */
const tablesSql = `
  create table if not exists ${worldSchema}.meta (name text primary key, value text not null);
  insert into ${worldSchema}.meta values ('${storeIdName}', 'world') on conflict do nothing;
  create table if not exists ${worldSchema}.outbox (
    env text not null, id text not null, entry text not null, created_at bigint not null, taken_until bigint not null default 0,
    tries integer not null default 0, parked text, primary key (env, id));
  create table if not exists ${worldSchema}.steps (
    run_id text not null, step_id text not null, outcome text not null, primary key (run_id, step_id))`;

export const openEngineTables = async (ask: Ask): Promise<void> => void (await ask(tablesSql));
export const emptyEngineTables = `delete from ${worldSchema}.outbox; delete from ${worldSchema}.steps`;
export const queuedSql = `select 1 from ${worldSchema}.outbox where parked is null limit 1`;

const noteStepSql = `insert into ${worldSchema}.steps values ($1, $2, $3) on conflict do nothing returning step_id`;
const findStepSql = `select outcome from ${worldSchema}.steps where run_id = $1 and step_id = $2`;

export interface EngineDatabase {
  readonly address: string;
  readonly ask: Ask;
  /** On the machine's own time, noted as this process's. */
  readonly asDriver: <T>(life: Life, body: () => T) => T;
}

export type EngineParts = Pick<Store, "outbox" | "transactional">;

/** Of one process; `store` is the world's, as that process sees it. */
export function engineParts(database: EngineDatabase, life: Life, store: Store): EngineParts {
  const { ask } = database;
  const meanwhile = async <T>(body: () => Promise<T>): Promise<T> => {
    await life.pass();
    const end = life.options.home.begin(life);
    try {
      const value = await body();
      await life.pass();
      return value;
    } finally {
      end();
    }
  };
  const client = {
    query: ({ text, values }: { text: string; values?: unknown[] }) =>
      asMachine(async () => ({ rows: await ask(onWorldTime(text), values ?? []) })),
  };
  const outbox = new Outbox({
    pool: client as unknown as Pool,
    connection: new Connection(client as unknown as ClientBase, new Statements(worldSchema), false, true),
    transactions: { untilKnown: (body) => body() },
    schema: worldSchema,
    where: "the database of the world",
  });
  return {
    outbox: {
      put: (tx, env, events) => outbox.put(tx, env, events),
      take: (input) => meanwhile(() => outbox.take(input)),
      done: (env, ids) => meanwhile(() => outbox.done(env, ids)),
      park: (env, id, why) => meanwhile(() => outbox.park(env, id, why)),
    },
    transactional: { run: (input, body) => transact(database, life, store, input, body) },
  };
}

/** The driver of the program's, which is watched. */
function watchedPg(): { readonly Client: new (options: object) => PoolClient & { end(): Promise<void> } } {
  for (const from of [join(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return createRequire(from)("pg") as ReturnType<typeof watchedPg>;
    } catch {
      // From the next place.
    }
  }
  throw new Error("step.transaction asks PostgreSQL by the package pg: npm install pg");
}

/**
 * The body, then the step in a row of the same commit, then in the world's store. A process that dies between the last two enters the body again, and is
 * undone at the row.
 */
async function transact(
  { address, ask, asDriver }: EngineDatabase,
  life: Life,
  store: Store,
  input: TransactInput,
  body: Parameters<StoreTransactions["run"]>[1],
): Promise<Transacted> {
  const { env, worker, runId, jobId, fence } = input;
  const client = new (watchedPg().Client)({ connectionString: address });
  client.on("error", () => {});
  const held = { env, worker, runId, jobId, fence, attempts: [], waits: [], ingest: null, seen: 0 };
  const next = { kind: "continue", collect: true } as const;
  await client.connect();
  try {
    await client.query("begin");
    const guarded = guardClient(client);
    const step = await body(guarded.tx).finally(() => guarded.close());
    const own = <T>(run: () => Promise<T>): Promise<T> => Promise.resolve(asDriver(life, run));
    const holds = await store.advance({ ...held, steps: [], next: { kind: "continue", collect: false } });
    if (holds.kind === "fenced" || holds.kind === "ended") return holds;
    const values = [runId, step.stepId, JSON.stringify(step.outcome)];
    const noted = await own(() => client.query(noteStepSql, values));
    const found = (): Promise<Record<string, unknown>[]> => asMachine(() => ask(findStepSql, [runId, step.stepId]));
    let { outcome } = step;
    if (noted.rows.length === 0) {
      await own(() => client.query("rollback"));
      outcome = JSON.parse(String((await found())[0]?.outcome)) as typeof outcome;
    } else {
      try {
        await client.query("commit");
      } catch (error) {
        if ((await found()).length === 0) throw error;
      }
    }
    const recorded = await store.advance({ ...held, steps: [{ ...step, outcome }], next });
    if (recorded.kind !== "advanced") return recorded.kind === "ended" ? recorded : { kind: "fenced" };
    return { kind: "recorded", outcome: recorded.outcomes[0]!, stamp: recorded.stamps?.[0] ?? recorded.seen };
  } finally {
    void client.end().catch(() => {});
  }
}
