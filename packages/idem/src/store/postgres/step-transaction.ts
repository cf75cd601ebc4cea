// Steps that are transactions. The body has a session from a pool of its own, so slow bodies never keep the engine waiting; the run's job
// is locked only once the body is over, for the moment in which the step is recorded and the transaction committed.
//
//   begin ─▶ body ─▶ lock the job, by its fence ─▶ record the step ─▶ commit ─▶ recorded
//                      ├─ another's ─▶ undone        └─ it has an     ├─ refused, session alive ─▶ undone, told
//                      └─ ended by hand ─▶ undone       outcome:      └─ session lost ─▶ asked on another, once the job's lock is
//                                                       undone, kept                     free: by then the lost one has ended
import type { ClientBase, Pool, PoolClient, QueryConfig, QueryResult } from "pg";
import { errors } from "../../model/errors.ts";
import type { Outcome } from "../../model/step.ts";
import type { NewStep } from "../advance.ts";
import { forgetLostSql } from "../rows.ts";
import { findRun } from "../rules/read-memo.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { StoreTransactions, Transacted, TransactInput, TransactionClient } from "../transactional.ts";
import type { PostgresAddress } from "./address.ts";
import { durabilityLost, isDurableSql } from "./check-server.ts";
import { Connection } from "./connection.ts";
import { faultOf, wordsOf } from "./faults.ts";
import { endedByHand, guardClient } from "./guarded-client.ts";
import { insertStep } from "./record-step.ts";
import { RuleDatabase } from "./rule-database.ts";
import { refuseCutShort, type Sessions } from "./sessions.ts";
import { Statements } from "./statement.ts";
import type { Transactions } from "./transactions.ts";

// A body may think for a while between two statements. One whose process is frozen must not keep what it locked for ever.
const idleBodyMax = "60s";
const idleEngineMax = "5s";

/** A setting that ends with the transaction it was made in. */
const beginSql = `
  begin isolation level read committed;
  set local idle_in_transaction_session_timeout = '${idleBodyMax}';
  set local idem.step = 'open'`;

// The body may have set what it liked; whether the commit will be safe is asked behind it.
const holdJobSql = `
  select lost_workers, current_setting('idem.step', true) as step, (${isDurableSql}) as durable,
         set_config('idle_in_transaction_session_timeout', '${idleEngineMax}', true) as bound
    from jobs where env = ? and id = ? and fence = ? and leased_by = ? for no key update`;
const awaitJobSql = "select 1 from jobs where env = ? and id = ? for update";
const selectStepSql = "select outcome, json, stamp from steps where env = ? and run_id = ? and step_id = ?";

/** The transaction failed inside the body, which went on. */
const abortedCode = "25P02";

export interface StepTransactionsOptions {
  readonly sessions: Sessions;
  readonly address: PostgresAddress;
  readonly connection: Connection;
  readonly transactions: Transactions;
  /** The store's address, for people. */
  readonly where: string;
}

export class StepTransactions implements StoreTransactions {
  private readonly pool: Pool;
  private free: number;
  private readonly line: (() => void)[] = [];
  private readonly open = new Set<Session>();
  private readonly statements: Statements;

  constructor(private readonly options: StepTransactionsOptions) {
    const { sessions, address } = options;
    this.pool = sessions.plain();
    this.free = address.txPoolSize;
    this.statements = new Statements(address.schema);
  }

  async run(input: TransactInput, body: (tx: TransactionClient) => Promise<NewStep>): Promise<Transacted> {
    // In line here and not at the pool, which would give up after a while: bodies take as long as they take.
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.line.push(resolve));
    try {
      return await this.transact(input, body);
    } finally {
      const next = this.line.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }

  /** What is still open is undone. */
  close(): void {
    for (const session of this.open) session.discard();
  }

  private async transact(input: TransactInput, body: (tx: TransactionClient) => Promise<NewStep>): Promise<Transacted> {
    const session = await this.options.transactions.untilKnown(() => this.begin());
    this.open.add(session);
    try {
      const guarded = guardClient(session.client);
      const step = await body(guarded.tx).finally(() => guarded.close());
      return await this.record(session, input, step);
    } finally {
      this.open.delete(session);
      await session.end();
    }
  }

  private async begin(): Promise<Session> {
    const client = await this.pool.connect();
    const session = new Session(client, this.options.sessions.queryTimeoutMs);
    try {
      await session.ask({ text: beginSql });
      return session;
    } catch (error) {
      session.discard();
      throw error;
    }
  }

  private async record(session: Session, input: TransactInput, step: NewStep): Promise<Transacted> {
    const { env, runId, jobId, fence, worker } = input;
    const { transactions, where } = this.options;
    // Without names: the body may have discarded what was prepared.
    const inSession = new Connection(session.bounded, this.statements, false, true);
    const job = await inSession
      .one<{ lost_workers: number; step: string | null; durable: boolean }>(holdJobSql, env, jobId, fence, worker)
      .catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== abortedCode) throw error;
        throw new Error(`Step "${step.name}": a statement of its transaction failed, so none of it can be committed`);
      });
    if (job === undefined) {
      await session.end();
      return this.refuse(input);
    }
    if (job.step !== "open") throw errors.TRANSACTION_MISUSED({ why: endedByHand });
    if (!job.durable) {
      const lost = await durabilityLost(session.bounded, where);
      session.discard();
      throw lost;
    }
    const owner = { env, runId, worker, childRunId: null };
    const stamp = await insertStep(inSession, transactions.clock.stamp(), owner, step);
    if (stamp === null) {
      await session.end();
      return (await transactions.run(({ connection }) => this.find(input, step, connection)))!;
    }
    if (job.lost_workers > 0) await inSession.run(forgetLostSql, env, jobId);
    try {
      await session.commit();
    } catch (error) {
      if (faultOf(error) !== "unknown") throw error;
      return this.lookFor(session, input, step, error);
    }
    return { kind: "recorded", outcome: step.outcome, stamp };
  }

  /** Nobody knows whether it was committed. Whoever has the job's lock after it does. */
  private async lookFor(session: Session, input: TransactInput, step: NewStep, lost: unknown): Promise<Transacted> {
    // The server hears that nobody is there any more, and ends what it has not committed.
    session.discard();
    const { env, jobId } = input;
    const found = await this.options.transactions.run(async ({ connection }) => {
      await connection.one(awaitJobSql, env, jobId);
      return this.find(input, step, connection);
    });
    if (found !== null) return found;
    throw new Error(
      `Step "${step.name}": the connection was lost before its transaction was committed: ${wordsOf(lost)}`,
    );
  }

  private async find(
    { env, runId }: TransactInput,
    { stepId }: NewStep,
    on: Connection,
  ): Promise<Extract<Transacted, { kind: "recorded" }> | null> {
    type Row = { readonly outcome: Outcome["kind"]; readonly json: string; readonly stamp: number };
    const row = await on.one<Row>(selectStepSql, env, runId, stepId);
    if (row === undefined) return null;
    return { kind: "recorded", outcome: { kind: row.outcome, json: row.json }, stamp: row.stamp };
  }

  private async refuse({ env, runId }: TransactInput): Promise<Transacted> {
    const { connection, transactions } = this.options;
    const run = await transactions.untilKnown(() => driveAwaited(findRun(new RuleDatabase(connection), env, runId)));
    const state = run?.ended_state ?? null;
    return state === null ? { kind: "fenced" } : { kind: "ended", state };
  }
}

/** A session while a transaction is open in it. */
class Session {
  private isOver = false;
  /** What it was asked last was answered, so that it can be used again. */
  private isSound = false;

  /** The same session, in which nothing is waited for without end. */
  readonly bounded: ClientBase;

  /** The bound is for what the engine itself asks of the session; a body's own statements take as long as they take. */
  constructor(
    readonly client: PoolClient,
    queryTimeoutMs: number,
  ) {
    const query = (config: QueryConfig) => {
      const bounded: QueryConfig & { query_timeout: number } = { ...config, query_timeout: queryTimeoutMs };
      return client.query(bounded);
    };
    this.bounded = { query } as unknown as ClientBase;
  }

  async ask(query: QueryConfig): Promise<QueryResult> {
    this.isSound = false;
    const answered = await this.bounded.query(query);
    this.isSound = true;
    return answered;
  }

  async commit(): Promise<void> {
    const { command } = await this.ask({ text: "commit" });
    // So the server says it of a transaction that had failed.
    if (command !== "COMMIT") throw new Error("the transaction had failed and was undone");
    refuseCutShort(this.client);
    this.leave();
  }

  /** Undoes what is not committed, and gives the session back. */
  async end(): Promise<void> {
    if (this.isOver) return;
    await this.ask({ text: "rollback" }).catch(() => {});
    this.leave();
  }

  /** Closes it, whatever is under way in it. */
  discard(): void {
    this.isSound = false;
    this.leave();
  }

  private leave(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.client.release(!this.isSound);
  }
}
