// Statements put together from parts. A part carries its own parameters; they are numbered once the whole is there.
import type { Sql, SqlValue, Statement } from "./operation.ts";

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

function joined(parts: readonly Part[], between: string): Part {
  return new Part(["", ...parts.slice(1).map(() => between), ""], parts);
}

export const setting = (columns: Columns): Part => joined(equalities(columns), ", ");

export const matching = (columns: Columns): Part => joined(equalities(columns), " and ");

const equalities = (columns: Columns): Part[] =>
  Object.entries(columns).map(([name, value]) => sqlPart`${plain(name)} = ${value}`);

/** `(a, b) values ($1, $2)` */
export const inserting = (columns: Columns): Part => {
  const values = Object.values(columns).map((value) => sqlPart`${value}`);
  return sqlPart`(${plain(Object.keys(columns).join(", "))}) values (${joined(values, ", ")})`;
};

/** By the database's clock. */
export const fromNow = ({ now }: Sql, ms: number): Part => sqlPart`${plain(now)} + cast(${ms} as bigint)`;
