// The schema a file has, thing by thing, in words that do not depend on how it came about: a column that was added later stands last in
// its table, and a table that was rebuilt and renamed has its name in quotes.
import type { SchemaThings } from "../schema-history.ts";
import type { Connection } from "./connection.ts";

/** Temporary tables have a catalogue of their own. */
const catalogues = { main: "sqlite_master", temp: "sqlite_temp_master" } as const;

/** The queries of a schema; `thingsOf` reads the answers. `also` is a further condition on `m` in each of them, such as one table's name. */
export const schemaSql = (database: keyof typeof catalogues, also = "") => ({
  objects: `
    select m.type, m.name, m.sql from ${catalogues[database]} m
     where m.sql is not null and m.name not like 'sqlite!_%' escape '!' ${also}`,
  columns: `
    select m.name as "table", c.name, c.type, c."notnull", c.dflt_value as dflt, c.pk
      from ${catalogues[database]} m join pragma_table_info(m.name, '${database}') c
     where m.type = 'table' and m.name not like 'sqlite!_%' escape '!' ${also}`,
});

export interface ObjectRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

export interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt: string | null;
  readonly pk: number;
}

export function describeSchema(connection: Connection): SchemaThings {
  const { objects, columns } = schemaSql("main");
  return thingsOf(connection.all<ObjectRow>(objects), connection.all<ColumnRow>(columns));
}

const normal = (sql: string): string => sql.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim();

export function thingsOf(objects: readonly ObjectRow[], columns: readonly ColumnRow[]): SchemaThings {
  const things = new Map<string, string>();
  for (const { type, name, sql } of objects) {
    const text = normal(sql);
    if (type !== "table") {
      things.set(`${type} ${name}`, text.replaceAll('"', "").toLowerCase());
      continue;
    }
    const checks = [...text.matchAll(/\bcheck \((?:[^()]|\([^()]*\))*\)/g)].map(([check]) => check).sort();
    const kind = /\) without rowid$/i.test(text) ? "without rowid" : "with rowid";
    things.set(`table ${name}`, [kind, ...checks].join(", "));
    for (const column of columns.filter(({ table }) => table === name)) {
      const words = [column.type.toLowerCase()];
      if (column.notnull === 1) words.push("not null");
      if (column.dflt !== null) words.push(`default ${column.dflt}`);
      if (column.pk > 0) words.push(`key ${column.pk}`);
      things.set(`column ${name}.${column.name}`, words.join(" "));
    }
  }
  return things;
}
