// `better-sqlite3`, and what is built on it, where it meets its native addon: nothing of it passes by. Loaded anew for each life, like its package.
import { asMachine } from "../caller.ts";
import type { Outside } from "../watcher.ts";
import {
  act,
  type Connection,
  connected,
  type Fail,
  giveClock,
  openHere,
  useDriver,
  withoutWaiting,
} from "./sqlite-world.ts";

// biome-ignore lint/suspicious/noExplicitAny: the driver's own method, replaced without knowing what it takes
type Method = (this: object, ...args: any[]) => any;

interface NativeDatabase {
  prepare(sql: string, owner: object, isPragma: boolean): NativeStatement;
  exec(sql: string): void;
  close(): void;
  function(run: Method, name: string, count: number, safe: number, deterministic: boolean, direct: boolean): void;
}

interface NativeStatement {
  readonly source: string;
  readonly readonly: boolean;
  readonly reader: boolean;
  all(...args: unknown[]): unknown[];
  pluck(): NativeStatement;
  get(...args: unknown[]): unknown;
}

interface Addon {
  Database: new (...args: unknown[]) => NativeDatabase;
  Statement: { readonly prototype: Record<string, Method> };
  setErrorConstructor(made: new (message: string, code: string) => Error): void;
}

/** Whole numbers as the connection has them. */
const asConnection = 2;

export const isAddon = (file: unknown): boolean => /[\\/]better_sqlite3\.node$/.test(String(file));

export function watchBetterSqlite3(outside: Outside): void {
  const denied = process.dlopen as (...args: unknown[]) => void;
  const load = (module: { exports: Addon }, file: unknown, ...rest: unknown[]): void => {
    if (!isAddon(file) || !outside.isWatched()) {
      denied.call(process, module, file, ...rest);
      return;
    }
    asMachine(() => denied.call(process, module, file, ...rest));
    watchAddon(outside, module.exports);
  };
  Object.defineProperty(process, "dlopen", { configurable: true, writable: true, value: load });
}

function watchAddon(outside: Outside, addon: Addon): void {
  const Native = addon.Database;
  const databases = new WeakMap<object, Connection>();
  const statements = new WeakMap<object, Connection>();
  const owner = {};
  const open = (path: string): NativeDatabase =>
    new Native(path, path, path === ":memory:", false, false, 0, null, null);
  useDriver((path) => {
    const db = open(path);
    return {
      all: (sql) => db.prepare(sql, owner, false).all() as Record<string, unknown>[],
      close: () => db.close(),
    };
  });
  let Failed: new (message: string, code: string) => Error = Error as never;
  const fail: Fail = (code, message) => new Failed(message, code);
  const { setErrorConstructor } = addon;
  addon.setErrorConstructor = (made) => {
    Failed = made;
    setErrorConstructor(made);
  };
  let clock: NativeDatabase | null = null;
  const evaluate = (sql: string, args: readonly unknown[]): unknown => {
    clock ??= open(":memory:");
    return clock
      .prepare(sql, owner, false)
      .pluck()
      .get(...args);
  };

  addon.Database = function (this: unknown, name: string, given: string, ...rest: unknown[]) {
    const [isAnonymous, isReadonly, mustExist, , verbose, buffer] = rest;
    const file = outside.isWatched() && isAnonymous !== true ? openHere(outside, name) : null;
    const db =
      file === null
        ? new Native(name, given, ...rest)
        : new Native(file.path, given, false, isReadonly, mustExist, 0, verbose, buffer);
    const connection = file === null ? null : connected(file, fail, () => leave(db));
    if (connection === null) return db;
    databases.set(db, connection);
    const define = (word: string, run: Method) => db.function(run, word, -1, asConnection, true, false);
    giveClock(connection.life, define, evaluate);
    return db;
  } as unknown as Addon["Database"];
  addon.Database.prototype = Native.prototype as never;

  const prototype = Native.prototype as unknown as Record<string, Method>;
  replaceMethod(
    prototype,
    "prepare",
    (before) =>
      function (sql: string, ...rest: unknown[]) {
        const connection = databases.get(this);
        const made = before.call(this, connection === undefined ? sql : withoutWaiting(String(sql)), ...rest) as object;
        if (connection !== undefined) statements.set(made, connection);
        return made;
      },
  );
  replaceMethod(
    prototype,
    "exec",
    (before) =>
      function (sql: string) {
        const connection = databases.get(this);
        if (connection === undefined) return before.call(this, sql);
        return act(outside, connection, sql, null, () => before.call(this, withoutWaiting(sql)));
      },
  );
  for (const name of ["backup", "loadExtension"]) {
    replaceMethod(
      prototype,
      name,
      (before) =>
        function (...args: unknown[]) {
          if (databases.has(this))
            outside.unproven(`${name}() of a database was called, which is not watched: ${String(args[0])}`);
          return before.apply(this, args);
        },
    );
  }
  for (const name of ["run", "get", "all", "iterate"]) {
    replaceMethod(
      addon.Statement.prototype,
      name,
      (before) =>
        function (...args: unknown[]) {
          const connection = statements.get(this);
          if (connection === undefined) return before.apply(this, args);
          const { source, readonly } = this as NativeStatement;
          // A statement that writes is carried out when it is asked for, however far its rows are read.
          if (name === "iterate" && !readonly)
            return ((this as unknown as Record<string, Method>).all!(...args) as unknown[]).values();
          return act(outside, connection, source, readonly, () => before.apply(this, args));
        },
    );
  }
}

/** Whatever it was in the middle of. */
function leave(db: NativeDatabase): void {
  try {
    db.close();
  } catch {
    // An iterator nobody reads any more keeps it open; what was not committed is undone all the same.
    try {
      db.exec("rollback");
    } catch {
      // There was nothing to undo.
    }
  }
}

function replaceMethod(prototype: Record<string, Method>, name: string, make: (before: Method) => Method): void {
  const before = prototype[name];
  if (before !== undefined) prototype[name] = make(before);
}
