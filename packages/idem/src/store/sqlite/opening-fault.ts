// Why a SQLite file did not open, as an error with its own remedy. "Try again" is said only of what passes by itself.
//
//   SQLite, the driver or the system says                         code
//   ERR_DLOPEN_FAILED, NODE_MODULE_VERSION, no bindings           STORE_DRIVER_UNUSABLE
//   SQLITE_NOTADB; a folder                                       STORE_NOT_A_DATABASE
//   SQLITE_CORRUPT                                                STORE_DAMAGED
//   SQLITE_READONLY, EROFS                                        STORE_READ_ONLY
//   EACCES, EPERM                                                 STORE_ACCESS_DENIED
//   no such folder, ENOENT, ENOTDIR                               STORE_MISSING
//   anything else (a lock, a full disk, a failed read)            STORE_UNAVAILABLE
import { errors, IdemError } from "../../model/errors.ts";
import type { PathLook } from "../../platform/look-at-path.ts";

const driverWords =
  /NODE_MODULE_VERSION|bindings file|better_sqlite3\.node|Cannot find (module|package) 'better-sqlite3'/;

/** `look` is what is at the path: SQLite has one code for most of what keeps a file from being opened. */
export function openingFault(error: unknown, path: string, look: PathLook): IdemError {
  if (error instanceof IdemError) return error;
  const { code: given, message } = error as { code?: unknown; message?: unknown };
  const code = String(given);
  const why = String(message ?? error);
  const cause = { cause: error };
  if (/^(ERR_DLOPEN_FAILED|MODULE_NOT_FOUND|ERR_MODULE_NOT_FOUND)$/.test(code) || driverWords.test(why))
    return errors.STORE_DRIVER_UNUSABLE({ why }, cause);
  if (code === "SQLITE_NOTADB") return errors.STORE_NOT_A_DATABASE({ path, why }, cause);
  if (look.kind === "folder") return errors.STORE_NOT_A_DATABASE({ path, why: "it is a folder" }, cause);
  if (code.startsWith("SQLITE_CORRUPT")) return errors.STORE_DAMAGED({ path, why }, cause);
  const isClosed = /^SQLITE_(CANTOPEN|READONLY)|^E[A-Z]+$/.test(code) || /directory does not exist/.test(why);
  if (!isClosed) return errors.STORE_UNAVAILABLE({ why: `${path}: ${why}` }, cause);
  const refusal = code.startsWith("E") ? code : look.refusal;
  if (refusal === "EROFS") return errors.STORE_READ_ONLY({ path, why: "its disk is mounted for reading only" }, cause);
  if (refusal === "EACCES" || refusal === "EPERM")
    return errors.STORE_ACCESS_DENIED({ path, why: "this user may not write the file or its folder" }, cause);
  if (refusal === "ENOENT" || refusal === "ENOTDIR" || !look.hasFolder)
    return errors.STORE_MISSING({ path, why: "its folder is not there and cannot be made" }, cause);
  if (code.startsWith("SQLITE_READONLY")) return errors.STORE_READ_ONLY({ path, why }, cause);
  return errors.STORE_UNAVAILABLE({ why: `${path}: ${why}` }, cause);
}
