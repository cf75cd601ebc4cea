// The contents of a PostgreSQL database, which of its tables were written to, and how they are put back: by rows, where only rows differ.

import { worldSchema } from "./postgres-clock.ts";
import type { Row, TableShape } from "./row-things.ts";
import { isOwnTable } from "./row-things.ts";
import { changesBetween, type TableRows } from "./sqlite-rows.ts";

// biome-ignore lint/suspicious/noExplicitAny: the asker knows what a row holds
export type AskedRow = Record<string, any>;

/** A session of the verifier's own. */
export type Ask = (sql: string, values?: readonly unknown[]) => Promise<AskedRow[]>;

interface Table {
  readonly shape: TableShape;
  /** As SQL names it. */
  readonly sql: string;
  /** The copy of what it held. */
  readonly copy: string;
  /** Columns that can be written. */
  readonly columns: string;
}

interface Touched {
  readonly i: number;
  readonly n: string;
  readonly x: string;
}

const copySchema = "idem_verify_before";

const tablesSql = `
  select c.oid::int, n.nspname as schema, c.relname as name,
    (select coalesce(json_agg(a.attname order by k.ord), '[]') from pg_index i, unnest(i.indkey) with ordinality k(num, ord), pg_attribute a
      where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid and a.attnum = k.num) as key,
    (select coalesce(json_agg(a.attname), '[]') from pg_attribute a left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%')) as numbered,
    (select coalesce(json_agg(quote_ident(a.attname) order by a.attnum), '[]') from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
    (select coalesce(json_agg(json_build_object('own', a.attname, 'other', f.confrelid::int, 'theirs', b.attname)), '[]')
      from pg_constraint f, unnest(f.conkey, f.confkey) as k(own, theirs), pg_attribute a, pg_attribute b
      where f.conrelid = c.oid and f.contype = 'f' and a.attrelid = c.oid and a.attnum = k.own and b.attrelid = f.confrelid and b.attnum = k.theirs) as refers
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', '${copySchema}', '${worldSchema}') and n.nspname not like 'pg\\_%'
  order by n.nspname, c.relname`;

interface FoundTable {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly key: readonly string[];
  readonly numbered: readonly string[];
  readonly columns: readonly string[];
  readonly refers: readonly { readonly own: string; readonly other: number; readonly theirs: string }[];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The second clean run's numbers are ahead by this: whatever is made of them is seen to differ. */
const otherNumbers = 1_000;

export class PostgresRows {
  private tables: Table[] = [];
  /** Describes the tables, to see that none came or went. */
  private names = "";
  private before: TableRows[] = [];
  private counts: string[] = [];
  private newest = 0n;
  private sequences: { readonly name: string; readonly last: string; readonly called: boolean }[] = [];

  constructor(private readonly ask: Ask) {}

  private async found(): Promise<FoundTable[]> {
    return (await this.ask(tablesSql)) as unknown as FoundTable[];
  }

  /** Every world begins with what stands there now. */
  async keep(): Promise<void> {
    const found = await this.found();
    this.names = JSON.stringify(found);
    const numberedOf = new Map(found.map(({ oid, numbered }) => [oid, numbered]));
    this.tables = found.map(({ schema, name, key, numbered, columns, refers }, i) => ({
      shape: {
        name,
        key,
        numbered,
        referring: refers.flatMap(({ own, other, theirs }) =>
          numberedOf.get(other)?.includes(theirs) === true ? [own] : [],
        ),
      },
      sql: `${quoted(schema)}.${quoted(name)}`,
      copy: `${copySchema}.t${i}`,
      columns: columns.join(", "),
    }));
    await this.ask(`create schema ${copySchema}`);
    for (const { sql, copy } of this.tables) await this.ask(`create unlogged table ${copy} as table ${sql}`);
    this.sequences = (
      await this.ask(
        "select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name, last_value::text as last, start_value::text as start from pg_sequences",
      )
    ).map(({ name, last, start }) => ({ name, last: last ?? start, called: last !== null }));
    this.before = await this.rowsOf(this.tables.map((_, i) => i));
    this.counts = this.before.map(({ rows }) => String(rows.length));
    await this.noteNewest();
  }

  private async noteNewest(): Promise<void> {
    const [row] = await this.ask("select pg_current_xact_id()::text as x");
    this.newest = BigInt(row!.x as string);
  }

  private async rowsOf(indexes: readonly number[]): Promise<TableRows[]> {
    const all: TableRows[] = [];
    for (const i of indexes) {
      const { shape, sql } = this.tables[i]!;
      const rows = await this.ask(`select to_jsonb(x)::text as text from ${sql} x order by ctid`);
      all.push({
        shape,
        rows: rows.map(({ text }) => ({ text: text as string, row: JSON.parse(text as string) as Row })),
      });
    }
    return all;
  }

  /** Tables that hold a row which is newer, or have another number of them. */
  private async touched(): Promise<number[]> {
    if (this.tables.length === 0) return [];
    const each = this.tables.map(
      ({ sql }, i) =>
        `select ${i} as i, count(*)::text as n, coalesce(max(xmin::text::bigint), 0)::text as x from ${sql}`,
    );
    const rows = (await this.ask(each.join(" union all "))) as unknown as Touched[];
    // Of a server that is older than four thousand million transactions the numbers begin anew.
    const newest = this.newest & 0xffffffffn;
    return rows.filter(({ i, n, x }) => n !== this.counts[i] || BigInt(x) > newest).map(({ i }) => i);
  }

  private dirty: number[] = [];
  private isOther = false;

  /** The rows that a world changed. */
  async changes() {
    this.isOther = JSON.stringify(await this.found()) !== this.names;
    // Tables that came or went with a world are not put back by rows; what stood in the others is compared.
    this.dirty = this.isOther ? [] : await this.touched();
    const own = this.dirty.filter((i) => !isOwnTable(this.tables[i]!.shape.name));
    const named = (list: readonly TableRows[]) => new Map(list.map((each, k) => [this.tables[own[k]!]!.sql, each]));
    return changesBetween(named(own.map((i) => this.before[i]!)), named(await this.rowsOf(own)));
  }

  /** Whether rows were enough. */
  async putBack(withOtherNumbers: boolean): Promise<boolean> {
    if (this.isOther) return false;
    const parts = this.dirty.flatMap((i) => {
      const { sql, copy, columns } = this.tables[i]!;
      return [
        `delete from ${sql}`,
        `insert into ${sql} (${columns}) overriding system value select ${columns} from ${copy}`,
      ];
    });
    const ahead = withOtherNumbers ? otherNumbers : 0;
    const numbers = this.sequences.map(
      ({ name, last, called }) => `setval('${name.replaceAll("'", "''")}', ${last} + ${ahead}, ${called || ahead > 0})`,
    );
    if (numbers.length > 0) parts.push(`select ${numbers.join(", ")}`);
    if (parts.length === 0) return true;
    await this.ask(`begin; set local session_replication_role = replica; ${parts.join("; ")}; commit`);
    this.dirty = [];
    await this.noteNewest();
    return true;
  }
}
