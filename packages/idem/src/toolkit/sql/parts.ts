// Statements put together from parts. A part carries its own parameters; they are numbered once the whole is there.
import { type Dialect, type Sql, type SqlValue, type Statement, sqlOf } from "./operation.ts";

export class Part {
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly (SqlValue | Part)[],
  ) {}
}

/** sqlPart`${plain(table)} where id = ${id}`: what is no part becomes a parameter. */
export const sqlPart = (strings: readonly string[], ...values: (SqlValue | Part)[]): Part => new Part(strings, values);

export const plain = (text: string): Part => new Part([text], []);

export function statementOf(part: Part): Statement {
  const params: SqlValue[] = [];
  const write = ({ strings, values }: Part): string => {
    let text = strings[0]!;
    for (const [i, value] of values.entries()) {
      text += value instanceof Part ? write(value) : `$${params.push(value)}`;
      text += strings[i + 1]!;
    }
    return text;
  };
  return { text: write(part), params };
}

/** Columns by name, each with a value or an expression. */
export type Columns = Readonly<Record<string, SqlValue | Part>>;

/** `name = value` each, in one flat part: these are made with every call. */
function each(columns: Columns, between: string, relation = "="): Part {
  const strings: string[] = [];
  const values: (SqlValue | Part)[] = [];
  for (const name in columns) {
    strings.push(`${strings.length === 0 ? "" : between}${name} ${relation} `);
    values.push(columns[name]!);
  }
  strings.push("");
  return new Part(strings, values);
}

export const setting = (columns: Columns): Part => each(columns, ", ");

export const matching = (columns: Columns): Part => each(columns, " and ");

/** At least one of them says something else. */
export const differing = (columns: Columns): Part => each(columns, " or ", "is distinct from");

/** `$1, $2` */
export const listed = (values: readonly (SqlValue | Part)[]): Part =>
  new Part(["", ...values.slice(1).map(() => ", "), ""], values);

/** `(a, b) values ($1, $2)`; not merged into one object, which is slow from some twenty columns on. */
export function inserting(at: Columns, rest: Columns): Part {
  const names: string[] = [];
  const values: (SqlValue | Part)[] = [];
  for (const columns of [at, rest]) {
    for (const name in columns) {
      names.push(name);
      values.push(columns[name]!);
    }
  }
  return sqlPart`(${plain(names.join(", "))}) values (${listed(values)})`;
}

const fromNowStrings: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [`${sqlOf("postgres").now} + cast(`, " as bigint)"],
  sqlite: [`${sqlOf("sqlite").now} + cast(`, " as bigint)"],
};

/** By the database's clock; of null it is null. */
export const fromNow = ({ dialect }: Sql, ms: number | null): Part => new Part(fromNowStrings[dialect], [ms]);

/** Of columns, in their order, without the text: for one that was made before. */
export function paramsOf(columns: Columns): SqlValue[] {
  const params: SqlValue[] = [];
  const add = (value: SqlValue | Part): void => {
    if (value instanceof Part) value.values.forEach(add);
    else params.push(value);
  };
  for (const name in columns) add(columns[name]!);
  return params;
}
