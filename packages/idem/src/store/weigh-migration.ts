// The weight of a migration on the rows that are there, read from its statements: whether it is quick on a store of any size.
//
//   new table, its indexes and first rows; new column, view; renaming; dropping   quick
//   an index over a table that was there; a select from one                 reads every row of it
//   update, delete; any other change of a table that was there              rewrites it
export interface MigrationWeight {
  readonly kind: "quick" | "reads" | "rewrites";
  /** That were there before it. */
  readonly tables: readonly string[];
}

const isQuick = /^(?:create view\b|drop (?:table|index)\b|alter table \S+ (?:add column|rename)\b|analyze\b|pragma\b)/;

export function weighMigration(sql: string): MigrationWeight {
  const statements = sql
    .replaceAll(/--[^\n]*/g, "")
    .split(";")
    .map((text) => text.trim().replaceAll(/\s+/g, " ").toLowerCase())
    .filter((text) => text !== "");
  const made = new Set(statements.flatMap((text) => /^create table (?:if not exists )?"?(\w+)/.exec(text)?.[1] ?? []));
  const reads = new Set<string>();
  const rewrites = new Set<string>();
  for (const text of statements) {
    if (isQuick.test(text) || text.startsWith("create table")) continue;
    const [, indexed] = /^create (?:unique )?index .*? on "?(\w+)/.exec(text) ?? [];
    const [, changed] = /^(?:update|delete from|alter table) "?(\w+)/.exec(text) ?? [];
    if (changed !== undefined) rewrites.add(changed);
    if (indexed !== undefined) reads.add(indexed);
    else for (const [, from] of text.matchAll(/\b(?:from|join) "?(\w+)/g)) reads.add(from!);
  }
  const there = (tables: Set<string>) => [...tables].filter((table) => !made.has(table)).sort();
  if (there(rewrites).length > 0) return { kind: "rewrites", tables: there(rewrites) };
  return there(reads).length > 0 ? { kind: "reads", tables: there(reads) } : { kind: "quick", tables: [] };
}
