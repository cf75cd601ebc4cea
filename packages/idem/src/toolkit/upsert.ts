// A row as it should be, whatever it was before: inserted, updated, or left alone because it is like that already.
// Three statements instead of one: only so can the three be told apart, on both databases, without a column of ours in the user's table.

import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { type Columns, quoteColumns, quoteIdentity, quoteTable } from "./columns.ts";
import { askIndexed, findStatement, insertStatement } from "./find-or-create.ts";
import type { SqlTx, SyncAdapter } from "./sql/adapter.ts";
import type { Dialect, Operation, Row, Statement } from "./sql/operation.ts";
import { differing, matching, plain, setting, sqlPart, statementOf } from "./sql/parts.ts";

export interface Upsert {
  readonly table: string;
  /** The columns of a unique index. */
  readonly unique: Columns;
  /** In the row, new or not. */
  readonly set: Columns;
  /** Only in a new row: when it was created. */
  readonly create?: Columns;
}

export interface Upserted {
  readonly record: Row;
  readonly outcome: "inserted" | "updated" | "unchanged";
}

export function* upsertOperation(dialect: Dialect, asked: Upsert): Operation<Upserted> {
  const call = "upsert";
  refuseUnknown<Upsert>(call, asked, { table: true, unique: true, set: true, create: true });
  const insert = insertStatement(dialect, call, asked, { ...asked.create, ...asked.set });
  const update = updateStatement(dialect, call, asked);
  const find = findStatement(dialect, call, asked);
  for (let tries = 0; tries < 3; tries++) {
    const [inserted] = (yield* askIndexed(asked, insert)).rows;
    if (inserted !== undefined) return { record: inserted, outcome: "inserted" };
    const [updated] = (yield update).rows;
    if (updated !== undefined) return { record: updated, outcome: "updated" };
    const [same] = (yield find).rows;
    if (same !== undefined) return { record: same, outcome: "unchanged" };
  }
  throw errors.ROW_CONTENDED({ table: asked.table });
}

/** Only a row that says something else; so an upsert that changes nothing writes nothing. */
function updateStatement(dialect: Dialect, call: string, { table, unique, set }: Upsert): Statement {
  const identity = quoteIdentity(dialect, call, unique, "unique");
  const to = quoteColumns(dialect, call, set, "set");
  if (Object.keys(to).length === 0) {
    throw errors.TOOLKIT_OPTION_INVALID({ call, option: "set", why: "it names no column" });
  }
  return statementOf(sqlPart`
    update ${plain(quoteTable(call, table))} set ${setting(to)} where ${matching(identity)} and (${differing(to)})
    returning *`);
}

/** Inside your transaction: `upsert(adapter.wrap(tx), { table: "users", unique: { id }, set: { email } })`. */
export const upsert = (tx: SqlTx, asked: Upsert): Promise<Upserted> => tx.perform(upsertOperation(tx.dialect, asked));

/** Inside a body that does not await. */
export const upsertSync = <Tx>(adapter: SyncAdapter<Tx>, tx: Tx, asked: Upsert): Upserted =>
  adapter.performSync(tx, upsertOperation(adapter.dialect, asked));
