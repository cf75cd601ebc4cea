// The schema a file has, thing by thing, in words that do not depend on how it came about: a column that was added later stands last in
// its table, and a table that was rebuilt and renamed has its name in quotes.
import type { SchemaThings } from "../schema-history.ts";
import type { Connection } from "./connection.ts";

const objectsSql =
  "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite!_%' escape '!'";

const normal = (sql: string): string => sql.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim();

export function describeSchema(connection: Connection): SchemaThings {
  const things = new Map<string, string>();
  for (const { type, name, sql } of connection.all<{ type: string; name: string; sql: string }>(objectsSql)) {
    const text = normal(sql);
    if (type !== "table") {
      things.set(`${type} ${name}`, text.replaceAll('"', "").toLowerCase());
      continue;
    }
    const checks = [...text.matchAll(/\bcheck \((?:[^()]|\([^()]*\))*\)/g)].map(([check]) => check).sort();
    const kind = /\) without rowid$/i.test(text) ? "without rowid" : "with rowid";
    things.set(`table ${name}`, [kind, ...checks].join(", "));
    const columns = connection.all<{ name: string; type: string; notnull: number; dflt: string | null; pk: number }>(
      `select name, type, "notnull", dflt_value as dflt, pk from pragma_table_info('${name}')`,
    );
    for (const column of columns) {
      const words = [column.type.toLowerCase()];
      if (column.notnull === 1) words.push("not null");
      if (column.dflt !== null) words.push(`default ${column.dflt}`);
      if (column.pk > 0) words.push(`key ${column.pk}`);
      things.set(`column ${name}.${column.name}`, words.join(" "));
    }
  }
  return things;
}
