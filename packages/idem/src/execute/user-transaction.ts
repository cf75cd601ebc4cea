// step.transaction on a database of the user's own, which is not the engine's: the memo row travels in the user's transaction.
//
//   take the step's row ─┬─ it is there ──▶ the recorded value; the body is not entered
//                        └─ ours ─▶ the body ─▶ the value into the row ─▶ one commit ─▶ the engine's own memo
//
// A second attempt waits at the row, before the body. A process that dies behind the commit has left the value in the row; the key is the
// step's destination key, so a retry, a takeover and a rerun all find it.
import { errors, IdemError } from "../model/errors.ts";
import { toJson } from "../model/json.ts";
import type { AttemptFacts, Ran } from "./operation.ts";
import { isThenable } from "./step-limit.ts";

interface Answered {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
}

type Operation<T> = Generator<{ readonly text: string; readonly params: readonly (string | null)[] }, T, Answered>;

/** An adapter of idem/sql, as far as a step needs one. `Tx` is what the driver calls a transaction. */
export interface UserDatabase<Tx> {
  readonly bodies: "async" | "sync";
  perform<T>(operation: Operation<T>): Promise<T>;
  transaction<T>(body: (tx: Tx) => T | Promise<T>): Promise<T>;
  wrap(tx: Tx): { perform<T>(operation: Operation<T>): Promise<T> };
}

interface SyncDatabase<Tx> extends UserDatabase<Tx> {
  transactionSync<T>(body: (tx: Tx) => T): T;
  performSync<T>(tx: Tx, operation: Operation<T>): T;
}

const takeSql =
  "insert into idem_steps (key, run_id, step) values ($1, $2, $3) on conflict (key) do nothing returning key";
const readSql = "select value from idem_steps where key = $1";
const writeSql = "update idem_steps set value = $1 where key = $2";

/** Null when the row is this attempt's now. */
function* take(key: string, runId: string, step: string): Operation<string | null> {
  const taken = yield { text: takeSql, params: [key, runId, step] };
  if (taken.rows.length > 0) return null;
  const recorded = yield* read(key);
  // Deleted between the two, by a person or a reaper.
  if (recorded === null) throw errors.COMMIT_UNKNOWN({ why: `the row of step "${step}" in idem_steps went away` });
  return recorded;
}

function* read(key: string): Operation<string | null> {
  const { rows } = yield { text: readSql, params: [key] };
  return (rows[0]?.value as string | null | undefined) ?? null;
}

/** The last statement: where one before it failed and the body went on, this one fails too, whatever the driver makes of it. */
function* write(key: string, json: string): Operation<void> {
  const { count } = yield { text: writeSql, params: [json, key] };
  if (count !== 1) throw errors.TRANSACTION_ABORTED({ why: "its own row in idem_steps is gone" });
}

export type UserTransactionAttempt<Context> = (
  key: string,
  runId: string,
  facts: AttemptFacts,
  context: Context,
) => Promise<Ran>;

/** Refuses at once what can never work, having written nothing. */
export function userTransaction<Tx, Context>(of: {
  readonly step: string;
  readonly database: UserDatabase<Tx>;
  readonly body: ((tx: Tx, context: Context) => unknown) | undefined;
  readonly bytesMax: number;
}): UserTransactionAttempt<Context> {
  const { step, database, body, bytesMax } = of;
  const isAdapter = typeof database?.transaction === "function" && typeof database.wrap === "function";
  if (!isAdapter || typeof body !== "function") {
    throw errors.STEP_INVALID({ step, why: "step.transaction needs an adapter of idem/sql and a function" });
  }
  const isSync = database.bodies === "sync";
  if (isSync && Object.prototype.toString.call(body) === "[object AsyncFunction]") refuseAsync(step);
  /** All before anything is committed. */
  const jsonOf = (value: unknown, { signal, body }: AttemptFacts): string => {
    body.throwIfNested();
    if (signal().aborted) throw new Error("the run is not this worker's any more");
    const json = toJson(value, `Step "${step}"`);
    const bytes = Buffer.byteLength(json);
    if (bytes > bytesMax) throw errors.STEP_TOO_LARGE({ step, bytes, max: bytesMax });
    return json;
  };

  const inOneGo: UserTransactionAttempt<Context> = async (key, runId, facts, context) => {
    const sync = database as SyncDatabase<Tx>;
    const json = sync.transactionSync((tx) => {
      const recorded = sync.performSync(tx, take(key, runId, step));
      if (recorded !== null) return recorded;
      const value = body(tx, context);
      if (isThenable(value)) {
        // From here on it works outside of the transaction; a failure there concerns nobody.
        void value.then(undefined, () => {});
        refuseAsync(step);
      }
      const json = jsonOf(value, facts);
      sync.performSync(tx, write(key, json));
      return json;
    });
    return { json };
  };

  const awaited: UserTransactionAttempt<Context> = async (key, runId, facts, context) => {
    try {
      const json = await database.transaction(async (tx) => {
        const sql = database.wrap(tx);
        const recorded = await sql.perform(take(key, runId, step));
        if (recorded !== null) return recorded;
        // Not every driver guards a transaction that is over from a body that goes on: it is waited for, and undone.
        const json = jsonOf(await facts.within(() => body(tx, context), "never"), facts);
        await sql.perform(write(key, json));
        return json;
      });
      return { json };
    } catch (error) {
      if (!(error instanceof IdemError) || error.code !== "COMMIT_UNKNOWN") throw error;
      // The row says whether it was committed. One that is not there may still be on its way: the next attempt waits at it.
      const committed = await database.perform(read(key)).catch(() => null);
      if (committed === null) throw error;
      return { json: committed };
    }
  };
  return isSync ? inOneGo : awaited;
}

function refuseAsync(step: string): never {
  throw errors.TRANSACTION_ASYNC({ call: `step.transaction("${step}")` });
}
