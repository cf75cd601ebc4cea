// The meaning of SQLite's refusals for a store. Three questions decide: was the transaction undone for sure, will it pass by itself, and can
// the file still be trusted? `inTransaction` is no part of it: the core has rolled back whatever SQLite had left open.
import { errors, IdemError } from "../../model/errors.ts";

/**
 * `locked`, `full`: undone for sure, and over by itself: the same batch is tried again.
 * `failing`: the same, but should it have come from COMMIT, the commit's last frame may be in the log, and is found there should the process die
 *   before the next commit writes over it: a call that does not succeed later is answered that its outcome is unknown.
 * `ended`: nothing is written to this file any more.
 */
export type FailureKind = "locked" | "full" | "failing" | "ended";

export interface StorageFailure {
  readonly kind: FailureKind;
  readonly why: string;
}

// The longest name that a code begins with counts.
const meanings: Readonly<Record<string, FailureKind>> = {
  // Somebody else writes, recovers or checkpoints. A COMMIT that is answered so is still open, and rolled back.
  SQLITE_BUSY: "locked",
  SQLITE_LOCKED: "locked",
  // The log's locks were raced for too often: SQLite's word for very busy.
  SQLITE_PROTOCOL: "locked",
  // ENOSPC while a frame was written: before the sync, so without a last frame that anybody would believe.
  SQLITE_FULL: "full",
  // EIO, a quota (EDQUOT), a share that is away, no room for the log's index (SHMSIZE, which may come after the last frame was synced).
  SQLITE_IOERR: "failing",
  SQLITE_NOMEM: "failing",
  // Too many open files, a disk mounted read-only, rights taken away. What was opened stays open: it passes, or a person sees to it.
  SQLITE_CANTOPEN: "failing",
  SQLITE_READONLY: "failing",
  SQLITE_PERM: "failing",
  // The kernel may have dropped the pages it could not write, and says so only once: a later sync that succeeds proves nothing.
  SQLITE_IOERR_FSYNC: "ended",
  SQLITE_IOERR_DIR_FSYNC: "ended",
  // The file does not read as it was written. Anything added to it may be lost with it.
  SQLITE_CORRUPT: "ended",
  SQLITE_IOERR_CORRUPTFS: "ended",
  SQLITE_IOERR_DATA: "ended",
  SQLITE_NOTADB: "ended",
  // SQLite's own notice that the file has lost its name.
  SQLITE_READONLY_DBMOVED: "ended",
};

/** Null when the call was at fault, and not the file. */
export function judgeFailure(error: unknown): StorageFailure | null {
  if (error instanceof IdemError) {
    return error.code === "STORE_OWNED" || error.code === "STORE_BROKEN" ? { kind: "ended", why: error.message } : null;
  }
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== "string") return null;
  for (let name = code; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf("_")))) {
    const kind = meanings[name];
    if (kind !== undefined) return { kind, why: `${String(message)} (${code})` };
  }
  return null;
}

/** The error of a call that does not wait any longer. `isUnsure`: one of its tries may be in the log. */
export function refusalOf(
  { kind, why }: StorageFailure,
  { path, forMs, isUnsure }: { readonly path: string; readonly forMs: number; readonly isUnsure: boolean },
): IdemError {
  if (kind === "ended") return errors.STORE_BROKEN({ path, why });
  if (isUnsure || kind === "failing") return errors.STORE_UNAVAILABLE({ why: `${path}: ${why}` });
  const facts = { path, forMs: Math.round(forMs) };
  return kind === "locked" ? errors.STORE_LOCKED(facts) : errors.STORE_FULL(facts);
}
