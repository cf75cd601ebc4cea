// Brings the schema up to this version, one numbered file after another in one transaction. Two nodes may start at once: the second
// waits, and finds it done. A schema written by a newer Idem, or by other migrations than ours, is refused untouched. Nothing here takes
// a lock that a running node of the version before would wait for, and no wait for a lock is longer than a moment.
import type { Pool, PoolClient } from "pg";
import { errors } from "../../model/errors.ts";
import {
  type AppliedMigration,
  differencesFrom,
  judgeHistory,
  type Migration,
  mendOf,
  type OurHistory,
  requireOurs,
  type SchemaThings,
  tellDifferences,
} from "../schema-history.ts";
import { describeSchema } from "./describe-schema.ts";
import { mends } from "./mends.ts";
import type { RecognisedServer } from "./recognise-server.ts";
import { qualify, quoted } from "./statement.ts";
import { nameStore } from "./store-id.ts";

/** Codes of two who make the same thing at once: whoever comes second looks again. */
const racing: ReadonlySet<string> = new Set(["23505", "42P06", "42P07", "42710", "55P03", "40P01", "40001"]);
const triesMax = 20;

export async function migrate(
  pool: Pool,
  schema: string,
  migrations: readonly Migration[],
  where: string,
  server: Pick<RecognisedServer, "hasTableLocks"> = { hasTableLocks: true },
): Promise<void> {
  for (let tried = 1; ; tried++) {
    const client = await pool.connect();
    try {
      if ((await readHistory(client, schema, migrations, where)).kind === "current") return;
      await bringUp(client, schema, migrations, where, server);
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
  const history = await readHistory(pool, schema, migrations, where).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "42501") throw error;
    throw refuse(`its role may not read schema "${schema}"; grant it what docs/postgres.md lists`);
  });
  const bringsOn = '"idem migrate", or the next node, brings it up to date';
  switch (history.kind) {
    case "current":
      return known;
    case "empty":
      throw refuse(`its schema "${schema}" has no tables of Idem; "idem migrate", or the first node, makes them`);
    case "behind":
      throw refuse(`its schema "${schema}" has version ${history.found}, older than ${known}; ${bringsOn}`);
    case "unrecorded":
      throw refuse(`its schema "${schema}" is of a build that kept no checksums of its migrations; ${bringsOn}`);
  }
}

/** 0 where there is no schema yet. */
export const versionOf = async (client: Pick<Pool, "query">, schema: string): Promise<number> =>
  Math.max(0, ...(await readApplied(client, schema)).map(({ version }) => version));

async function readApplied(client: Pick<Pool, "query">, schema: string): Promise<AppliedMigration[]> {
  const table = `${quoted(schema)}.migrations`;
  const there = await client.query({ text: "select to_regclass($1) is not null as there", values: [table] });
  if ((there.rows[0] as { there: boolean }).there !== true) return [];
  // By way of JSON: tables of the builds before have no such column.
  const { rows } = await client.query(`select version, to_jsonb(m) ->> 'checksum' as checksum from ${table} m`);
  return rows as AppliedMigration[];
}

/** Refuses what is newer or other. */
export async function readHistory(
  client: Pick<Pool, "query">,
  schema: string,
  migrations: readonly Migration[],
  where: string,
): Promise<OurHistory> {
  const applied = await readApplied(client, schema);
  const found = Math.max(0, ...applied.map(({ version }) => version));
  return requireOurs(judgeHistory(found, applied, migrations), where);
}

async function bringUp(
  client: PoolClient,
  schema: string,
  migrations: readonly Migration[],
  where: string,
  { hasTableLocks }: Pick<RecognisedServer, "hasTableLocks">,
): Promise<void> {
  const table = `${quoted(schema)}.migrations`;
  await client.query("begin");
  await client.query("set local lock_timeout = '2s'");
  // What a statement, or since PostgreSQL 17 a transaction, of this role may take is meant for its work.
  await client.query(
    "select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'transaction_timeout')",
  );
  // "if not exists" would ask for the right to make one also where it is there already, and belongs to this role.
  const there = await client.query({ text: "select 1 from pg_namespace where nspname = $1", values: [schema] });
  if (there.rows.length === 0) await client.query(`create schema ${quoted(schema)}`);
  await client.query(
    `create table if not exists ${table} (version integer primary key, name text not null, at timestamptz not null default now(), checksum text)`,
  );
  // Others who migrate wait here; who only reads or works does not.
  await client.query(
    hasTableLocks
      ? `lock table ${table} in share row exclusive mode`
      : `select 1 from ${table} order by version limit 1 for update`,
  );
  const history = await readHistory(client, schema, migrations, where);
  if (history.kind === "unrecorded") await recognise(client, schema, migrations, history.found, where);
  const found = await versionOf(client, schema);
  for (const { version, name, sql, checksum } of migrations) {
    if (version <= found) continue;
    await client.query(qualifyDefinitions(sql, schema));
    await client.query({
      text: `insert into ${table} (version, name, checksum) values ($1, $2, $3)`,
      values: [version, name, checksum],
    });
  }
  await nameStore(client, schema);
  await client.query("commit");
}

/** A schema from before checksums is what our files make, or one that is known and mended to it. */
async function recognise(
  client: PoolClient,
  schema: string,
  migrations: readonly Migration[],
  version: number,
  where: string,
): Promise<void> {
  const ran = migrations.filter((migration) => migration.version <= version);
  const wanted = await schemaAfter(client, ran);
  for (const difference of differencesFrom(wanted, await describeSchema(client, { schema }))) {
    const mend = mendOf(mends, difference);
    if (mend !== undefined) await client.query(qualifyDefinitions(mend.sql, schema));
  }
  const left = differencesFrom(wanted, await describeSchema(client, { schema }));
  if (left.length > 0) throw errors.STORE_HISTORY_DIFFERS({ path: where, why: tellDifferences(version, left) });
  const table = `${quoted(schema)}.migrations`;
  await client.query(`alter table ${table} add column if not exists checksum text`);
  for (const migration of ran) {
    await client.query({
      text: `update ${table} set checksum = $1 where version = $2`,
      values: [migration.checksum, migration.version],
    });
  }
}

/** Made where only this session sees it, and undone. */
async function schemaAfter(client: PoolClient, migrations: readonly Migration[]): Promise<SchemaThings> {
  await client.query("savepoint model");
  for (const { sql } of migrations) await client.query(qualifyDefinitions(sql, "pg_temp"));
  const things = await describeSchema(client, "temporary");
  await client.query("rollback to savepoint model");
  return things;
}

const qualifyDefinitions = (sql: string, schema: string): string => {
  const statements = sql.replace(/--.*$/gm, "");
  return qualify(statements, schema).replace(/\b(drop index) (\w+)/g, (_, drop: string, index: string) => {
    return `${drop} ${quoted(schema)}.${index}`;
  });
};
