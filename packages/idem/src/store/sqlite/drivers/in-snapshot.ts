// A copy of a whole store, page by page, while its owner goes on writing.
import type { Handle } from "../driver.ts";

// 4 MiB between two looks at the event loop.
export const pagesPerStep = 1_000;

/**
 * The open read transaction pins one snapshot: without it every commit of the owner would make SQLite begin its copy again, and a busy
 * store would never be copied.
 */
export async function inSnapshot(db: Pick<Handle, "exec">, copy: () => Promise<unknown>): Promise<void> {
  db.exec("begin");
  try {
    db.exec("select 1 from sqlite_schema limit 1");
    await copy();
  } finally {
    db.exec("commit");
  }
}
