// One operation is one transaction at read committed, ordered with others by the rows it locks. Whatever the server or the network undid or
// left unknown is asked again with the same ids, which is the same asking.
//
//   begun ──all answers in──▶ commit sent ──COMMIT──▶ done
//     │                          ├──session lost──▶ unknown: asked again, its ids tell
//     ├──undone (deadlock, …)────┴───────────────▶ asked again after a moment
//     └──its own fault──▶ rolled back, told
//
// A commit that writes nothing waits for nobody, and what it answers from may be a commit that was sent away while it waited for a standby:
// everybody sees it here, and nobody there. So it is given something to write, and waits as that one should have (`standSql`).
import type { Pool, PoolClient } from "pg";
import type { Instant } from "../../model/claim.ts";
import { errors, IdemError } from "../../model/errors.ts";
import { storeTimeoutDefaultMs } from "../../model/store-timeout.ts";
import type { Platform } from "../../platform/platform.ts";
import { durabilityLost, isDurableSql } from "./check-server.ts";
import { countDuplicates, dropMade } from "./claim-key.ts";
import type { Connection } from "./connection.ts";
import { DatabaseClock } from "./database-clock.ts";
import { KeptCounts } from "./duplicate-counts.ts";
import { faultOf, wordsOf } from "./faults.ts";
import { type ServerReading, serverStartedSql } from "./history-watch.ts";
import { LaneTurns } from "./lane-round.ts";
import { dropEmptyBuffers } from "./lock-buffers.ts";
import { RankFloors } from "./rank-floors.ts";
import { StoreTransaction } from "./rule-transaction.ts";
import { refuseCutShort } from "./sessions.ts";
import { quoted } from "./statement.ts";
import type { Transaction } from "./transaction.ts";
import { UnwatchedName, WaitChecks } from "./wait-checks.ts";

const racesMax = 3;
// A batch may begin waits for many names and find one after the other. They share this many buckets, and a few system events.
const unwatchedMax = 300;
const pauseMs = { first: 20, longest: 1_000 } as const;

// Of all that writes nothing into a table only this makes a commit wait: an xid alone does not (PostgreSQL 18.4).
const standSql = `
  select pg_logical_emit_message(true, 'idem', '')
   where pg_current_xact_id_if_assigned() is null`;

/**
 * What is made of what a transaction found: an answer somebody relies on; a look, after which nobody is told anything unless it has
 * written; or only something to read, whatever the server would do to a commit.
 */
type Use = "answer" | "look" | "read";

interface Begun extends ServerReading {
  readonly micros: number;
  readonly floor: string | null;
  readonly steps: string | null;
  readonly durable: boolean;
}

export type TransactionsPlatform = Pick<Platform, "monoMs" | "timer" | "soon" | "randomBytes">;

/** What went wrong before a commit was even sent: it did not happen, whatever became of the session. */
class Uncommitted extends Error {
  constructor(override readonly cause: unknown) {
    super("not committed");
  }
}

export interface TransactionsOptions {
  readonly pool: Pool;
  readonly connection: Connection;
  readonly schema: string;
  readonly platform: TransactionsPlatform;
  readonly lockWaitMs: number;
  /** The store's address, for people. */
  readonly where: string;
  /** Instead of the database's clock; for tests that move time by hand. */
  readonly wallMs?: (() => number) | undefined;
  /** How long a call is retried while the server does not answer; `storeTimeoutDefaultMs` by default. */
  readonly patienceMs?: number | undefined;
  /** Called after each attempt that the server did not answer, with how long the call has been retried. */
  readonly onRetrying?: ((why: string, forMs: number) => void) | undefined;
  readonly clock?: DatabaseClock;
  /** Nothing that only PostgreSQL itself has. */
  readonly isPlain?: boolean;
  /** Events were left to be delivered to waits that began as the events arrived. */
  readonly onDelivered?: (env: string) => void;
  readonly waitChecks?: WaitChecks;
  /** Called with what each transaction finds of its server. */
  readonly onServer?: (seen: ServerReading) => void;
}

export class Transactions {
  readonly clock: DatabaseClock;
  private readonly turns = new LaneTurns();
  readonly floors: RankFloors;
  private readonly waitChecks: WaitChecks;
  /** Of duplicates. */
  readonly counts: KeptCounts;
  private readonly beginSql: string;
  private isClosed = false;
  /** Whether commits wait for a standby, as far as is known. */
  private isFollowed = true;

  private readonly pool: Pool;
  private readonly connection: Connection;
  private readonly platform: TransactionsPlatform;
  private readonly wallMs: (() => number) | null;
  private readonly patienceMs: number;

  constructor(private readonly options: TransactionsOptions) {
    const { platform, schema, lockWaitMs } = options;
    this.pool = options.pool;
    this.connection = options.connection;
    this.platform = platform;
    this.wallMs = options.wallMs ?? null;
    this.patienceMs = options.patienceMs ?? storeTimeoutDefaultMs;
    this.clock = options.clock ?? new DatabaseClock(platform);
    this.floors = new RankFloors(() => platform.monoMs());
    this.waitChecks =
      options.waitChecks ??
      new WaitChecks({
        platform,
        connection: options.connection,
        transactions: this,
        isPlain: options.isPlain ?? false,
        onDelivered: options.onDelivered ?? (() => {}),
      });
    this.counts = new KeptCounts(platform, (body) => this.run((tx) => body(tx.connection), "answer", false));
    const meta = `${quoted(schema)}.meta`;
    // A node that is frozen in the middle of a transaction must not keep its locks for as long as a lease lasts.
    this.beginSql = `
      begin isolation level read committed;
      set local idle_in_transaction_session_timeout = '5s';
      set local lock_timeout = '${lockWaitMs}ms';
      select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as micros,
             (select value from ${meta} where name = 'clock') as floor,
             (select value from ${meta} where name = 'clock-steps') as steps,
             (${isDurableSql}) as durable,
             current_setting('synchronous_standby_names') <> '' as "isFollowed", ${serverStartedSql} as server`;
  }

  /** The same over sessions of their own, by the same clock. */
  over(pool: Pool, patienceMs: number): Transactions {
    return new Transactions({ ...this.options, pool, patienceMs, clock: this.clock, waitChecks: this.waitChecks });
  }

  close(): void {
    this.isClosed = true;
    this.waitChecks.close();
  }

  /** `isRepeatable`: asked again also when nobody knows whether it was committed. */
  run<T>(body: (tx: Transaction) => Promise<T>, use: Use = "answer", isRepeatable = true): Promise<T> {
    return this.untilKnown(() => this.tryOnce(body, () => Promise.resolve(), use), isRepeatable);
  }

  /** `first` is asked together with the beginning: a round trip less. */
  runWith<E, T>(first: (connection: Connection) => Promise<E>, body: (tx: Transaction, found: E) => Promise<T>) {
    return this.untilKnown(() => this.tryOnce(body, first));
  }

  /** What was read before is at the standby when this resolves, where commits wait for one. */
  async stand(): Promise<void> {
    if (this.isFollowed) await this.run(() => Promise.resolve());
  }

  /** Reads that must agree with each other. */
  snapshot<T>(body: (connection: Connection) => Promise<T>): Promise<T> {
    return this.untilKnown(async () => {
      const client = await this.pool.connect();
      let isSound = false;
      try {
        const begun = client.query("begin isolation level repeatable read read only");
        begun.catch(() => {});
        const answer = await body(this.connection.forReads().on(client));
        await client.query("commit");
        isSound = true;
        return answer;
      } finally {
        client.release(!isSound);
      }
    });
  }

  /** Makes one attempt after another until it is known to have happened, or not to be possible. */
  async untilKnown<T>(attempt: () => Promise<T>, isRepeatable = true): Promise<T> {
    const since = this.platform.monoMs();
    let races = 0;
    let unwatched = 0;
    for (let pause: number = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.longest)) {
      if (this.isClosed) throw errors.STORE_UNAVAILABLE({ why: "it was closed" });
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof IdemError) throw error;
        const cause = error instanceof Uncommitted ? error.cause : error;
        if (cause instanceof UnwatchedName && unwatched++ < unwatchedMax) {
          await this.waitChecks.watch(cause.names);
          continue;
        }
        const fault = faultOf(cause);
        if (fault === "raced") races++;
        const forMs = this.platform.monoMs() - since;
        const isOver = forMs > this.patienceMs || races > racesMax;
        const isUnknown = fault === "unknown" && !(error instanceof Uncommitted);
        const why = wordsOf(cause);
        if (fault === "fault" || isOver || (isUnknown && !isRepeatable)) {
          throw errors.STORE_UNAVAILABLE({ why, isReachable: fault !== "unknown" }, { cause });
        }
        if (fault === "unknown") this.options.onRetrying?.(why, forMs);
        await this.pause(pause);
      }
    }
  }

  /** Jittered, so that two who were in each other's way are not again. */
  private pause(ms: number): Promise<void> {
    const jitter = 0.5 + this.platform.randomBytes(1)[0]! / 256;
    return new Promise((resolve) => {
      this.platform.timer(ms * jitter, resolve, { background: true });
    });
  }

  private async tryOnce<E, T>(
    body: (tx: Transaction, found: E) => Promise<T>,
    first: (connection: Connection) => Promise<E>,
    use: Use = "answer",
  ): Promise<T> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw new Uncommitted(error);
    });
    let isSound = false;
    let isCommitSent = false;
    const { waitChecks } = this;
    const attempt = waitChecks.attempt();
    try {
      const connection = this.connection.on(client);
      const { at, isAhead, isFollowed, found } = await this.begin(client, connection, first, use);
      const { clock, turns, floors } = this;
      const tx = new StoreTransaction({ connection, at, clock, turns, floors, isAhead, waitChecks, attempt });
      try {
        const answer = await body(tx, found);
        dropMade(tx);
        dropEmptyBuffers(tx);
        waitChecks.insert(tx, tx.listeners.values());
        const uncounted = countDuplicates(tx);
        uncounted.catch(() => {});
        if (use === "answer" && isFollowed) connection.write(standSql);
        connection.flush();
        // Sent behind the writes without waiting for them: where one of them failed, this commits nothing.
        isCommitSent = true;
        const committed = client.query("commit");
        committed.catch(() => {});
        await connection.arrived();
        await committed;
        refuseCutShort(client);
        isSound = true;
        this.counts.keep(await uncounted);
        return answer;
      } catch (error) {
        await client.query("rollback");
        // A server that can only be read answers, and will go on to: another session may find another one.
        isSound = faultOf(error) !== "unknown";
        throw waitChecks.errorOf(error, tx.listeners.values());
      } finally {
        // Also when its outcome is unknown.
        if (isCommitSent && tx.listeners.size > 0) waitChecks.committed();
      }
    } catch (error) {
      if (isCommitSent || error instanceof IdemError) throw error;
      throw new Uncommitted(error);
    } finally {
      // A session in an unknown state is not used again.
      client.release(!isSound);
    }
  }

  private async begin<E>(
    client: PoolClient,
    connection: Connection,
    first: (connection: Connection) => Promise<E>,
    use: Use,
  ): Promise<{ readonly at: Instant; readonly isAhead: boolean; readonly isFollowed: boolean; readonly found: E }> {
    for (;;) {
      const askedMono = this.platform.monoMs();
      const [begun, found] = await Promise.all([client.query(this.beginSql), first(connection)]);
      const results = begun as unknown as { rows: unknown[] }[];
      const reading = results.at(-1)!.rows[0] as Begun;
      const { isFollowed } = reading;
      if (!reading.durable && use !== "read") throw await durabilityLost(client, this.options.where);
      this.isFollowed = isFollowed;
      this.options.onServer?.(reading);
      const { at, isStepped, isAhead } = this.clock.read(
        this.wallMs === null ? reading : { ...reading, micros: this.wallMs() * 1_000 },
        askedMono,
      );
      if (!isStepped) return { at, isAhead, isFollowed, found };
      await this.clock.tellSteps(connection);
      await connection.arrived();
      await client.query("commit");
    }
  }
}
