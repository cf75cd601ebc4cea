// The contents of a SQLite file, and how two of them differ.
import { createHash } from "node:crypto";
import type { Json } from "../../thing.ts";
import { isOwnTable, type Row, type TableChange, type TableShape } from "./row-things.ts";

/** A connection of the verifier's own. */
export interface OpenSqlite {
  all(sql: string): Record<string, unknown>[];
  close(): void;
}

export interface TableRows {
  readonly shape: TableShape;
  readonly rows: readonly { readonly row: Row; readonly text: string }[];
}

export type SqliteRows = ReadonlyMap<string, TableRows>;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function jsonOf(value: unknown): Json {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return `‹bytes ${createHash("sha256").update(value).digest("hex").slice(0, 16)}›`;
  return value as Json;
}

export function readRows(db: OpenSqlite): SqliteRows {
  const found = db.all(
    "select name, sql from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' and sql not like 'create virtual%' order by name",
  ) as { name: string; sql: string }[];
  const shadows = new Set(
    db.all("select name from pragma_table_list where type = 'shadow'").map(({ name }) => String(name)),
  );
  const tables = found.filter(({ name }) => !shadows.has(name) && !isOwnTable(name));
  const shapes = new Map(tables.map(({ name, sql }) => [name, shapeOf(db, name, sql)]));
  return new Map(
    tables.map(({ name }) => {
      const shape = shapes.get(name)!;
      const referring = db
        .all(`select "from" as own, "table" as other, "to" as theirs from pragma_foreign_key_list(${literal(name)})`)
        .flatMap(({ own, other, theirs }) => {
          const numbered = shapes.get(String(other))?.numbered ?? [];
          return numbered.length > 0 && (theirs === null || numbered.includes(String(theirs))) ? [String(own)] : [];
        });
      const rows = db.all(`select * from ${quoted(name)}`).map((raw) => {
        const row = Object.fromEntries(Object.entries(raw).map(([column, value]) => [column, jsonOf(value)]));
        return { row, text: JSON.stringify(row) };
      });
      return [name, { shape: { ...shape, referring }, rows }];
    }),
  );
}

function shapeOf(db: OpenSqlite, name: string, sql: string): TableShape {
  const columns = db.all(`select name, type, pk from pragma_table_info(${literal(name)})`) as {
    name: string;
    type: string;
    pk: number;
  }[];
  const key = columns
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map((column) => column);
  // The alias of the row's own number.
  const isNumbered = key.length === 1 && /^integer$/i.test(key[0]!.type) && !/without\s+rowid/i.test(sql);
  const names = key.map((column) => column.name);
  return { name, key: names, numbered: isNumbered ? names : [], referring: [] };
}

export function changesBetween(before: SqliteRows, after: SqliteRows): TableChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    const was = before.get(name);
    const is = after.get(name);
    const left = new Map<string, number>();
    for (const { text } of was?.rows ?? []) left.set(text, (left.get(text) ?? 0) + 1);
    const added = (is?.rows ?? []).filter(({ text }) => {
      const count = left.get(text) ?? 0;
      if (count > 0) left.set(text, count - 1);
      return count === 0;
    });
    const removed = (was?.rows ?? []).filter(({ text }) => {
      const count = left.get(text) ?? 0;
      if (count > 0) left.set(text, count - 1);
      return count > 0;
    });
    if (added.length + removed.length === 0) return [];
    return [
      {
        table: (is ?? was)!.shape,
        added: added.map(({ row }) => row),
        removed: removed.map(({ row }) => row),
      },
    ];
  });
}
