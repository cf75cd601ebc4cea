// The synchronous core: a handle, a clock, and one function per operation. A batch of calls is one transaction, so everything
// that arrived while the last commit was syncing shares the next one. The thread shell, the inline shell and the simulator
// all run this same code.
import { errors } from "../../model/errors.ts";
import { realFile } from "../../platform/node-files.ts";
import { makePrivate } from "../../platform/private-files.ts";
import { type ClockStep, StoreClock } from "../clock.ts";
import type { StoreReads } from "../reads.ts";
import { raiseAlerts } from "../rules/alerts.ts";
import { ruledCalls, type ruledOperations } from "../rules/operations.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Migration } from "../schema-history.ts";
import type { StoreWrites } from "../store.ts";
import { advanceRun } from "./advance-run.ts";
import { type Call, type CallAnswer, fail, succeed } from "./calls.ts";
import { ClaimIndex } from "./claim-index.ts";
import { Connection } from "./connection.ts";
import { copyStore } from "./copy-store.ts";
import {
  counterPath,
  type FileRollback,
  fileEveryMs,
  fileRollbackAlert,
  readCounterFile,
  type StoreCounter,
  writeCounterFile,
} from "./counter-file.ts";
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
  /** How a file that is older than its counter came to be so; `replaced` by default. */
  readonly cause?: FileRollback["cause"];
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
const nameStoreSql = `
  insert into meta (name, value) values ('store-id', lower(hex(randomblob(16)))) on conflict (name) do nothing`;
const readStoreIdSql = "select value from meta where name = 'store-id'";
// Until then a process that was just started has better things to do than to wait for the disk.
const firstFiledMs = 1_000;
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
  /** What the file next to the store says, as far as this process knows (counter-file.ts); null for a store in memory. */
  private filed: StoreCounter | null = null;
  private fileAtMono = Number.POSITIVE_INFINITY;
  /** What the opening found: the file is older than it was. */
  readonly rollback: FileRollback | null;

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
      const counter = isFile ? this.openCounter() : null;
      // Instants that a lost history had are not given out again either.
      const floor = Math.max(stored, counter?.clock ?? 0);
      this.clock = new StoreClock(options.clock, floor === 0 ? 0 : floor + 1, this.stepsWritten);
      this.epoch = String(Number(this.connection.one<{ value: string }>(readEpochSql)?.value ?? 0) + 1);
      // One commit, and so one wait for the disk before a program's first run.
      immediately(this.connection.db, () => {
        this.connection.run(writeEpochSql, this.epoch);
        this.connection.run(writeOwnerSql, options.owner);
        // The lock says that the workers of this file are gone: their leases need not run out first.
        if (this.lock !== null) {
          this.connection.run(forgetWorkersSql);
          this.connection.run(nameStoreSql);
        }
      });
      this.known = new KnownFacts(this.connection);
      this.claims = new ClaimIndex(this.connection, options.newestClaimsMax);
      this.lanes = new LaneBook(this.connection);
      this.leasable = new LeasableFunctions(this.connection);
      this.reads = readsOver(this.connection, () => this.clock.read(), this.claims.find);
      this.filed = isFile ? { storeId: this.storeId()!, clock: counter?.clock ?? 0 } : null;
      this.fileAtMono = beganMono + firstFiledMs;
      const isOlder = counter !== null && stored < counter.clock;
      this.rollback = isOlder ? { cause: options.cause ?? "replaced", from: stored, to: counter.clock } : null;
      if (this.rollback !== null) this.raiseRollback(this.rollback, options.owner);
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
    if (this.monoMs() >= this.fileAtMono) this.fileCounter();
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

  /** `isSound`: false where the file may not be the one it was, and nothing more is to be said about it. */
  close(isSound = true): void {
    if (isSound) this.fileCounter();
    this.connection.close();
    this.lock?.release();
  }

  // ------------------------------------------------------------------------------------------------ a file that was replaced (counter-file.ts)

  private storeId(): string | null {
    return this.connection.one<{ value: string }>(readStoreIdSql)?.value ?? null;
  }

  /** What the file next to the store says of this very store; null for nothing. */
  private openCounter(): StoreCounter | null {
    const { path } = this.connection;
    makePrivate(counterPath(path));
    const counter = readCounterFile(path);
    return counter !== null && counter.storeId === this.storeId() ? counter : null;
  }

  /** The store's clock moves on with the alert, in one commit: a crash before it leaves everything to be found again. */
  private raiseRollback(rollback: FileRollback, owner: string): void {
    const { storeId } = this.filed!;
    const found = this.read("environments", []) as readonly string[];
    this.transact((tx) => {
      for (const env of found.length === 0 ? ["default"] : found) {
        const alert = fileRollbackAlert(rollback, { storeId, env, owner, now: tx.at.now });
        driveAtOnce(raiseAlerts(tx, { env, alerts: [alert] }));
      }
    });
  }

  /** Behind a commit, never before it. */
  private fileCounter(): void {
    const { filed, clockWritten: clock } = this;
    this.fileAtMono = this.monoMs() + fileEveryMs;
    if (filed === null || clock <= filed.clock) return;
    this.filed = { ...filed, clock };
    writeCounterFile(this.connection.path, this.filed);
  }
}
