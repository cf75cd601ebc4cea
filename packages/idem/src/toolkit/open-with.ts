// A transaction that begins with an operation of ours and goes on with the user's body, in whichever way the driver needs it: a body for
// SQLite never awaits, so neither may what stands around it.
import { errors } from "../model/errors.ts";
import type { Adapter, SyncAdapter, TransactionOptions } from "./sql/adapter.ts";
import type { Operation } from "./sql/operation.ts";

export interface OpenWith<Tx, A, T> {
  /** The call's name in an error. */
  readonly call: string;
  readonly begin: () => Operation<A>;
  readonly body: (tx: Tx, begun: A) => T | Promise<T>;
  /** The user's part of the body. */
  readonly given: (...args: never[]) => unknown;
  readonly options?: TransactionOptions;
}

export async function openWith<Tx, A, T>(adapter: Adapter<Tx>, opening: OpenWith<Tx, A, T>): Promise<T> {
  const { call, begin, body, given, options } = opening;
  if (adapter.bodies === "async") {
    return adapter.transaction(async (tx) => body(tx, await adapter.wrap(tx).perform(begin())), options);
  }
  if (Object.prototype.toString.call(given) === "[object AsyncFunction]") throw errors.TRANSACTION_ASYNC({ call });
  const sync = adapter as SyncAdapter<Tx>;
  return sync.transactionSync((tx) => body(tx, sync.performSync(tx, begin())) as T, options);
}
