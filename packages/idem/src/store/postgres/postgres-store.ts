// The store on PostgreSQL, shared by any number of nodes.
import type { Pool } from "pg";
import { waitAtMost } from "../../platform/wait-at-most.ts";
import type { StoreRollback } from "../history.ts";
import type { StoreReads } from "../reads.ts";
import { ruledCalls, type ruledOperations } from "../rules/operations.ts";
import { readMemo } from "../rules/read-memo.ts";
import { claimAt } from "../rules/reads.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { BeatsOptions } from "../sharing.ts";
import type { Store, StoreWrites } from "../store.ts";
import { readAddress, withoutPassword } from "./address.ts";
import { advanceRun } from "./advance-run.ts";
import { type BeatsPlatform, SharedBeats } from "./beats.ts";
import { checkServer, refuseDistributed, tellServer } from "./check-server.ts";
import { Connection } from "./connection.ts";
import { Hints } from "./hints.ts";
import { HeartbeatWatch, PostgresHistory } from "./history-watch.ts";
import { HotCalls, LoneCalls } from "./hot-calls.ts";
import { hotReads } from "./hot-reads.ts";
import { ingestCall } from "./ingest-batch.ts";
import { leaseJobs } from "./lease-jobs.ts";
import { checkSchema, migrate, readHistory } from "./migrate.ts";
import { loadMigrations } from "./migrations.ts";
import { refuseHalfMoved } from "./moving-mark.ts";
import { openingFault, refuseUnsetSession, tryTransaction } from "./opening-fault.ts";
import { Outbox } from "./outbox.ts";
import { pruneInTurn } from "./prune-events.ts";
import { findClaim, pageSessionsOf, readsOver, withBoundedPages } from "./reads.ts";
import type { RecognisedServer } from "./recognise-server.ts";
import { Statistics } from "./refresh-statistics.ts";
import { RuleDatabase } from "./rule-database.ts";
import { type Pg, Sessions } from "./sessions.ts";
import { Statements } from "./statement.ts";
import { StepTransactions } from "./step-transaction.ts";
import { hintsOf } from "./tell-others.ts";
import type { Transaction } from "./transaction.ts";
import { Transactions, type TransactionsPlatform } from "./transactions.ts";
import { handBackJobs, heartbeatWorker, sweepStore } from "./workers.ts";

// What is not written by then is left out of the counts.
const lastCountsMs = 2_000;

type Operation = {
  [K in keyof StoreWrites]: (tx: Transaction, ...input: Parameters<StoreWrites[K]>) => ReturnType<StoreWrites[K]>;
};

const ruled = ruledCalls(driveAwaited) as Pick<Operation, keyof typeof ruledOperations>;

const operations: Operation = {
  ...ruled,
  ingest: ingestCall,
  lease: leaseJobs,
  advance: advanceRun,
  heartbeat: heartbeatWorker,
  handBack: handBackJobs,
  sweep: sweepStore,
  prune: pruneInTurn,
};

/** Without the statements that a batch runs ahead of its calls. */
const singleOperations: Operation = { ...operations, ingest: ruled.ingest };

/** Where nothing is found, nothing is told to anybody. */
const looks: ReadonlySet<keyof StoreWrites> = new Set(["lease", "sweep", "prune"]);

export interface PostgresStoreOptions {
  readonly url: string;
  readonly pg: Pg;
  readonly platform: TransactionsPlatform & BeatsPlatform;
  /** Who this is, for the server's list of sessions. */
  readonly owner: string;
  /** `attach`: what is there is used as it is, and nothing is made or migrated; for commands. */
  readonly mode?: "node" | "attach";
  /** Instead of the database's clock; for tests that move time by hand. */
  readonly wallMs?: () => number;
  /** Of the workers over it, from which its time-outs follow; the usual one unless given. */
  readonly leaseTermMs?: number;
  /** How long a call is retried while the server does not answer. */
  readonly retryMs?: number | undefined;
  /** Called while calls are retried, with the reason and how long one of them has been. */
  readonly onRetrying?: ((why: string, forMs: number) => void) | undefined;
  /** Aborted, opening ends at once. */
  readonly signal?: AbortSignal | undefined;
  /** Every call is a transaction of its own, decided by the operations in `rules`. Only the test that compares batches with them sets this. */
  readonly isUnbatched?: boolean;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const address = readAddress(options.url);
  const where = withoutPassword(options.url);
  const applicationName = `idem ${options.owner}`.slice(0, 63);
  const sessions = new Sessions({ ...options, address, applicationName });
  const pool = sessions.workers();
  let isPlain = false;
  let toTell: readonly string[] = [];
  const cut = () => void sessions.close(options.platform);
  options.signal?.addEventListener("abort", cut);
  try {
    options.signal?.throwIfAborted();
    const server = await checkServer(pool, where);
    isPlain = !server.hasHints || !address.hasHints;
    await (address.isPooled ? tryTransaction(pool) : refuseUnsetSession(pool, where));
    await prepareSchema(sessions, pool, options.mode ?? "node", address.schema, where, server);
    await refuseDistributed(server, pool, address.schema, where);
    await refuseHalfMoved(pool, address.schema, where);
    toTell = options.mode === "attach" ? [] : await tellServer(server, pool, address);
  } catch (error) {
    await sessions.close(options.platform);
    throw openingFault(error, where);
  } finally {
    options.signal?.removeEventListener("abort", cut);
  }
  const connection = new Connection(pool, new Statements(address.schema, isPlain), !address.isPooled);
  const { platform, wallMs, isUnbatched = false } = options;
  const { schema } = address;
  const { lockWaitMs } = sessions;
  const onDelivered = (env: string) => hints.tellAll({ env, kind: "queued" });
  const { retryMs: patienceMs, onRetrying } = options;
  const history = new PostgresHistory({
    platform,
    connection: connection.forReads(),
    untilKnown: (attempt) => transactions.untilKnown(attempt),
    write: (body) => transactions.run(body),
  });
  const onServer = options.mode === "attach" ? {} : { onServer: history.see };
  const transactions = new Transactions({
    pool,
    connection,
    schema,
    platform,
    wallMs,
    lockWaitMs,
    where,
    isPlain,
    onDelivered,
    patienceMs,
    onRetrying,
    ...onServer,
  });
  const beats = transactions.over(sessions.beats(), sessions.beatPatienceMs);
  const hints: Hints = new Hints({
    sessions,
    address,
    isOff: isPlain,
    toTell,
    platform,
    pool,
    stand: () => transactions.stand(),
  });
  const onRollback = (rollback: StoreRollback) => history.report({ kind: "rollback", rollback });
  const beating = new SharedBeats({ ...options, onRollback });
  const newId = () => Buffer.from(platform.randomBytes(15)).toString("base64url");
  const watch = new HeartbeatWatch(newId, onRollback);
  const transactional = new StepTransactions({ sessions, address, connection, transactions, where });
  const at = () => transactions.run((tx) => Promise.resolve(tx.at), "read");
  const claimNow: StoreReads["claimNow"] = (env, scope, key) =>
    transactions.runWith(
      (session) => findClaim(session, env, scope, key),
      async (tx, claim) => claimAt(claim, tx.at),
    );
  const lone = new LoneCalls();
  const reads = repeated(readsOver(connection.forReads(), at), transactions);
  const batchedReads = isUnbatched ? null : hotReads(reads, connection.forReads(), transactions, platform);
  const store: Record<string, unknown> = {
    reads: {
      ...boundedReads(withBoundedPages({ ...reads, claimNow }, pageSessionsOf(address.poolSize)), lone),
      ...batchedReads,
    },
    shared: Object.assign(hints, { history, beats: (asked: BeatsOptions) => beating.open(asked) }),
    outbox: new Outbox({ pool, connection, transactions, schema: address.schema, where }),
    transactional,
    close: async () => {
      await waitAtMost(platform, lastCountsMs, transactions.counts.flush());
      for (const each of [transactions, beats, transactional]) each.close();
      await Promise.all([beating.close(), hints.close()]);
      await sessions.close(platform);
    },
  };
  const statistics = new Statistics(pool, address.schema);
  const hot = isUnbatched ? null : new HotCalls(connection, transactions, statistics, options);
  const table = isUnbatched ? singleOperations : operations;
  for (const name of Object.keys(table) as (keyof StoreWrites)[]) {
    const operation = table[name] as (tx: Transaction, ...input: readonly unknown[]) => Promise<unknown>;
    // Who asks for a lease twice gets other jobs the second time: what the first one took would be nobody's.
    const isRepeatable = name !== "lease";
    const use = looks.has(name) ? "look" : "answer";
    store[name] = async (...input: unknown[]) => {
      const alone = () => lone.call(name, () => transactions.run((tx) => operation(tx, ...input), use, isRepeatable));
      const answer = await (hot?.take(name, input) ?? alone());
      for (const hint of hintsOf(name, input, answer)) hints.tell(hint);
      return answer;
    };
  }
  const heartbeat: Store["heartbeat"] = (worker, termMs, about) =>
    watch.count((row) => beats.run((tx) => heartbeatWorker(tx, worker, termMs, about, row)));
  return { ...store, heartbeat } as unknown as Store;
}

/** Only tables that are made or changed may take their time: a server that falls silent must not keep any other start waiting. */
async function prepareSchema(
  sessions: Sessions,
  pool: Pool,
  mode: "node" | "attach",
  schema: string,
  where: string,
  server: RecognisedServer,
): Promise<void> {
  const migrations = loadMigrations();
  if (mode === "attach") {
    await checkSchema(pool, schema, migrations, where);
    return;
  }
  const history = await readHistory(pool, schema, migrations, where).catch((error: unknown) => {
    // `migrate` has the words for a role that may not.
    if ((error as { code?: unknown }).code === "42501") return null;
    throw error;
  });
  if (history?.kind === "current") return;
  const patient = sessions.preparing();
  await migrate(patient, schema, migrations, where, server);
  await sessions.end(patient);
}

function boundedReads(reads: StoreReads, lone: LoneCalls): StoreReads {
  const bounded: Record<string, unknown> = {};
  for (const name of Object.keys(reads) as (keyof StoreReads)[]) {
    const read = reads[name] as (...input: readonly unknown[]) => Promise<unknown>;
    bounded[name] = (...input: unknown[]) => lone.call(name, () => read(...input));
  }
  return bounded as unknown as StoreReads;
}

/** A read whose session was lost is simply made again. */
export function repeated(reads: StoreReads, transactions: Transactions): StoreReads {
  const again: Record<string, unknown> = {};
  for (const name of Object.keys(reads) as (keyof StoreReads)[]) {
    const read = reads[name] as (...input: readonly unknown[]) => Promise<unknown>;
    again[name] = (...input: unknown[]) => transactions.untilKnown(() => read(...input));
  }
  // Read in several statements, which must show one moment.
  const runMemo: StoreReads["runMemo"] = (env, runId) =>
    transactions.snapshot((connection) => driveAwaited(readMemo(new RuleDatabase(connection), env, runId)));
  return { ...(again as unknown as StoreReads), runMemo, runHistory: runMemo };
}
