// The SQLite inside Node and Deno.
import { decodeText, encodeText } from "../../../model/nul-text.ts";
import type { Driver, Named, Param, Prepared } from "../driver.ts";
import { resultName, resultOfMessage } from "../result-names.ts";
import { inSnapshot, pagesPerStep } from "./in-snapshot.ts";

export interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean; timeout: number }) => NodeDatabase;
  backup(
    db: NodeDatabase,
    target: string,
    options: { rate: number; progress: (pages: { totalPages: number; remainingPages: number }) => void },
  ): Promise<unknown>;
}

interface NodeDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}

interface NodeStatement {
  run(...params: readonly unknown[]): { readonly changes: number };
  get(...params: readonly unknown[]): unknown;
  all(...params: readonly unknown[]): unknown[];
  iterate(): Iterable<unknown>;
  columns(): readonly unknown[];
  setReturnArrays(on: boolean): void;
  setAllowUnknownNamedParameters(on: boolean): void;
}

export function nodeSqlite({ DatabaseSync, backup }: NodeSqlite): Driver {
  const isCutting = cutsText(new DatabaseSync(":memory:", { readOnly: false, timeout: 0 }));
  return {
    name: "node",
    open: (path, { readonly, busyMs, mustExist }) => {
      if (mustExist === true) named(() => new DatabaseSync(path, { readOnly: true, timeout: busyMs }).close());
      const db = named(() => new DatabaseSync(path, { readOnly: readonly, timeout: busyMs }));
      const exec = (sql: string) => named(() => db.exec(sql));
      return {
        get isOpen() {
          return db.isOpen;
        },
        get inTransaction() {
          return db.isTransaction;
        },
        prepare: (sql) => {
          const statement = new NodePrepared(named(() => db.prepare(sql)));
          return isCutting ? new WholeTexts(statement) : statement;
        },
        exec,
        *cells(sql) {
          const statement = named(() => db.prepare(sql));
          statement.setReturnArrays(true);
          const rows = statement.iterate() as Iterable<Param[]>;
          if (!isCutting) yield* rows;
          else for (const row of rows) yield row.map(decoded) as Param[];
        },
        backup: (target, onProgress) =>
          inSnapshot({ exec }, () =>
            backup(db, target, {
              rate: pagesPerStep,
              progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
            }).catch((error: unknown) => {
              throw withName(error);
            }),
          ),
        close: () => db.close(),
      };
    },
  };
}

class NodePrepared implements Prepared {
  readonly reader: boolean;

  constructor(private readonly statement: NodeStatement) {
    this.reader = statement.columns().length > 0;
    statement.setAllowUnknownNamedParameters(true);
  }

  run(...params: readonly unknown[]): { readonly changes: number } {
    try {
      return this.statement.run(...params);
    } catch (error) {
      throw withName(error);
    }
  }

  get(...params: readonly unknown[]): unknown {
    try {
      return this.statement.get(...params);
    } catch (error) {
      throw withName(error);
    }
  }

  all(...params: readonly unknown[]): unknown[] {
    try {
      return this.statement.all(...params);
    } catch (error) {
      throw withName(error);
    }
  }
}

/** Deno reads text up to its first U+0000. */
function cutsText(db: NodeDatabase): boolean {
  const { text } = db.prepare("select char(97, 0, 98) as text").get() as { text: string };
  db.close();
  return text.length !== 3;
}

/** For such: two keys that differ behind it must not become one. A file that another runtime wrote has its own as they are. */
class WholeTexts implements Prepared {
  readonly reader: boolean;

  constructor(private readonly statement: Prepared) {
    this.reader = statement.reader;
  }

  run(...params: readonly (Param | Named)[]): { readonly changes: number } {
    return this.statement.run(...params.map(encodedParam));
  }

  get(...params: readonly (Param | Named)[]): unknown {
    return decodedRow(this.statement.get(...params.map(encodedParam)));
  }

  all(...params: readonly (Param | Named)[]): unknown[] {
    return this.statement.all(...params.map(encodedParam)).map(decodedRow);
  }
}

const encoded = (cell: Param): Param => (typeof cell === "string" ? encodeText(cell) : cell);
const decoded = (cell: unknown): unknown => (typeof cell === "string" ? decodeText(cell) : cell);

const encodedParam = (param: Param | Named): Param | Named =>
  typeof param === "object" && param !== null
    ? Object.fromEntries(Object.entries(param).map(([name, cell]) => [name, encoded(cell)]))
    : encoded(param);

function decodedRow(row: unknown): unknown {
  if (row === undefined) return row;
  const cells = row as Record<string, unknown>;
  for (const name of Object.keys(cells)) cells[name] = decoded(cells[name]);
  return cells;
}

function named<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw withName(error);
  }
}

/** Node tells SQLite's number, Deno only of a prepared statement. */
function withName(error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: unknown; message?: unknown };
  if (code !== "ERR_SQLITE_ERROR") return error;
  const number = typeof errcode === "number" ? errcode : resultOfMessage(String(message));
  return Object.assign(error as Error, { code: resultName(number) });
}
