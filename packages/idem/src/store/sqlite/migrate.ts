// Brings a file's schema up to this version, one numbered file per transaction, a new file in one. Killed half-way, it goes on where it stopped.
// A file written by a newer Idem, or by other migrations than ours, is refused untouched.
import { errors } from "../../model/errors.ts";
import {
  type AppliedMigration,
  differencesFrom,
  judgeHistory,
  type Migration,
  mendOf,
  type OurHistory,
  requireOurs,
  tellDifferences,
} from "../schema-history.ts";
import { Connection } from "./connection.ts";
import { describeSchema, type ObjectRow } from "./describe-schema.ts";
import { immediately } from "./driver.ts";
import { mends } from "./mends.ts";

const makeTableSql = `
  create table if not exists migrations (version integer primary key, name text not null, checksum text not null)`;
const readAppliedSql = "select version, checksum from migrations";
const noteAppliedSql = "insert into migrations (version, name, checksum) values (?, ?, ?) on conflict do nothing";

export function schemaVersion(connection: Connection): number {
  return connection.pragma("user_version") as number;
}

/** Refuses what is newer or other. */
export function readHistory(connection: Connection, migrations: readonly Migration[]): OurHistory {
  const isKept = connection.all("pragma table_info(migrations)").length > 0;
  const applied = isKept ? connection.all<AppliedMigration>(readAppliedSql) : [];
  return requireOurs(judgeHistory(schemaVersion(connection), applied, migrations), connection.path);
}

export function migrate(connection: Connection, migrations: readonly Migration[]): void {
  const history = readHistory(connection, migrations);
  if (history.kind === "current") return;
  const { db } = connection;
  const found = history.kind === "empty" ? 0 : history.found;
  const isBlank = connection.pragma("schema_version") === 0;
  const made = isBlank ? madeOf.get(migrations) : undefined;
  if (made !== undefined) {
    immediately(db, () => db.exec(made));
    return;
  }
  if (history.kind === "unrecorded") immediately(db, () => recognise(connection, migrations, found));
  const apply = (migration: Migration) => {
    db.exec(migration.sql);
    connection.pragma(`user_version = ${migration.version}`);
    note(connection, migration);
  };
  // A blank file has nothing that could take long: one wait for the disk instead of one for each.
  if (isBlank) immediately(db, () => migrations.forEach(apply));
  else for (const migration of migrations) if (migration.version > found) immediately(db, () => apply(migration));
  if (isBlank) madeOf.set(migrations, scriptOf(connection));
}

/**
 * The schema that all migrations together make, once this process has seen it: a later store gets it at once, in a third of the time, which
 * counts where each test opens a store of its own in memory. The first store of a process goes through them one by one.
 */
const madeOf = new WeakMap<readonly Migration[], string>();

/** The statements that make this schema, and the rows in it. */
function scriptOf(connection: Connection): string {
  const things = connection.all<ObjectRow>(
    "select type, name, sql from sqlite_schema where sql is not null order by type = 'table' desc, rowid",
  );
  const rows = things
    .filter(({ type }) => type === "table")
    .flatMap(({ name }) => {
      const columns = connection.all<{ name: string }>(`select name from pragma_table_info('${name}')`);
      const quoted = columns.map((column) => `quote("${column.name}")`).join(" || ', ' || ");
      return connection
        .all<{ row: string }>(`select ${quoted} as row from "${name}"`)
        .map(({ row }) => `insert into "${name}" values (${row})`);
    });
  return [...things.map(({ sql }) => sql), ...rows, `pragma user_version = ${schemaVersion(connection)}`].join(";\n");
}

function note(connection: Connection, { version, name, checksum }: Migration): void {
  connection.db.exec(makeTableSql);
  connection.run(noteAppliedSql, version, name, checksum);
}

/** A file from before checksums has the schema our files make, or one that is known and mended to it. */
function recognise(connection: Connection, migrations: readonly Migration[], version: number): void {
  const ran = migrations.filter((migration) => migration.version <= version);
  const wanted = schemaAfter(ran);
  for (const difference of differencesFrom(wanted, describeSchema(connection))) {
    const mend = mendOf(mends, difference);
    if (mend !== undefined) connection.db.exec(mend.sql);
  }
  const left = differencesFrom(wanted, describeSchema(connection));
  if (left.length > 0) {
    throw errors.STORE_HISTORY_DIFFERS({ path: connection.path, why: tellDifferences(version, left) });
  }
  for (const migration of ran) note(connection, migration);
}

function schemaAfter(migrations: readonly Migration[]) {
  const model = new Connection(":memory:", { readonly: false });
  try {
    for (const { sql } of migrations) model.db.exec(sql);
    return describeSchema(model);
  } finally {
    model.close();
  }
}
