// Brings a file's schema up to this version, one numbered file per transaction. Killed half-way, it goes on where it stopped.
// A file written by a newer Idem is refused untouched.
import { errors } from "../../model/errors.ts";
import type { Connection } from "./connection.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export function schemaVersion(connection: Connection): number {
  return connection.db.pragma("user_version", { simple: true }) as number;
}

export function migrate(connection: Connection, migrations: readonly Migration[]): void {
  const known = migrations.at(-1)!.version;
  const found = schemaVersion(connection);
  if (found > known) throw errors.STORE_NEWER({ path: connection.path, found, known });
  for (const { version, sql } of migrations) {
    if (version <= found) continue;
    connection.db
      .transaction(() => {
        connection.db.exec(sql);
        connection.db.pragma(`user_version = ${version}`);
      })
      .immediate();
  }
}
