/**
 * Your own database, through the driver you have: what idem/http, idem/webhooks and idem/toolkit keep their rows in.
 *
 * ```ts
 * const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
 * await ensureTables(adapter); // or, as a migration: npx idem sql | psql "$DATABASE_URL"
 * ```
 */
export type { Adapter, SqlTx, SyncAdapter, TransactionOptions } from "./toolkit/sql/adapter.ts";
export { sqliteAdapter } from "./toolkit/sql/better-sqlite3.ts";
export {
  type DrizzlePostgres,
  type DrizzleQueries,
  type DrizzleSql,
  type DrizzleSqlite,
  drizzleAdapter,
} from "./toolkit/sql/drizzle.ts";
export { type SqlFault, sqlFaultOf } from "./toolkit/sql/faults.ts";
export { type KyselyDatabase, type KyselyQueries, type KyselyText, kyselyAdapter } from "./toolkit/sql/kysely.ts";
export type { Answered, Dialect, Operation, Row, SqlValue, Statement } from "./toolkit/sql/operation.ts";
export { type PgAdapterOptions, pgAdapter } from "./toolkit/sql/pg.ts";
export {
  type PostgresJs,
  type PostgresJsQueries,
  type PostgresJsTx,
  postgresJsAdapter,
} from "./toolkit/sql/postgres-js.ts";
export {
  type PrismaAdapterOptions,
  type PrismaDatabase,
  type PrismaQueries,
  prismaAdapter,
} from "./toolkit/sql/prisma.ts";
export { checkTables, ensureTables } from "./toolkit/sql/ready-tables.ts";
export { type OpenTransaction, sqlTx } from "./toolkit/sql/sql-tx.ts";
export { type TableName, tablesSql } from "./toolkit/sql/tables.ts";
