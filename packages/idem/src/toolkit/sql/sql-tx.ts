// A transaction that is open, whichever driver has it: all the toolkit needs is to run a text in it.
import { driveAsync } from "../../store/rules/rule.ts";
import type { SqlTx } from "./adapter.ts";
import { type Answered, type Dialect, type SqlValue, withQuestionMarks } from "./operation.ts";

export interface OpenTransaction {
  readonly dialect: Dialect;
  /** Runs one statement inside the transaction. Its parameters are $1, $2, … on PostgreSQL and ? on SQLite, each once and in order. */
  run(text: string, params: readonly SqlValue[]): Promise<Answered>;
}

/**
 * A transaction of a driver that has no adapter here, opened and ended by you.
 *
 * ```ts
 * const tx = sqlTx({ dialect: "postgres", run: async (text, params) => {
 *   const { rows, affected } = await mine.execute(text, params);
 *   return { rows, count: affected };
 * } });
 * ```
 */
export function sqlTx({ dialect, run }: OpenTransaction): SqlTx {
  const ask = (text: string, params: readonly unknown[]): Promise<Answered> =>
    run(dialect === "sqlite" ? withQuestionMarks(text) : text, params as readonly SqlValue[]);
  return {
    dialect,
    perform: (operation) => driveAsync(operation, ({ text, params }) => ask(text, params)),
    query: ask,
  };
}
