// Why a store cannot be opened, where trying again changes nothing until something else is changed.
import { define } from "./error-definition.ts";

export const storeErrors = {
  SECRET_KEY_INVALID: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `IDEM_SECRET_KEY cannot be used: ${why}`,
    next: "Set it to what `idem secret make secret-key` prints; several keys are separated by commas, and the first one seals",
  }),
  SECRET_KEY_MISSING: define<{ id: string; what: string }>({
    retry: "after-fix",
    what: ({ id, what }) => `The secrets of ${what} are sealed with the key ${id}, which IDEM_SECRET_KEY does not have`,
    next: "Add that key to IDEM_SECRET_KEY, behind the newest one, and restart; nothing is lost. Where it is gone for good, remove what it sealed and set it up anew",
  }),
  SECRET_UNREADABLE: define<{ id: string; what: string }>({
    retry: "after-fix",
    what: ({ id, what }) => `The secrets of ${what} are not what was sealed there with the key ${id}`,
    next: "Somebody changed the row, or moved it from another one: restore it from a backup, or remove it and set it up anew",
  }),
  SECRETS_IN_CLEAR: define<{ what: string }>({
    retry: "after-fix",
    what: ({ what }) =>
      `The secrets of ${what} would stand in a shared database for everybody who reads it; nothing was stored`,
    next: "Set IDEM_SECRET_KEY for every process of this store (`idem secret make secret-key`), or IDEM_SECRETS_IN_CLEAR=1 where that is what you want",
  }),
  STORE_ACCESS_DENIED: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} does not let this process in: ${why}`,
    next: "Correct the user, the password (in the address or PGPASSWORD) or what the role may do (docs/postgres.md has the grants); of a file, who owns it and its folder",
  }),
  STORE_MISSING: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} is not there: ${why}`,
    next: "Correct the address, or make what it names: create database …; the folder of a file",
  }),
  STORE_HOST_NOT_FOUND: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The server of the store ${path} cannot be found: ${why}`,
    next: "Correct the host in the address (or PGHOST), and check that its name resolves on this machine",
  }),
  STORE_TLS_REFUSED: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `No encrypted connection to the store ${path} came about: ${why}`,
    next: "Set sslmode in the address to what the server offers: verify-full with sslrootcert=<file> for its own authority, disable only on a network you trust",
  }),
  STORE_SERVER_UNSUITABLE: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The server of the store ${path} cannot keep what Idem promises: ${why}`,
    next: "Use PostgreSQL 14 or newer, or change the server as it says; docs/postgres-distributed.md has what each server takes and refuses",
  }),
  STORE_REFUSED: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} could not be opened: ${why}`,
    next: "Look for this error in the server's log; docs/postgres.md lists what a store needs of its server",
  }),
  STORE_TOO_MANY_SESSIONS: define<{ path: string; why: string }>({
    retry: "later",
    what: ({ path, why }) => `The server of the store ${path} takes no more sessions: ${why}`,
    next: "Start again once others have ended; if it stays so, lower pool and txpool in the address of each node, or raise max_connections (docs/postgres.md)",
  }),
  STORE_READ_ONLY: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} cannot be written: ${why}`,
    next: "Put it on a disk that can be written, or mount this one for writing; nothing was changed",
  }),
  STORE_NOT_A_DATABASE: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} is no SQLite file: ${why}`,
    next: "Check the path; nothing was changed in what is there",
  }),
  STORE_DAMAGED: define<{ path: string; why: string }>({
    retry: "after-fix",
    what: ({ path, why }) => `The store ${path} is damaged: ${why}`,
    next: "Keep a copy of it and of the files beside it, then put a backup in its place (docs/cli.md, idem restore); idem doctor says what it finds in the copy",
  }),
  STORE_DRIVER_UNUSABLE: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `There is no SQLite that can be used: ${why}`,
    next: 'Run this with Node 22.22.3, 24.15 or newer, which have one inside; or "npm install better-sqlite3", and "npm rebuild better-sqlite3" after a change of Node or machine',
  }),
};
