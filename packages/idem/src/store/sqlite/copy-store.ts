// An online copy of a store: one snapshot, taken beside a living owner, page by page so that progress can be shown.
import { preparePrivate } from "../../platform/private-files.ts";
import { Connection } from "./connection.ts";
import { checkIntegrity } from "./health-reads.ts";

/** Copies the store into `target`, which must not exist. */
export async function copyStore(
  connection: Connection,
  target: string,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  preparePrivate(target);
  await connection.db.backup(target, onProgress);
}

/** Faults of the file at `path`; empty when it is a sound SQLite file. */
export function checkFile(path: string): string[] {
  let connection: Connection | null = null;
  try {
    connection = new Connection(path, { readonly: true });
    return checkIntegrity(connection, "full");
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    connection?.close();
  }
}

/** Brings what is in the write-ahead log into the file itself; false when the file is too broken for that. */
export function foldLog(path: string): boolean {
  let connection: Connection | null = null;
  try {
    connection = new Connection(path, { readonly: false });
    connection.pragma("wal_checkpoint(TRUNCATE)");
    return true;
  } catch {
    // Broken or not ours: the log stays beside it and is moved along.
    return false;
  } finally {
    connection?.close();
  }
}
