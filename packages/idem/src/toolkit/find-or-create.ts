// One row for each unique thing, whichever caller comes first. The unique index decides, not this code; without one the database refuses
// the statement, and it never "usually works".

import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { type Columns, quoteColumns, quoteIdentity, quoteTable } from "./columns.ts";
import type { SqlTx, SyncAdapter } from "./sql/adapter.ts";
import type { Answered, Dialect, Operation, Row, Statement } from "./sql/operation.ts";
import { inserting, matching, plain, sqlPart, statementOf } from "./sql/parts.ts";

export interface FindOrCreate {
  readonly table: string;
  /** The columns of a unique index, with the values to look for. */
  readonly unique: Columns;
  /** Called at most once, for the values of a new row. Effects belong behind the answer. */
  readonly create?: () => Columns;
}

export interface FoundOrCreated {
  readonly record: Row;
  /** True for exactly one among those who commit. */
  readonly wasCreated: boolean;
}

export function* findOrCreateOperation(dialect: Dialect, asked: FindOrCreate): Operation<FoundOrCreated> {
  const call = "findOrCreate";
  refuseUnknown<FindOrCreate>(call, asked, { table: true, unique: true, create: true });
  const find = findStatement(dialect, call, asked);
  // It is there far more often than not, and a search leaves no trace in the table.
  const [found] = (yield find).rows;
  if (found !== undefined) return { record: found, wasCreated: false };
  const insert = insertStatement(dialect, call, asked, asked.create?.() ?? {});
  for (let tries = 0; tries < 3; tries++) {
    const [created] = (yield* askIndexed(asked, insert)).rows;
    if (created !== undefined) return { record: created, wasCreated: true };
    const [there] = (yield find).rows;
    if (there !== undefined) return { record: there, wasCreated: false };
  }
  throw errors.ROW_CONTENDED({ table: asked.table });
}

export function findStatement(
  dialect: Dialect,
  call: string,
  asked: Pick<FindOrCreate, "table" | "unique">,
): Statement {
  const unique = matching(quoteIdentity(dialect, call, asked.unique, "unique"));
  return statementOf(sqlPart`select * from ${plain(quoteTable(call, asked.table))} where ${unique} limit 1`);
}

/** Returns the row if it was inserted, none if it is there. */
export function insertStatement(
  dialect: Dialect,
  call: string,
  { table, unique }: Pick<FindOrCreate, "table" | "unique">,
  others: Columns,
): Statement {
  const all = quoteColumns(dialect, call, { ...others, ...unique }, "create");
  const target = Object.keys(quoteIdentity(dialect, call, unique, "unique"));
  return statementOf(sqlPart`
    insert into ${plain(quoteTable(call, table))} ${inserting(all, {})}
    on conflict (${plain(target.join(", "))}) do nothing
    returning *`);
}

/** PostgreSQL's code, and SQLite's words, for a conflict target that no unique index matches. */
export function* askIndexed(asked: Pick<FindOrCreate, "table" | "unique">, statement: Statement): Operation<Answered> {
  try {
    return yield statement;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const isMissing = code === "42P10" || String(message).includes("ON CONFLICT clause does not match");
    if (!isMissing) throw error;
    const columns = Object.keys(asked.unique).join(", ");
    throw errors.UNIQUE_INDEX_MISSING({ table: asked.table, columns }, { cause: error });
  }
}

/** Inside your transaction: `findOrCreate(adapter.wrap(tx), { table: "users", unique: { email }, create: () => ({ name }) })`. */
export const findOrCreate = (tx: SqlTx, asked: FindOrCreate): Promise<FoundOrCreated> =>
  tx.perform(findOrCreateOperation(tx.dialect, asked));

/** Inside a body that does not await. */
export const findOrCreateSync = <Tx>(adapter: SyncAdapter<Tx>, tx: Tx, asked: FindOrCreate): FoundOrCreated =>
  adapter.performSync(tx, findOrCreateOperation(adapter.dialect, asked));
