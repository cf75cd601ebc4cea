// The synchronous core: a handle, a clock, and one function per operation. A batch of calls is one transaction, so everything
// that arrived while the last commit was syncing shares the next one. The thread shell, the inline shell and the simulator
// all run this same code.
import { errors } from "../../model/errors.ts";
import { realFile } from "../../platform/node-files.ts";
import { type ClockStep, StoreClock } from "../clock.ts";
import type { StoreReads } from "../reads.ts";
import { ruledCalls, type ruledOperations } from "../rules/operations.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Migration } from "../schema-history.ts";
import type { StoreWrites } from "../store.ts";
import { advanceRun } from "./advance-run.ts";
import { type Call, type CallAnswer, fail, succeed } from "./calls.ts";
import { ClaimIndex } from "./claim-index.ts";
import { Connection } from "./connection.ts";
import { copyStore } from "./copy-store.ts";
import { immediately } from "./driver.ts";
import { KnownFacts } from "./known-facts.ts";
import { LaneBook } from "./lane-book.ts";
import { LeasableFunctions } from "./leasable-functions.ts";
import { leaseJobs } from "./lease-jobs.ts";
import { migrate } from "./migrate.ts";
import { refuseMoved } from "./moved-note.ts";
import { OwnerLock } from "./owner-lock.ts";
import { pruneEvents } from "./prune-events.ts";
import { readsOver } from "./reads.ts";
import { type Owned, StoreTransaction } from "./rule-transaction.ts";
import { judgeFailure, refusalOf } from "./storage-failure.ts";
import type { Transaction } from "./transaction.ts";
import { handBackJobs, heartbeatWorker, sweepStore } from "./workers.ts";

type Operation = {
  [K in keyof StoreWrites]: (
    tx: Transaction,
    ...input: Parameters<StoreWrites[K]>
  ) => Awaited<ReturnType<StoreWrites[K]>>;
};

const ruled = ruledCalls(driveAtOnce) as Pick<Operation, keyof typeof ruledOperations>;

const operations: Operation = {
  ...ruled,
  lease: leaseJobs,
  advance: advanceRun,
  heartbeat: heartbeatWorker,
  handBack: handBackJobs,
  sweep: sweepStore,
  prune: pruneEvents,
};

export interface CoreOptions {
  /** A file path, or ":memory:". */
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly clock: { wallMs(): number; monoMs(): number };
  /** Names the opener of the file, for the message another opener gets. */
  readonly owner: string;
  /** The time that a commit waits by itself for somebody else's lock; by default as long as an opening does. */
  readonly busyMs?: number;
  /** Number of claims that are found without the tree; small in tests, so that both ways are taken. */
  readonly newestClaimsMax?: number;
  /** Only for the power-loss test's self-check: it must lose data. */
  readonly synchronous?: "NORMAL";
}

const writeClockSql = `
  insert into meta (name, value) values ('clock', ?) on conflict (name) do update set value = excluded.value`;
const readClockSql = "select value from meta where name = 'clock'";
const writeStepsSql = `
  insert into meta (name, value) values ('clock-steps', ?) on conflict (name) do update set value = excluded.value`;
const readStepsSql = "select value from meta where name = 'clock-steps'";
const readEpochSql = "select value from meta where name = 'epoch'";
const writeEpochSql = `
  insert into meta (name, value) values ('epoch', ?) on conflict (name) do update set value = excluded.value`;
const writeOwnerSql = `
  insert into meta (name, value) values ('owner', ?) on conflict (name) do update set value = excluded.value`;
const forgetWorkersSql = "update workers set until = 0 where dead_at is null";

export class SqliteCore implements Owned {
  readonly connection: Connection;
  private readonly lock: OwnerLock | null;
  readonly clock: StoreClock;
  readonly monoMs: () => number;
  private readonly epoch: string;
  readonly known: KnownFacts;
  readonly claims: ClaimIndex;
  readonly lanes: LaneBook;
  readonly leasable: LeasableFunctions;
  private clockWritten: number;
  private stepsWritten: readonly ClockStep[];
  readonly reads: ReturnType<typeof readsOver>;

  constructor(options: CoreOptions) {
    const { path } = options;
    const isFile = path !== ":memory:";
    this.monoMs = () => options.clock.monoMs();
    const beganMono = this.monoMs();
    this.lock = isFile ? OwnerLock.take(path, options.owner) : null;
    let connection: Connection | null = null;
    try {
      connection = new Connection(isFile ? realFile(path) : path, {
        readonly: false,
        ...(options.synchronous === undefined ? {} : { synchronous: options.synchronous }),
      });
      this.connection = connection;
      migrate(this.connection, options.migrations);
      refuseMoved(this.connection);
      const stored = Number(this.connection.one<{ value: string }>(readClockSql)?.value ?? 0);
      this.clockWritten = stored;
      // Later than every instant the owner before has used, so that no stamp is given out twice.
      const steps = this.connection.one<{ value: string }>(readStepsSql)?.value ?? "[]";
      this.stepsWritten = JSON.parse(steps) as readonly ClockStep[];
      this.clock = new StoreClock(options.clock, stored === 0 ? 0 : stored + 1, this.stepsWritten);
      this.epoch = String(Number(this.connection.one<{ value: string }>(readEpochSql)?.value ?? 0) + 1);
      // One commit, and so one wait for the disk before a program's first run.
      immediately(this.connection.db, () => {
        this.connection.run(writeEpochSql, this.epoch);
        this.connection.run(writeOwnerSql, options.owner);
        // The lock says that the workers of this file are gone: their leases need not run out first.
        if (this.lock !== null) this.connection.run(forgetWorkersSql);
      });
      this.known = new KnownFacts(this.connection);
      this.claims = new ClaimIndex(this.connection, options.newestClaimsMax);
      this.lanes = new LaneBook(this.connection);
      this.leasable = new LeasableFunctions(this.connection);
      this.reads = readsOver(this.connection, () => this.clock.read(), this.claims.find);
      if (options.busyMs !== undefined) connection.busyMs = options.busyMs;
    } catch (error) {
      connection?.close();
      this.lock?.release();
      const failure = judgeFailure(error);
      if (failure?.kind === "locked" || failure?.kind === "full") {
        throw refusalOf(failure, { path, forMs: options.clock.monoMs() - beganMono, isUnsure: false });
      }
      throw error;
    }
  }

  /** The file itself, whatever link led to it. */
  get path(): string {
    return this.connection.path;
  }

  /**
   * Runs all calls in one durable transaction and answers each. Where it throws (judgeFailure says what that means), the calls have
   * left nothing behind, neither in the file nor in this process's pictures of it, and may be given again.
   */
  commit(calls: readonly Call[]): CallAnswer[] {
    try {
      return this.transact((tx) => calls.map((call) => succeed(this.apply(tx, call))));
    } catch (error) {
      if (judgeFailure(error) !== null) throw error;
      // One call was at fault: run them again, each in a savepoint. They are pure functions of database, input and instant.
      return this.transact((tx) => calls.map((call) => this.attempt(tx, call)));
    }
  }

  /** Work that can wait until the answers of a commit are on their way; a file that is locked or full has it wait for the next one. */
  tend(): void {
    try {
      if (!this.claims.isDue) return;
      this.transact(() => this.claims.fillPiece());
      this.claims.noteFilled();
    } catch (error) {
      const failure = judgeFailure(error);
      if (failure === null || failure.kind === "ended") throw error;
    }
  }

  private apply(tx: Transaction, call: Call): unknown {
    return (operations[call.name] as (tx: Transaction, ...input: readonly unknown[]) => unknown)(tx, ...call.input);
  }

  private attempt(tx: Transaction, call: Call): CallAnswer {
    const { connection, claims } = this;
    const { mark } = claims;
    const { endMark } = tx;
    connection.run("savepoint call");
    try {
      const answer = succeed(this.apply(tx, call));
      connection.run("release call");
      return answer;
    } catch (error) {
      if (judgeFailure(error) !== null) throw error;
      connection.run("rollback to call");
      this.known.forget();
      this.lanes.forget();
      this.leasable.forget();
      claims.noteRollback(mark);
      tx.undoEnds(endMark);
      connection.run("release call");
      return fail(error);
    }
  }

  private transact<T>(body: (tx: Transaction) => T): T {
    const { connection, clock, known, claims, lanes, leasable } = this;
    connection.run("begin immediate");
    try {
      const epoch = connection.one<{ value: string }>(readEpochSql)!.value;
      if (epoch !== this.epoch) {
        throw errors.STORE_OWNED({ path: connection.path, owner: "a process that took it over" });
      }
      const at = clock.read();
      const tx = new StoreTransaction(this, at);
      const answer = body(tx);
      tx.writeEnds();
      if (at.now > this.clockWritten) connection.run(writeClockSql, String(at.now));
      const { steps } = clock;
      if (steps !== this.stepsWritten) connection.run(writeStepsSql, JSON.stringify(steps));
      connection.run("commit");
      // From here on it is true; before, nothing of this process's own may believe it.
      claims.noteCommit();
      lanes.noteCommit();
      this.clockWritten = Math.max(this.clockWritten, at.now);
      this.stepsWritten = steps;
      return answer;
    } catch (error) {
      known.forget();
      lanes.forget();
      leasable.forget();
      claims.noteRollback(0);
      this.undo();
      throw error;
    }
  }

  /** After some errors SQLite has rolled back already, after others not; when this is through, it is for sure. */
  private undo(): void {
    const { db, path } = this.connection;
    try {
      if (db.inTransaction) db.exec("rollback");
    } catch (error) {
      throw errors.STORE_BROKEN({ path, why: `a transaction could not be undone: ${(error as Error).message}` });
    }
  }

  /** Everything that was ever committed here, as a file of its own; also when the file has lost its name. */
  copyTo(target: string): Promise<void> {
    return copyStore(this.connection, target, () => {});
  }

  read(name: keyof StoreReads, input: readonly unknown[]): unknown {
    return (this.reads[name] as (...input: readonly unknown[]) => unknown)(...input);
  }

  close(): void {
    this.connection.close();
    this.lock?.release();
  }
}
