// `node:sqlite`, in the versions of Node that have it.
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Outside } from "../watcher.ts";
import {
  act,
  type Connection,
  connected,
  type Fail,
  giveClock,
  openHere,
  pathOfAddress,
  useDriver,
  withoutWaiting,
} from "./sqlite-world.ts";

// biome-ignore lint/suspicious/noExplicitAny: a function of a driver's, replaced without knowing what it takes
type Method = (this: object, ...args: any[]) => any;

interface Statement {
  all(...args: unknown[]): Record<string, unknown>[];
  get(...args: unknown[]): Record<string, unknown> | undefined;
}

interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
  function?(name: string, options: object, run: Method): void;
}

interface NodeSqlite {
  DatabaseSync: (new (path: unknown, options?: object) => Database) & { prototype: Record<string, Method> };
  StatementSync: { readonly prototype: Record<string, Method> };
}

const fail: Fail = (code, message) =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errstr: message, sqlite: code });

export function watchNodeSqlite(outside: Outside): void {
  const found = nodeSqlite();
  if (found === null) return;
  const denied = found.DatabaseSync;
  // The class in front of it refuses every file.
  const Real = Object.getPrototypeOf(denied) as NodeSqlite["DatabaseSync"];
  const databases = new WeakMap<object, Connection>();
  const statements = new WeakMap<object, { readonly of: Connection; readonly sql: string }>();
  const openOwn = (path: string): Database => new Real(path);
  useDriver((path) => {
    const db = openOwn(path);
    return {
      all: (sql) =>
        db
          .prepare(sql)
          .all()
          .map((row) => ({ ...row })),
      close: () => db.close(),
    };
  });
  let clock: Database | null = null;
  const evaluate = (sql: string, args: readonly unknown[]): unknown => {
    clock ??= openOwn(":memory:");
    return Object.values(clock.prepare(sql).get(...args) ?? {})[0] ?? null;
  };

  const made = function (this: unknown, path: unknown, options: object = {}) {
    if (!outside.isWatched() || pathOfAddress(path) === null) return new Real(path, options);
    const file = openHere(outside, path)!;
    const db = new Real(file.path, { ...options, timeout: 0 });
    const connection = connected(file, fail, () => leave(db));
    databases.set(db, connection);
    if (db.function !== undefined) {
      const define = (name: string, run: Method) => db.function!(name, { varargs: true, deterministic: true }, run);
      giveClock(connection.life, define, evaluate);
    }
    return db;
  };
  made.prototype = Real.prototype;
  Object.defineProperty(made, "name", { value: "DatabaseSync" });
  Object.defineProperty(found, "DatabaseSync", { configurable: true, writable: true, enumerable: true, value: made });

  const prototype = Real.prototype;
  const { prepare, exec } = prototype;
  prototype.prepare = function (sql: string, ...rest: unknown[]) {
    const of = databases.get(this);
    const statement = prepare!.call(this, of === undefined ? sql : withoutWaiting(sql), ...rest) as object;
    if (of !== undefined) statements.set(statement, { of, sql });
    return statement;
  };
  prototype.exec = function (sql: string) {
    const of = databases.get(this);
    if (of === undefined) return exec!.call(this, sql);
    return act(outside, of, sql, null, () => exec!.call(this, withoutWaiting(sql)));
  };
  for (const name of ["run", "get", "all", "iterate"]) {
    const before = found.StatementSync.prototype[name];
    if (before === undefined) continue;
    found.StatementSync.prototype[name] = function (...args: unknown[]) {
      const known = statements.get(this);
      if (known === undefined) return before.apply(this, args);
      return act(outside, known.of, known.sql, null, () => before.apply(this, args));
    };
  }
  syncBuiltinESMExports();
}

/** Whatever it was in the middle of. */
function leave(db: Database): void {
  try {
    db.close();
  } catch {
    // The user's code had closed it.
  }
}

/** Null where Node has none; it warns of itself when it is loaded. */
function nodeSqlite(): NodeSqlite | null {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return createRequire(import.meta.url)("node:sqlite") as NodeSqlite;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}
