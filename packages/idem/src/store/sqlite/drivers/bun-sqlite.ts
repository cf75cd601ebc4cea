// The SQLite inside Bun.
import type { Driver, Handle, Param, Prepared } from "../driver.ts";

export interface BunSqlite {
  readonly Database: new (
    path: string,
    options: { readonly?: boolean; readwrite?: boolean; create?: boolean; strict: boolean },
  ) => BunDatabase;
}

interface BunDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): BunStatement;
  exec(sql: string): void;
  close(): void;
}

interface BunStatement {
  readonly columnNames: readonly string[];
  run(...params: readonly unknown[]): { readonly changes: number };
  get(...params: readonly unknown[]): unknown;
  all(...params: readonly unknown[]): unknown[];
  iterate(): Iterable<Readonly<Record<string, Param>>>;
  finalize(): void;
}

export function bunSqlite({ Database }: BunSqlite): Driver {
  return {
    name: "bun",
    open: (path, { readonly, busyMs, mustExist }) => {
      const create = mustExist !== true;
      const db = new Database(path, readonly ? { readonly, strict: true } : { readwrite: true, create, strict: true });
      // One that is not finalised keeps the file open, and its locks, behind a closed database.
      const prepared = new Set<BunStatement>();
      let isOpen = true;
      const handle: Handle = {
        get isOpen() {
          return isOpen;
        },
        get inTransaction() {
          return db.inTransaction;
        },
        prepare: (sql) => {
          const statement = db.prepare(sql);
          prepared.add(statement);
          return new BunPrepared(statement);
        },
        exec: (sql) => void db.exec(sql),
        *cells(sql) {
          const statement = db.prepare(sql);
          try {
            const names = statement.columnNames;
            for (const row of statement.iterate()) yield names.map((name) => row[name]!);
          } finally {
            statement.finalize();
          }
        },
        // It has no online copy page by page; this is one statement, and so one snapshot.
        backup: async (target, onProgress) => {
          db.exec(`vacuum into '${target.replaceAll("'", "''")}'`);
          onProgress(1, 1);
        },
        close: () => {
          isOpen = false;
          for (const statement of prepared) statement.finalize();
          prepared.clear();
          db.close();
        },
      };
      handle.exec(`pragma busy_timeout = ${busyMs}`);
      return handle;
    },
  };
}

class BunPrepared implements Prepared {
  readonly reader: boolean;

  constructor(private readonly statement: BunStatement) {
    this.reader = statement.columnNames.length > 0;
  }

  run(...params: readonly unknown[]): { readonly changes: number } {
    return this.statement.run(...params);
  }

  get(...params: readonly unknown[]): unknown {
    return this.statement.get(...params) ?? undefined;
  }

  all(...params: readonly unknown[]): unknown[] {
    return this.statement.all(...params);
  }
}
