// Which file a command is about: --store, else IDEM_STORE, else the only *.db in ./.idem. Never a guess between two.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { unusable } from "./exit.ts";
import type { Io } from "./io.ts";

const folder = ".idem";

export function findStore(io: Pick<Io, "cwd" | "env">, given: string | undefined): string {
  const address = given ?? io.env("IDEM_STORE");
  if (address !== undefined && address !== "")
    return pathOf(io, address, given === undefined ? "IDEM_STORE" : "--store");
  const found = databasesIn(join(io.cwd, folder));
  if (found.length === 1) return join(io.cwd, folder, found[0]!);
  const what =
    found.length === 0
      ? existsSync(join(io.cwd, folder))
        ? `there is no *.db in ${join(io.cwd, folder)}`
        : `there is no folder ${join(io.cwd, folder)}`
      : `there are ${found.length} in ${join(io.cwd, folder)}: ${found.join(", ")}`;
  throw unusable(`Which store? None was given and ${what}. Say --store sqlite:./path/to/file.db, or set IDEM_STORE.`);
}

function pathOf(io: Pick<Io, "cwd">, address: string, from: string): string {
  if (/^postgres(ql)?:/.test(address)) {
    throw unusable(`${from} names a PostgreSQL store, which this version cannot use. Use sqlite:./path/to/file.db.`);
  }
  const path = address.startsWith("sqlite:") ? address.slice("sqlite:".length) : address;
  if (path === "" || path === ":memory:" || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw unusable(`${from} "${address}" does not name a file. Use sqlite:./path/to/file.db.`);
  }
  return resolve(io.cwd, path);
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
