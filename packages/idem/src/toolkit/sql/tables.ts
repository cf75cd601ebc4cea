// The toolkit's tables, as plain SQL that people read before they run it. A file per table and dialect; `idem sql` prints them.
import { readPackageText } from "../../platform/package-files.ts";
import type { Migration, ReleasedFiles } from "../../store/schema-history.ts";
import type { Dialect } from "./operation.ts";

/** In the order in which they are made. */
export const tableNames = [
  "idempotency_keys",
  "idem_outbox",
  "idem_inbox",
  "idem_claims",
  "idem_steps",
  "processed_webhook_events",
] as const;

export type TableName = (typeof tableNames)[number];

/** Of earlier builds; their rows stand in idem_claims now (carry-tables.ts). */
export const carriedTables = [
  "idem_locks",
  "idem_ticks",
  "idem_webhook_cursors",
  "idem_remote_records",
  "idem_sent_log",
] as const;

export type CarriedTable = (typeof carriedTables)[number];

/** The tables in which the others are noted. */
const noteTables = ["idem_toolkit", "idem_toolkit_history"] as const;

/** Each file and its checksum. One that was on main is never edited: databases have run it (`npm run check` says what to write here). */
export const releasedTables: Readonly<Record<Dialect, ReleasedFiles>> = {
  postgres: {
    idempotency_keys: "412585f1c13b8605",
    idem_claims: "abd095da0c6e51a0",
    idem_inbox: "28355b40208f312e",
    idem_locks: "ef0963409f0e2d74",
    idem_outbox: "45594d41c4d70860",
    idem_remote_records: "10975b8619568f09",
    idem_sent_log: "2861772774e83b0a",
    idem_steps: "eea25929fa5eeee8",
    idem_ticks: "e7f62d72e56244fb",
    idem_toolkit: "67ab17dc674b2f34",
    idem_toolkit_history: "04182ac148e96b89",
    idem_webhook_cursors: "d6d662195862ddc9",
    processed_webhook_events: "8dda8fc8da5e4942",
  },
  sqlite: {
    idempotency_keys: "ce4984c4719d225b",
    idem_claims: "1df7b57225ba1a5a",
    idem_inbox: "ae8f6588986d5dba",
    idem_locks: "5deda1b9caaeca43",
    idem_outbox: "109652f5a6f64e69",
    idem_remote_records: "d21a55a25c1537bf",
    idem_sent_log: "8de28811b00a04c6",
    idem_steps: "3656a9879122fcd6",
    idem_ticks: "8b0f2bc60473e75b",
    idem_toolkit: "67ab17dc674b2f34",
    idem_toolkit_history: "04182ac148e96b89",
    idem_webhook_cursors: "6bc963fa800f6e37",
    processed_webhook_events: "29584f63f8e13d93",
  },
};

/** Of those that are not at their first. A file says what a new database gets; what an old one needs beside it stands there too. */
const versions: Partial<Record<TableName, number>> = {};

export const tableVersion = (name: TableName): number => versions[name] ?? 1;

export const tableFile = (dialect: Dialect, name: TableName): Omit<Migration, "sql"> => ({
  version: tableVersion(name),
  name,
  checksum: releasedTables[dialect][name]!,
});

export const tableSql = (dialect: Dialect, name: TableName | CarriedTable | (typeof noteTables)[number]): string =>
  readPackageText(`toolkit/sql/tables/${dialect}/${name}.sql`);

const isAbsent: Readonly<Record<Dialect, (name: TableName) => string>> = {
  postgres: (name) => `to_regclass('${name}') is null`,
  sqlite: (name) => `not exists (select 1 from sqlite_master where type = 'table' and name = '${name}')`,
};

/** Before it is made: of a table that is there already nobody knows by which file. */
const noteFileSql = (dialect: Dialect, name: TableName): string => {
  const { version, checksum } = tableFile(dialect, name);
  return `insert into idem_toolkit_history (name, version, checksum)
  select '${name}', ${version}, '${checksum}' where ${isAbsent[dialect](name)}
  on conflict (name, version) do update set checksum = excluded.checksum;
`;
};

const noteSql = (name: TableName): string =>
  `insert into idem_toolkit (name, version) values ('${name}', ${tableVersion(name)}) on conflict (name) do nothing;\n`;

/** All of them, or these, and the tables in which they are noted. It may be run again. */
export const tablesSql = (dialect: Dialect, names: readonly TableName[] = tableNames): string =>
  [
    ...noteTables.map((name) => tableSql(dialect, name)),
    ...names.map((name) => noteFileSql(dialect, name) + tableSql(dialect, name) + noteSql(name)),
  ].join("\n");

/** One by one, for drivers that take no more at once. No text of ours has a ";" or "--" inside of quotes. */
export const statementsOf = (text: string): string[] =>
  text
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");

export const tableStatements = (dialect: Dialect, names: readonly TableName[]): string[] =>
  statementsOf(tablesSql(dialect, names));
