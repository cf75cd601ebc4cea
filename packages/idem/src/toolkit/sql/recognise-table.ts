// A table of the toolkit of which nobody noted by which file it was made: it is what our file makes, or it is refused.
import { errors } from "../../model/errors.ts";
import {
  type DefinedRow,
  type IndexRow,
  type ColumnRow as PostgresColumn,
  schemaSql as postgresSchemaSql,
  thingsOf as postgresThings,
} from "../../store/postgres/describe-schema.ts";
import { differencesFrom, type SchemaThings, tellDifferences } from "../../store/schema-history.ts";
import {
  type ObjectRow,
  type ColumnRow as SqliteColumn,
  schemaSql as sqliteSchemaSql,
  thingsOf as sqliteThings,
} from "../../store/sqlite/describe-schema.ts";
import type { Dialect, Operation, Row } from "./operation.ts";
import { statementsOf, type TableName, tableFile, tableSql } from "./tables.ts";

type Place = "user" | "temporary";

/** Within a transaction. Throws TABLES_DIFFER, and then nothing of it stays. */
export function* recogniseTable(dialect: Dialect, name: TableName): Operation<void> {
  const { version, checksum } = tableFile(dialect, name);
  const wanted = yield* modelOf(dialect, name);
  const found = yield* describe(dialect, name, "user");
  const left = differencesFrom(wanted, found);
  if (left.length > 0) throw errors.TABLES_DIFFER({ table: name, why: tellDifferences(version, left) });
  yield {
    text: `
      insert into idem_toolkit_history (name, version, checksum) values ($1, $2, $3)
      on conflict (name, version) do update set checksum = excluded.checksum`,
    params: [name, version, checksum],
  };
}

/** The table our file makes, made where only this session sees it, and undone. */
function* modelOf(dialect: Dialect, name: TableName): Operation<SchemaThings> {
  const isPostgres = dialect === "postgres";
  if (isPostgres) yield { text: "savepoint idem_model", params: [] };
  for (const statement of statementsOf(tableSql(dialect, name))) {
    const temporary = statement.replace("create table if not exists", "create temporary table");
    const text = isPostgres ? temporary : temporary.replace(/(index if not exists) (\w+)/, "$1 temp.$2");
    yield { text, params: [] };
  }
  const things = yield* describe(dialect, name, "temporary");
  yield { text: isPostgres ? "rollback to savepoint idem_model" : `drop table temp.${name}`, params: [] };
  return things;
}

const namespaceSql: Readonly<Record<Place, string>> = {
  // Where the session's search path finds it.
  user: "select cast(relnamespace as text) as oid from pg_class where oid = to_regclass($1)",
  temporary: "select cast(pg_my_temp_schema() as text) as oid where cast($1 as text) is not null",
};

function* describe(dialect: Dialect, name: TableName, place: Place): Operation<SchemaThings> {
  if (dialect === "sqlite") {
    const { objects, columns } = sqliteSchemaSql(place === "user" ? "main" : "temp", "and m.tbl_name = $1");
    return sqliteThings(yield* rowsOf<ObjectRow>(objects, name), yield* rowsOf<SqliteColumn>(columns, name));
  }
  const [namespace] = yield* rowsOf<{ readonly oid: string }>(namespaceSql[place], name);
  const { columns, constraints, indexes } = postgresSchemaSql("and c.relname = $2");
  return postgresThings(
    yield* rowsOf<PostgresColumn>(columns, namespace!.oid, name),
    yield* rowsOf<DefinedRow>(constraints, namespace!.oid, name),
    yield* rowsOf<IndexRow>(indexes, namespace!.oid, name),
  );
}

function* rowsOf<T>(text: string, ...params: string[]): Operation<readonly T[]> {
  const { rows } = yield { text, params };
  return rows as readonly Row[] as readonly T[];
}
