// A transaction that the driver opens and ends by itself (Kysely, Drizzle, postgres.js), made to keep the promises of `Adapter`. Three things
// such a driver does not say: that the server undid what it should commit, that nobody knows whether it committed, and, where undoing
// failed too, what the body threw.
import { errors, type IdemError } from "../../model/errors.ts";
import type { TransactionOptions } from "./adapter.ts";
import { driverErrorOf, isRefusal, sqlFaultOf, wordsOfFault } from "./faults.ts";

export interface DriverTransactions<Tx> {
  /** The driver's own: commits when the body returns. */
  open<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs a text without parameters in it. */
  run(tx: Tx, text: string): Promise<unknown>;
}

export async function openedByDriver<Tx, T>(
  { open, run }: DriverTransactions<Tx>,
  body: (tx: Tx) => T | Promise<T>,
  { lockTimeoutMs }: TransactionOptions = {},
): Promise<T> {
  let isCommitting = false;
  // Of a body that ended. One that is still at work when its session is lost has thrown nothing yet.
  let thrown: { readonly error: unknown } | null = null;
  try {
    return await open(async (tx) => {
      try {
        if (lockTimeoutMs !== undefined) await run(tx, setLockTimeout(lockTimeoutMs));
        const value = await body(tx);
        await checkSound(() => run(tx, "select 1"));
        isCommitting = true;
        return value;
      } catch (error) {
        thrown = { error };
        throw error;
      }
    });
  } catch (error) {
    if (thrown !== null) throw (thrown as { error: unknown }).error;
    if (isCommitting && /no transaction is active/.test(wordsOfFault(error)))
      throw undone("the database undid it", error);
    if (!isCommitting || isRefusal(error)) throw error;
    throw errors.COMMIT_UNKNOWN({ why: wordsOfFault(error) }, { cause: driverErrorOf(error) });
  }
}

export const setLockTimeout = (lockTimeoutMs: number): string =>
  `set local lock_timeout = ${Math.max(1, Math.round(lockTimeoutMs))}`;

/** After a statement that failed, the server refuses every other one, and ends a commit with a rollback. */
async function checkSound(ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (sqlFaultOf(error) !== "aborted") throw error;
    throw undone("the server undid it", error);
  }
}

const undone = (why: string, error: unknown): IdemError =>
  errors.TRANSACTION_ABORTED({ why }, { cause: driverErrorOf(error) });
