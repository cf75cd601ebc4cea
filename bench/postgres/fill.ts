// A store that holds many ended runs. A thousand runs are executed; then all their rows, in every table of history and in the claims,
// are copied under new ids, with earlier times and with other keys, until there are as many as wanted. Copies of real rows have the
// columns and sizes that the store writes today, whatever they are.
import type pg from "pg";
import { runSome } from "./measured.ts";
import type { BenchServer } from "./server.ts";

const tables = ["events", "decisions", "claims", "runs", "steps"] as const;
// Rows of each came in the order of this column.
const orders: Record<string, string> = {
  events: "id",
  decisions: "event_id",
  claims: "holder",
  runs: "id",
  steps: "run_id",
};
const schema = "idem";
const sampleRuns = 1_000;
// Copies are made so many at a time: the order of their times is then nearly the order of their rows, as it was in life.
const copiesAtOnce = 25;

// The first seven letters of an id are its time in units of this; the other three of its time and its chance are kept.
const copyMs = 32 ** 3;
const timeLetters = 7;
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export interface Filled {
  readonly runs: number;
  readonly seconds: number;
  readonly how: string;
  /** Per run, by table, right after the filling: as compact as it gets, except for the claims. */
  readonly bytes: Readonly<Record<string, { readonly heap: number; readonly index: number }>>;
  readonly bytesPerRun: number;
}

export async function fillStore(server: BenchServer, database: string, runs: number): Promise<Filled> {
  const startedAt = performance.now();
  // Before the first of the sample: every copy is older than all of it.
  const now = Date.now();
  await runSome(server, "idem", database, sampleRuns);
  return server.inside(database, async (client) => {
    for (const table of tables)
      await client.query(`create temp table sample_${table} as select * from ${schema}.${table}`);
    // Oldest first, so that indexes by time grow at their end, as they did in life: what is newest comes back last.
    await client.query(`truncate ${tables.map((table) => `${schema}.${table}`).join(", ")}`);
    const copy = await copyStatements(client);
    const copies = Math.round(runs / sampleRuns) - 1;
    for (let left = copies; left > 0; left -= copiesAtOnce) {
      const ages = Array.from({ length: Math.min(copiesAtOnce, left) }, (_, i) => left - i);
      const prefixes = ages.map((age) => timePrefix(now - age * copyMs));
      for (const statement of copy) await client.query(statement, [ages, prefixes]);
    }
    for (const table of tables)
      await client.query(`insert into ${schema}.${table} select * from sample_${table} order by ${orders[table]}`);
    await check(client, (copies + 1) * sampleRuns);
    // As autovacuum leaves tables that grew over hours.
    await client.query("vacuum (analyze)");
    const bytes = await bytesPerRun(client, runs);
    return {
      runs: (copies + 1) * sampleRuns,
      seconds: (performance.now() - startedAt) / 1_000,
      how: `${sampleRuns} executed runs, their rows copied ${copies} times with new ids, times and keys; then vacuum (analyze)`,
      bytes,
      bytesPerRun: Object.values(bytes).reduce((sum, { heap, index }) => sum + heap + index, 0),
    };
  });
}

/** For each table: all rows of the sample, once for each age, oldest first. A column's name says what it holds. */
async function copyStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ table_name: string; columns: string[] }>(
    `select table_name, array_agg(column_name::text order by ordinal_position) as columns
       from information_schema.columns where table_schema = $1 and table_name = any($2) group by table_name`,
    [schema, tables],
  );
  return rows.map(
    ({ table_name, columns }) => `
      insert into ${schema}.${table_name} (${columns.join(", ")})
      select ${columns.map(copied).join(", ")}
        from unnest($1::bigint[], $2::text[]) with ordinality as c (age, prefix, n)
       cross join sample_${table_name} s
       order by c.n, s.${orders[table_name]}
      on conflict do nothing`,
  );
}

function copied(column: string): string {
  const ids =
    /^(id|event_id|run_id|first_event_id|source_run_id|previous_run_id|rerun_of|root_run_id|newest_run_id|holder|generation)$/;
  if (ids.test(column)) {
    return `case when length(s.${column}) = 26 then c.prefix || substr(s.${column}, ${timeLetters + 1}) else s.${column} end`;
  }
  // Keys in no order: neighbours would leave most of the index untouched by those that come after.
  if (/^(key|caller_id)$/.test(column)) return `(hashtextextended(s.${column}, c.age) & 1099511627775)::text`;
  if (/(_at|^ts)$/.test(column)) return `s.${column} - c.age * ${copyMs}`;
  if (column === "stamp") return `s.${column} - c.age * ${copyMs * 1_000}`;
  return `s.${column}`;
}

function timePrefix(ms: number): string {
  let [left, text] = [Math.floor(ms / copyMs), ""];
  for (let i = 0; i < timeLetters; i++) {
    text = alphabet[left % 32]! + text;
    left = Math.floor(left / 32);
  }
  return text;
}

/** Every run has its event, its decision, its claims and its steps, and nothing was passed over for being there already. */
async function check(client: pg.Client, runs: number): Promise<void> {
  const wanted = { events: runs, decisions: runs, claims: 2 * runs, runs, steps: 3 * runs };
  for (const table of tables) {
    const { rows } = await client.query<{ count: number }>(`select count(*)::float8 as count from ${schema}.${table}`);
    // Two keys in a million may be drawn twice.
    if (Math.abs(rows[0]!.count - wanted[table]) > wanted[table] / 100_000)
      throw new Error(
        `${table} has ${rows[0]!.count} rows instead of ${wanted[table]}: the copying no longer fits the schema`,
      );
  }
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count
       from (select * from ${schema}.runs order by id limit 1000) r
       join ${schema}.events e on e.env = r.env and e.id = r.event_id
       join ${schema}.claims c on c.env = r.env and c.scope = 'fn:' || r.fn and c.key = r.key and c.holder = r.id`,
  );
  if (rows[0]!.count < 999)
    throw new Error("copied runs do not find their events and claims: the copying no longer fits the schema");
}

async function bytesPerRun(client: pg.Client, runs: number): Promise<Filled["bytes"]> {
  const { rows } = await client.query<{ name: string; heap: number; index: number }>(
    `select relname as name, pg_table_size(oid)::float8 as heap, pg_indexes_size(oid)::float8 as index
       from pg_class where relnamespace = $1::regnamespace and relname = any($2)`,
    [schema, tables],
  );
  return Object.fromEntries(rows.map(({ name, heap, index }) => [name, { heap: heap / runs, index: index / runs }]));
}
