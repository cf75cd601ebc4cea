// The SQLite that people install themselves, for every Node without one that is new enough.
import type { Driver, Param, Prepared } from "../driver.ts";
import { inSnapshot, pagesPerStep } from "./in-snapshot.ts";

export interface BetterSqlite3 {
  new (path: string, options: { readonly: boolean; timeout: number; fileMustExist: boolean }): BetterDatabase;
}

interface BetterDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): Prepared & { raw(): { iterate(): Iterable<Param[]> } };
  exec(sql: string): void;
  backup(
    target: string,
    options: { progress: (pages: { totalPages: number; remainingPages: number }) => number },
  ): Promise<unknown>;
  close(): void;
}

/** Its statements are ours as they are: nothing stands between on the path of every run. */
export function betterSqlite3(Database: BetterSqlite3): Driver {
  return {
    name: "better-sqlite3",
    open: (path, { readonly, busyMs, mustExist }) => {
      const db = new Database(path, { readonly, timeout: busyMs, fileMustExist: mustExist ?? false });
      return {
        get isOpen() {
          return db.open;
        },
        get inTransaction() {
          return db.inTransaction;
        },
        prepare: (sql) => db.prepare(sql),
        exec: (sql) => db.exec(sql),
        cells: (sql) => db.prepare(sql).raw().iterate(),
        backup: (target, onProgress) =>
          inSnapshot(db, () =>
            db.backup(target, {
              progress: ({ totalPages, remainingPages }) => {
                onProgress(totalPages - remainingPages, totalPages);
                return pagesPerStep;
              },
            }),
          ),
        close: () => db.close(),
      };
    },
  };
}
