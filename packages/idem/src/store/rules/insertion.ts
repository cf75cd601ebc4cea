// Rows that are only added. SQLite adds each where it is asked to; PostgreSQL gathers those of a kind and adds them in one statement.

export type Cell = string | number | null;

export interface Insertion {
  readonly width: number;
  /** Takes one row. */
  readonly one: string;
  /** Takes an array for each column; PostgreSQL's. */
  readonly many: string;
}

/** `columns`: name and type of each, in the order in which rows are given; `otherwise`: what is done about a row that is there. */
export function insertion(
  table: string,
  columns: Readonly<Record<string, "text" | "bigint" | "int">>,
  otherwise = "",
): Insertion {
  const names = Object.keys(columns);
  const into = `insert into ${table} (${names.join(", ")})`;
  const arrays = Object.values(columns).map((type) => `cast(? as ${type}[])`);
  return {
    width: names.length,
    one: `${into} values (${names.map(() => "?").join(", ")}) ${otherwise}`,
    many: `${into} select * from unnest(${arrays.join(", ")}) ${otherwise}`,
  };
}
