// The toolkit's tables, as plain SQL that people read before they run it. A file per table and dialect; `idem sql` prints them.
import { readPackageText } from "../../platform/package-files.ts";
import type { Dialect } from "./operation.ts";

/** In the order in which they are made. */
export const tableNames = [
  "idempotency_keys",
  "idem_outbox",
  "idem_inbox",
  "idem_sent_log",
  "idem_locks",
  "idem_remote_records",
  "idem_ticks",
  "idem_steps",
  "processed_webhook_events",
  "idem_webhook_cursors",
] as const;

export type TableName = (typeof tableNames)[number];

/** Of those that are not at their first. A file says what a new database gets; what an old one needs beside it stands there too. */
const versions: Partial<Record<TableName, number>> = {};

export const tableVersion = (name: TableName): number => versions[name] ?? 1;

const read = (dialect: Dialect, name: string): string => readPackageText(`toolkit/sql/tables/${dialect}/${name}.sql`);

const noteSql = (name: TableName): string =>
  `insert into idem_toolkit (name, version) values ('${name}', ${tableVersion(name)}) on conflict (name) do nothing;\n`;

/** All of them, or these, and the table in which they are noted. It may be run again. */
export const tablesSql = (dialect: Dialect, names: readonly TableName[] = tableNames): string =>
  [read(dialect, "idem_toolkit"), ...names.map((name) => read(dialect, name) + noteSql(name))].join("\n");

/** One by one, for drivers that take no more at once. No text of ours has a ";" or "--" inside of quotes. */
export const tableStatements = (dialect: Dialect, names: readonly TableName[]): string[] =>
  tablesSql(dialect, names)
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
