// SQLite's names of its results, for drivers that tell only the number.

// https://www.sqlite.org/rescode.html: the low byte is the primary code, the next one counts within it.
const primary =
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB".split(
    " ",
  );
const extended: Readonly<Record<string, readonly string[]>> = {
  BUSY: "RECOVERY SNAPSHOT TIMEOUT".split(" "),
  LOCKED: "SHAREDCACHE VTAB".split(" "),
  READONLY: "RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY".split(" "),
  IOERR:
    "READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE".split(
      " ",
    ),
  CORRUPT: "VTAB SEQUENCE INDEX".split(" "),
  CANTOPEN: "NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK".split(" "),
  CONSTRAINT: "CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE".split(
    " ",
  ),
};

/** SQLite's name of a result; of one that this list does not have, the kind it is of. */
export function resultName(number: number): string {
  const kind = primary[number & 0xff] ?? "ERROR";
  const detail = extended[kind]?.[(number >> 8) - 1];
  return detail === undefined ? `SQLITE_${kind}` : `SQLITE_${kind}_${detail}`;
}

// sqlite3_errstr() of those that decide what becomes of a store.
const messages: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["locking protocol", 15],
  ["file is not a database", 26],
];

/** For a driver that tells no number. */
export const resultOfMessage = (message: string): number =>
  messages.find(([text]) => message.startsWith(text))?.[1] ?? 1;
