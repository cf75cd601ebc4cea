// Lock + check: a row moves from one state to the next once, however many ask for it. The row is locked first, so that what the caller
// reads is what it still is when they commit; the update carries the check too.

import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { type Columns, quoteColumns, quoteIdentity, quoteName, quoteTable } from "./columns.ts";
import type { SqlTx, SyncAdapter } from "./sql/adapter.ts";
import type { Dialect, Operation, Row } from "./sql/operation.ts";
import { matching, plain, setting, sqlPart, statementOf } from "./sql/parts.ts";

export interface Transition {
  readonly table: string;
  /** The row: `id`, or the columns that identify it. */
  readonly id?: string | number | bigint;
  readonly where?: Columns;
  /** The column that holds the state; "state" by default. */
  readonly column?: string;
  readonly from: string | readonly string[];
  readonly to: string;
  /** Written with the move. */
  readonly set?: Columns;
}

export type Moved =
  /** By this call; the row as it is now. */
  | { readonly moved: true; readonly row: Row }
  /** It was in none of these states; the row as it is, or null when there is none. */
  | { readonly moved: false; readonly row: Row | null };

const call = "transition";

export function* transitionOperation(dialect: Dialect, asked: Transition): Operation<Moved> {
  refuseUnknown<Transition>(call, asked, {
    table: true,
    id: true,
    where: true,
    column: true,
    from: true,
    to: true,
    set: true,
  });
  const { id, where = id === undefined ? {} : { id }, from, to, set = {} } = asked;
  const table = plain(quoteTable(call, asked.table));
  const column = quoteName(call, asked.column ?? "state", "column");
  const identity = quoteIdentity(dialect, call, where, "where");
  const also = quoteColumns(dialect, call, set, "set");
  const lock = plain(dialect === "postgres" ? "for update" : "");
  const found = yield statementOf(sqlPart`select * from ${table} where ${matching(identity)} limit 2 ${lock}`);
  if (found.rows.length > 1) {
    throw errors.TOOLKIT_OPTION_INVALID({ call, option: "where", why: "it finds more than one row" });
  }
  const row = found.rows[0] ?? null;
  const state = row?.[asked.column ?? "state"];
  const froms: readonly string[] = typeof from === "string" ? [from] : from;
  if (row === null || !froms.includes(state as string)) return { moved: false, row };
  const still = sqlPart`${matching(identity)} and ${matching({ [column]: state as string })}`;
  const { rows } = yield statementOf(
    sqlPart`update ${table} set ${setting({ ...also, [column]: to })} where ${still} returning *`,
  );
  return rows[0] === undefined ? { moved: false, row } : { moved: true, row: rows[0] };
}

/** Inside your transaction: `transition(adapter.wrap(tx), { table: "invoices", id, from: "draft", to: "approved" })`. */
export const transition = (tx: SqlTx, asked: Transition): Promise<Moved> =>
  tx.perform(transitionOperation(tx.dialect, asked));

/** Inside a body that does not await. */
export const transitionSync = <Tx>(adapter: SyncAdapter<Tx>, tx: Tx, asked: Transition): Moved =>
  adapter.performSync(tx, transitionOperation(adapter.dialect, asked));
