// A table of the toolkit of which nobody noted by which file it was made: it is what our file makes, or what a build made whose file was
// edited later, which is known and mended, or it is refused.
import { errors } from "../../model/errors.ts";
import {
  type DefinedRow,
  type IndexRow,
  type ColumnRow as PostgresColumn,
  schemaSql as postgresSchemaSql,
  thingsOf as postgresThings,
} from "../../store/postgres/describe-schema.ts";
import { differencesFrom, type Mend, mendOf, type SchemaThings, tellDifferences } from "../../store/schema-history.ts";
import {
  type ObjectRow,
  type ColumnRow as SqliteColumn,
  schemaSql as sqliteSchemaSql,
  thingsOf as sqliteThings,
} from "../../store/sqlite/describe-schema.ts";
import type { Dialect, Operation, Row } from "./operation.ts";
import { statementsOf, type TableName, tableFile, tableSql } from "./tables.ts";

/** What tables lack whose file was edited after they were made. Each was on main for a while; nothing is edited any more. */
const mends: Readonly<Record<Dialect, readonly Mend[]>> = {
  postgres: [
    {
      thing: "constraint idem_ticks.idem_ticks_state_check",
      found: "CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'parked'::text])))",
      sql: `
        alter table idem_ticks drop constraint idem_ticks_state_check,
          add constraint idem_ticks_state_check check (state in ('running', 'done', 'parked', 'released'))`,
    },
  ],
  sqlite: [
    {
      // A check cannot be changed there: the table is made anew, and its rows are brought over.
      thing: "table idem_ticks",
      found: "with rowid, check (state in ('running', 'done', 'parked'))",
      sql: `
        ${tableSql("sqlite", "idem_ticks").replace("exists idem_ticks (", "exists idem_ticks_mended (")};
        insert into idem_ticks_mended select * from idem_ticks;
        drop table idem_ticks;
        alter table idem_ticks_mended rename to idem_ticks`,
    },
  ],
};

type Place = "user" | "temporary";

/** Within a transaction. Throws TABLES_DIFFER, and then nothing of it stays. */
export function* recogniseTable(dialect: Dialect, name: TableName): Operation<void> {
  const { version, checksum } = tableFile(dialect, name);
  const wanted = yield* modelOf(dialect, name);
  const found = yield* describe(dialect, name, "user");
  let left = differencesFrom(wanted, found);
  const cures = left.flatMap((difference) => mendOf(mends[dialect], difference) ?? []);
  // Making a table anew, as on SQLite, would lose what somebody added to it.
  const isOurs = dialect === "postgres" || [...found.keys()].every((thing) => wanted.has(thing));
  if (cures.length > 0 && cures.length === left.length && isOurs) {
    for (const text of cures.flatMap(({ sql }) => statementsOf(sql))) yield { text, params: [] };
    left = differencesFrom(wanted, yield* describe(dialect, name, "user"));
  }
  if (left.length > 0) throw errors.TABLES_DIFFER({ table: name, why: tellDifferences(version, left) });
  yield {
    text: `
      insert into idem_toolkit_history (name, version, checksum) values ($1, $2, $3)
      on conflict (name, version) do update set checksum = excluded.checksum`,
    params: [name, version, checksum],
  };
}

/** What our file makes, where only this session sees it, and undone. */
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
