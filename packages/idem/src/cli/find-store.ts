// The store of a command: --store, else IDEM_STORE, else the only *.db in ./.idem. Never a guess between two.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { withoutPassword } from "../store/postgres/address.ts";
import { unusable } from "./exit.ts";
import type { Io } from "./terminal.ts";

const folder = ".idem";

/** A file on this machine, or a PostgreSQL server. */
export type StoreAddress =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "server"; readonly url: string };

export function locateStore(io: Pick<Io, "cwd" | "env">, given: string | undefined): StoreAddress {
  const address = given ?? io.env("IDEM_STORE");
  if (address !== undefined && address !== "") return read(io, address, given === undefined ? "IDEM_STORE" : "--store");
  const found = databasesIn(join(io.cwd, folder));
  if (found.length === 1) return { kind: "file", path: join(io.cwd, folder, found[0]!) };
  const what =
    found.length === 0
      ? existsSync(join(io.cwd, folder))
        ? `there is no *.db in ${join(io.cwd, folder)}`
        : `there is no folder ${join(io.cwd, folder)}`
      : `there are ${found.length} in ${join(io.cwd, folder)}: ${found.join(", ")}`;
  throw unusable(
    `Which store? None was given and ${what}. Say --store sqlite:./path/to/file.db or --store postgres://…, or set IDEM_STORE.`,
  );
}

/** For commands that work on the file itself. */
export function findStore(io: Pick<Io, "cwd" | "env">, given: string | undefined): string {
  const found = locateStore(io, given);
  if (found.kind === "file") return found.path;
  throw unusable(
    `${withoutPassword(found.url)} is a PostgreSQL store, and this command works on SQLite files. pg_dump copies it and pg_restore puts the copy back: docs/postgres.md has the commands.`,
  );
}

function read(io: Pick<Io, "cwd">, address: string, from: string): StoreAddress {
  if (/^postgres(ql)?:\/\//i.test(address)) return { kind: "server", url: address };
  const path = address.startsWith("sqlite:") ? address.slice("sqlite:".length) : address;
  if (path === "" || path === ":memory:" || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw unusable(
      `${from} "${withoutPassword(address)}" does not name a store that a command can reach. Use sqlite:./path/to/file.db or postgres://user@host/database.`,
    );
  }
  return { kind: "file", path: resolve(io.cwd, path) };
}

export function checkStoreFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true) return;
  const why = found === undefined ? "there is no such file" : "it is not a file";
  throw unusable(
    `The store ${path} cannot be opened: ${why}. Check the path; a store is made by the first process that starts with it.`,
  );
}

const databasesIn = (path: string): string[] =>
  existsSync(path) && statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith(".db"))
        .sort()
    : [];
