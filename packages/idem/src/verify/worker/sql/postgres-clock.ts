// The world's clock in PostgreSQL. The server has its own, and leases, windows and due dates that code keeps in rows would never pass by it. Whatever reads the
// time in a statement, a default, a view or a function of the server's is replaced by a function that reads a row, set before each statement.
import type { Ask } from "./postgres-rows.ts";

/** Holds the worlds' own things in the user's database. */
export const worldSchema = "idem_verify_world";

const clock = `${worldSchema}.now()`;

const words: Readonly<Record<string, string>> = {
  now: clock,
  clock_timestamp: clock,
  statement_timestamp: clock,
  transaction_timestamp: clock,
  current_timestamp: clock,
  localtimestamp: `(${clock}::timestamp)`,
  current_date: `(${clock}::date)`,
  current_time: `(${clock}::timetz)`,
  localtime: `(${clock}::time)`,
};

const tellsTime =
  /\b((?:pg_catalog\s*\.\s*)?(?:now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\(\s*\)|(?:current_timestamp|localtimestamp|current_date|current_time|localtime)\b(?:\s*\(\s*\d\s*\))?)/i;
const strings = String.raw`\be'(?:\\[\s\S]|''|[^'\\])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*[\s\S]*?\*/`;
const bodies = String.raw`\$([A-Za-z_]*)\$[\s\S]*?\$\1\$`;
const inStatement = new RegExp(`${strings}|${bodies}|(?<![.\\w])${tellsTime.source}`, "gi");
/** The text of a function of the server's stands between dollars. */
const inDefinition = new RegExp(`${strings}|(?<![.\\w])${tellsTime.source}`, "gi");

const replaced = (sql: string, pattern: RegExp): string =>
  sql.replace(pattern, (found) => {
    const word = /^(?:pg_catalog\s*\.\s*)?([a-z_]+)/i.exec(found)?.[1]?.toLowerCase() ?? "";
    return /^["'$/-]|^e'/i.test(found) ? found : (words[word] ?? found);
  });

const known = new Map<string, string>();
const knownMax = 2_000;

/** The same statement, on the world's time. */
export function onWorldTime(sql: string): string {
  if (!tellsTime.test(sql)) return sql;
  const before = known.get(sql);
  if (before !== undefined) return before;
  const made = replaced(sql, inStatement);
  if (known.size < knownMax) known.set(sql, made);
  return made;
}

const setUp = `
  create schema if not exists ${worldSchema};
  create table if not exists ${worldSchema}.clock (at timestamptz not null);
  insert into ${worldSchema}.clock select now() where not exists (select 1 from ${worldSchema}.clock);
  create or replace function ${clock} returns timestamptz language sql stable as 'select at from ${worldSchema}.clock'`;

const own = `n.nspname not in ('pg_catalog', 'information_schema', '${worldSchema}') and n.nspname not like 'pg\\_%'`;

const defaultsSql = `
  select format('alter table %I.%I alter column %I set default ', n.nspname, c.relname, a.attname) as head, pg_get_expr(d.adbin, d.adrelid) as text
    from pg_attrdef d join pg_class c on c.oid = d.adrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
   where a.attgenerated = '' and a.attidentity = '' and ${own}`;
const functionsSql = `
  select '' as head, pg_get_functiondef(p.oid) as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    join pg_language l on l.oid = p.prolang where l.lanname in ('sql', 'plpgsql') and p.prokind in ('f', 'p') and ${own}
     and not exists (select 1 from pg_depend e where e.objid = p.oid and e.deptype = 'e')`;
const viewsSql = `
  select format('create or replace view %I.%I as ', n.nspname, c.relname) as head, pg_get_viewdef(c.oid) as text
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'v' and ${own}
     and not exists (select 1 from pg_depend e where e.objid = c.oid and e.deptype = 'e')`;

/** From here on the database has the world's time, whatever was made in it by then. */
export async function openClock(ask: Ask): Promise<void> {
  await ask(setUp);
  for (const [sql, pattern] of [
    [defaultsSql, inStatement],
    [functionsSql, inDefinition],
    [viewsSql, inStatement],
  ] as const) {
    for (const { head, text } of await ask(sql)) {
      const made = replaced(String(text), pattern);
      // A definition that the server refuses keeps the machine's time.
      if (made !== text) await ask(`${String(head)}${made}`).catch(() => {});
    }
  }
}

export async function setClock(ask: Ask, ms: number): Promise<void> {
  await ask(`update ${worldSchema}.clock set at = to_timestamp($1::float8 / 1000)`, [ms]);
}
