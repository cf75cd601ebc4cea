// The schema a database has, thing by thing. Storage settings are left out: whoever runs the database may tune them.
import type { Pool } from "pg";
import type { SchemaThings } from "../schema-history.ts";

/** Where a schema is, as PostgreSQL names it; its tables for this session only are in one of their own. */
export type Namespace = { readonly schema: string } | "temporary";

/** What is asked of a namespace, $1; `thingsOf` reads the answers. Each query takes what further is asked of `c`, such as one table's name. */
export const schemaSql = (also = "") => ({
  columns: `
    select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
           pg_get_expr(d.adbin, d.adrelid) as preset, l.collname as "collation"
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      left join pg_collation l on l.oid = a.attcollation
     where c.relnamespace = $1::oid and c.relkind = 'r' ${also}`,
  // Keys and checks; that a column may not be null stands with the column.
  constraints: `
    select c.relname as "table", n.conname as name, pg_get_constraintdef(n.oid) as definition
      from pg_class c join pg_constraint n on n.conrelid = c.oid
     where c.relnamespace = $1::oid and c.relkind = 'r' and n.contype in ('p', 'u', 'c') ${also}`,
  indexes: `
    select c.relname as "table", i.relname as name, x.indisunique as "unique", pg_get_indexdef(i.oid) as definition
      from pg_class c
      join pg_index x on x.indrelid = c.oid
      join pg_class i on i.oid = x.indexrelid
     where c.relnamespace = $1::oid and c.relkind = 'r' and x.indisvalid
       and not exists (select 1 from pg_constraint n where n.conindid = i.oid) ${also}`,
});

export interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly preset: string | null;
  readonly collation: string | null;
}

export interface DefinedRow {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

export interface IndexRow extends DefinedRow {
  readonly unique: boolean;
}

export async function describeSchema(client: Pick<Pool, "query">, namespace: Namespace): Promise<SchemaThings> {
  const oid = await oidOf(client, namespace);
  const rowsOf = async <Row>(text: string) => (await client.query({ text, values: [oid] })).rows as Row[];
  const { columns, constraints, indexes } = schemaSql();
  return thingsOf(
    await rowsOf<ColumnRow>(columns),
    await rowsOf<DefinedRow>(constraints),
    await rowsOf<IndexRow>(indexes),
  );
}

export function thingsOf(
  columns: readonly ColumnRow[],
  constraints: readonly DefinedRow[],
  indexes: readonly IndexRow[],
): SchemaThings {
  const things = new Map<string, string>();
  for (const { table, name, type, required, preset, collation } of columns) {
    things.set(`table ${table}`, "");
    const words = [type];
    if (collation !== null && collation !== "default") words.push(`collate ${collation}`);
    if (required) words.push("not null");
    if (preset !== null) words.push(`default ${preset}`);
    things.set(`column ${table}.${name}`, words.join(" "));
  }
  for (const { table, name, definition } of constraints) things.set(`constraint ${table}.${name}`, definition);
  for (const { table, name, unique, definition } of indexes) {
    const method = definition.slice(definition.lastIndexOf(" USING ") + " USING ".length);
    things.set(`index ${name}`, `${unique ? "unique " : ""}on ${table} using ${method}`);
  }
  return things;
}

async function oidOf(client: Pick<Pool, "query">, namespace: Namespace): Promise<string> {
  const { rows } =
    namespace === "temporary"
      ? await client.query("select pg_my_temp_schema()::text as oid")
      : await client.query({
          text: "select oid::text as oid from pg_namespace where nspname = $1",
          values: [namespace.schema],
        });
  return (rows[0] as { oid: string }).oid;
}
