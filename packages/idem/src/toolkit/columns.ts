// Names and values of the user's own tables. Names come from code, but nothing here relies on that: they are checked, then quoted, which
// also means exactly as they stand in the database.
import { errors } from "../model/errors.ts";
import type { Dialect, SqlValue } from "./sql/operation.ts";
import type { Columns as SqlColumns } from "./sql/parts.ts";

export type ColumnValue = SqlValue | boolean | Date;
export type Columns = Readonly<Record<string, ColumnValue>>;

const nameShape = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

export function quoteName(call: string, name: unknown, option: string): string {
  if (typeof name === "string" && nameShape.test(name)) return `"${name}"`;
  const why = "a name is made of letters, digits and underscores, at most 63";
  throw errors.TOOLKIT_OPTION_INVALID({ call, option, why });
}

/** `orders` or `shop.orders`. */
export const quoteTable = (call: string, table: unknown): string =>
  String(table)
    .split(/\.(?=[^.]*$)/)
    .map((part) => quoteName(call, part, "table"))
    .join(".");

export function quoteColumns(dialect: Dialect, call: string, columns: Columns, option: string): SqlColumns {
  const entries = Object.entries(columns);
  const missing = entries.find(([, value]) => value === undefined);
  if (missing !== undefined) {
    throw errors.TOOLKIT_OPTION_INVALID({ call, option, why: `${missing[0]} is undefined; null is a value` });
  }
  return Object.fromEntries(entries.map(([name, value]) => [quoteName(call, name, option), sqlValue(dialect, value)]));
}

/** SQLite has no booleans, and neither has a text form of a Date that both would write alike. */
function sqlValue(dialect: Dialect, value: ColumnValue): SqlValue {
  if (typeof value === "boolean") return dialect === "sqlite" ? Number(value) : String(value);
  return value instanceof Date ? value.toISOString() : value;
}

/** The identity of a row: at least one column, and no null, for nothing is equal to null, not even another one. */
export function quoteIdentity(dialect: Dialect, call: string, columns: Columns, option: string): SqlColumns {
  const quoted = quoteColumns(dialect, call, columns, option);
  const values = Object.values(quoted);
  const refuse = (why: string) => errors.TOOLKIT_OPTION_INVALID({ call, option, why });
  if (values.length === 0) throw refuse("it names no column");
  if (values.includes(null)) throw refuse("a value is null");
  return quoted;
}
