// An operation as one transaction, whichever database it is.
import type { Adapter } from "./adapter.ts";
import type { Operation } from "./operation.ts";

/** On SQLite an operation is one by itself. */
export const performWhole = <T>(adapter: Adapter<any>, operation: () => Operation<T>): Promise<T> =>
  adapter.dialect === "sqlite"
    ? adapter.perform(operation())
    : adapter.transaction((tx: unknown) => adapter.wrap(tx).perform(operation()));
