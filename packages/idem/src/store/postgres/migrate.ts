// Brings the schema up to this version, one numbered file after another in one transaction. Two nodes may start at once: the second
// waits, and finds it done. A schema written by a newer Idem is refused untouched. Nothing here takes a lock that a running node of
// the version before would wait for, and no wait for a lock is longer than a moment.
import type { Pool, PoolClient } from "pg";
import { errors } from "../../model/errors.ts";
import { readPackageText } from "../../platform/package-files.ts";
import { qualify, quoted, tableNames } from "./statement.ts";
import { nameStore } from "./store-id.ts";

const names = [
  "0001_foundation",
  "0002_settings",
  "0003_alerts",
  "0004_audit_actor",
  "0005_hour_counts",
  "0006_step_inputs",
  "0007_after_failure",
  "0008_audit_filters",
] as const;

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const loadMigrations = (): Migration[] =>
  names.map((name) => ({
    version: Number(name.slice(0, 4)),
    name,
    sql: readPackageText(`store/postgres/migrations/${name}.sql`),
  }));

/** Codes of two who make the same thing at once: whoever comes second looks again. */
const racing: ReadonlySet<string> = new Set(["23505", "42P06", "42P07", "42710", "55P03", "40P01", "40001"]);
const triesMax = 20;

export async function migrate(
  pool: Pool,
  schema: string,
  migrations: readonly Migration[],
  where: string,
): Promise<void> {
  for (let tried = 1; ; tried++) {
    const client = await pool.connect();
    try {
      if (await isCurrent(client, schema, migrations, where)) return;
      await bringUp(client, schema, migrations);
      return;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      const code = String((error as { code?: unknown }).code);
      if (code === "42501") {
        throw errors.STORE_URL_INVALID({
          url: where,
          why: `its role may not create or change the tables of schema "${schema}"; run "idem migrate" once as the schema's owner (docs/postgres.md)`,
        });
      }
      if (!racing.has(code) || tried === triesMax) throw error;
    } finally {
      client.release();
    }
  }
}

/** For whoever must not make or change anything, such as a command: the version there is, or what is missing. */
export async function checkSchema(
  pool: Pick<Pool, "query">,
  schema: string,
  migrations: readonly Migration[],
  where: string,
): Promise<number> {
  const known = migrations.at(-1)!.version;
  const refuse = (why: string) => errors.STORE_URL_INVALID({ url: where, why });
  const found = await versionOf(pool, schema).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "42501") throw error;
    throw refuse(`its role may not read schema "${schema}"; grant it what docs/postgres.md lists`);
  });
  if (found > known) throw errors.STORE_NEWER({ path: where, found, known });
  if (found === 0)
    throw refuse(`its schema "${schema}" has no tables of Idem; "idem migrate", or the first node, makes them`);
  if (found < known) {
    throw refuse(
      `its schema "${schema}" has version ${found}, older than ${known}; "idem migrate", or the next node, brings it up to date`,
    );
  }
  return found;
}

async function isCurrent(
  client: PoolClient,
  schema: string,
  migrations: readonly Migration[],
  where: string,
): Promise<boolean> {
  const known = migrations.at(-1)!.version;
  const found = await versionOf(client, schema);
  if (found > known) throw errors.STORE_NEWER({ path: where, found, known });
  return found === known;
}

/** 0 where there is no schema yet. */
export async function versionOf(client: Pick<Pool, "query">, schema: string): Promise<number> {
  const table = `${quoted(schema)}.migrations`;
  const there = await client.query({ text: "select to_regclass($1) is not null as there", values: [table] });
  if ((there.rows[0] as { there: boolean }).there !== true) return 0;
  const { rows } = await client.query(`select coalesce(max(version), 0)::int as version from ${table}`);
  return (rows[0] as { version: number }).version;
}

async function bringUp(client: PoolClient, schema: string, migrations: readonly Migration[]): Promise<void> {
  const table = `${quoted(schema)}.migrations`;
  await client.query("begin");
  await client.query("set local lock_timeout = '2s'");
  // "if not exists" would ask for the right to make one also where it is there already, and belongs to this role.
  const there = await client.query({ text: "select 1 from pg_namespace where nspname = $1", values: [schema] });
  if (there.rows.length === 0) await client.query(`create schema ${quoted(schema)}`);
  await client.query(
    `create table if not exists ${table} (version integer primary key, name text not null, at timestamptz not null default now())`,
  );
  // Others who migrate wait here; who only reads or works does not.
  await client.query(`lock table ${table} in share row exclusive mode`);
  const found = await versionOf(client, schema);
  for (const { version, name, sql } of migrations) {
    if (version <= found) continue;
    await client.query(qualifyDefinitions(sql, schema));
    await client.query({ text: `insert into ${table} (version, name) values ($1, $2)`, values: [version, name] });
  }
  await nameStore(client, schema);
  await client.query("commit");
}

const qualifyDefinitions = (sql: string, schema: string): string => {
  const statements = sql.replace(/--.*$/gm, "");
  return qualify(statements, schema).replaceAll(
    new RegExp(String.raw`\b(create table) (${tableNames.join("|")})\b`, "g"),
    (_, create: string, table: string) => `${create} ${quoted(schema)}.${table}`,
  );
};
