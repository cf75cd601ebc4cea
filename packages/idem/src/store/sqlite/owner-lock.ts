// One process owns a SQLite file. The lock is an open write transaction on a small file beside it: the operating system drops
// it when the owner dies, so a dead owner's lock is taken at once and a live one's never. It lies beside the real file, whatever link
// led there: two names of one file are one lock.
import { errors } from "../../model/errors.ts";
import { nameCount, realFile } from "../../platform/node-files.ts";
import { isBeingMade, makePrivate, preparePrivate } from "../../platform/private-files.ts";
import { type Handle, sqliteDriver } from "./driver.ts";

const readOwnerSql = "select value from meta where name = 'owner'";

export class OwnerLock {
  private constructor(private readonly db: Handle) {}

  /** `asker` is the process that asks, by the name under which owners are known. */
  static take(path: string, asker?: string): OwnerLock {
    // SQLite keeps a log beside the name it was given: with two names two processes would write over each other, and no lock tells.
    const names = nameCount(path);
    if (names > 1 && !isBeingMade(path)) {
      const why = `the file has ${names} names (hard links), and SQLite keeps a log beside each; give it a copy of its own (cp, then mv)`;
      throw errors.STORE_NOT_DURABLE({ path, why });
    }
    const file = `${realFile(path)}-owner`;
    preparePrivate(file);
    makePrivate(`${file}-journal`);
    const db = sqliteDriver().open(file, { readonly: false, busyMs: 0 });
    try {
      db.exec("begin immediate");
      return new OwnerLock(db);
    } catch (error) {
      db.close();
      if (isBusy(error)) {
        const owner = nameOfOwner(path);
        // A person told to stop another process would look for one in vain.
        throw errors.STORE_OWNED({ path, owner: owner === asker ? `another client of this ${owner}` : owner });
      }
      throw error;
    }
  }

  release(): void {
    if (this.db.isOpen) this.db.close();
  }
}

const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");

/** The owner leaves its name in the store itself; a store that is still being created has none yet. */
function nameOfOwner(path: string): string {
  let db: Handle | null = null;
  try {
    db = sqliteDriver().open(path, { readonly: true, busyMs: 50 });
    return (db.prepare(readOwnerSql).get() as { value: string } | undefined)?.value ?? "another process";
  } catch {
    // Only the name is missing then; that the file is owned is already known.
    return "another process";
  } finally {
    db?.close();
  }
}
