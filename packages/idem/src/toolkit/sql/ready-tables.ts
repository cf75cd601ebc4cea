// Whether a database has the tables that are about to be used: asked before the first use, so that the answer is a sentence that says what to
// do, and not an error of the driver in the middle of a transaction.
import { errors } from "../../model/errors.ts";
import type { Adapter, SyncAdapter } from "./adapter.ts";
import type { Dialect, Operation } from "./operation.ts";
import { numberOf } from "./operation.ts";
import { type TableName, tableNames, tableStatements, tableVersion } from "./tables.ts";

const hasNotesSql: Readonly<Record<Dialect, string>> = {
  postgres: "select 1 as found where to_regclass('idem_toolkit') is not null",
  sqlite: "select 1 as found from sqlite_master where type = 'table' and name = 'idem_toolkit'",
};

/** A table that was dropped since is not there, whatever is noted. */
const notesSql: Readonly<Record<Dialect, string>> = {
  postgres: "select name, version from idem_toolkit where to_regclass(quote_ident(name)) is not null",
  sqlite: `
    select idem_toolkit.name, idem_toolkit.version from idem_toolkit
      join sqlite_master on sqlite_master.name = idem_toolkit.name and sqlite_master.type = 'table'`,
};

/** Throws TABLES_MISSING or TABLES_OUTDATED, naming them. Nothing is written. A newer table is fine: it is made so that older code goes on. */
export const checkTables = (
  adapter: Pick<Adapter<unknown>, "dialect" | "perform">,
  names: readonly TableName[] = tableNames,
): Promise<void> => adapter.perform(check(adapter.dialect, names));

/**
 * Makes the tables that are missing. Any number of processes may do it at once, and again; where none is missing, nothing is written and no
 * right to make tables is needed.
 *
 * ```ts
 * await ensureTables(adapter);
 * ```
 */
export async function ensureTables(adapter: Adapter<unknown>, names: readonly TableName[] = tableNames): Promise<void> {
  const known = await adapter.perform(readNotes(adapter.dialect));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0) {
    const making = make(adapter.dialect, missing);
    // An operation is one transaction on SQLite only.
    if (adapter.dialect === "sqlite") await adapter.perform(making);
    else await adapter.transaction((tx: unknown) => adapter.wrap(tx).perform(making));
  }
  await checkTables(adapter, names);
}

const checked = new WeakMap<object, Map<string, Promise<void>>>();

/** As `checkTables`, once for an adapter and these tables. A refusal is not remembered: the tables may be there the next time. */
export function readyTables(adapter: Adapter<unknown>, names: readonly TableName[]): Promise<void> {
  const answers = answersOf(adapter);
  const which = names.join();
  let answer = answers.get(which);
  if (answer === undefined) {
    answer = checkTables(adapter, names);
    answers.set(which, answer);
    answer.catch(() => answers.delete(which));
  }
  return answer;
}

const alreadyReady = Promise.resolve();

/** The same inside of a body that never awaits. */
export function readyTablesSync<Tx>(adapter: SyncAdapter<Tx>, tx: Tx, names: readonly TableName[]): void {
  const answers = answersOf(adapter);
  const which = names.join();
  if (answers.get(which) === alreadyReady) return;
  adapter.performSync(tx, check(adapter.dialect, names));
  answers.set(which, alreadyReady);
}

function answersOf(adapter: object): Map<string, Promise<void>> {
  let answers = checked.get(adapter);
  if (answers === undefined) {
    answers = new Map();
    checked.set(adapter, answers);
  }
  return answers;
}

function* readNotes(dialect: Dialect): Operation<ReadonlyMap<string, number>> {
  const { rows: found } = yield { text: hasNotesSql[dialect], params: [] };
  if (found.length === 0) return new Map();
  const { rows } = yield { text: notesSql[dialect], params: [] };
  return new Map(rows.map(({ name, version }) => [String(name), numberOf(version)]));
}

function* check(dialect: Dialect, names: readonly TableName[]): Operation<void> {
  const known = yield* readNotes(dialect);
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0) throw errors.TABLES_MISSING({ tables: missing.join(", ") });
  const older = names.filter((name) => known.get(name)! < tableVersion(name));
  if (older.length === 0) return;
  const each = older.map((name) => `${name} has version ${known.get(name)}, ${tableVersion(name)} is needed`);
  throw errors.TABLES_OUTDATED({ tables: each.join("; ") });
}

/** "idem" in ASCII. Two sessions that make one table at once both find that it is not there, and one of them fails. */
const makersLock = 0x6964656d;

function* make(dialect: Dialect, names: readonly TableName[]): Operation<void> {
  if (dialect === "postgres") {
    yield { text: "select pg_advisory_xact_lock(cast($1 as bigint))", params: [makersLock] };
  }
  for (const text of tableStatements(dialect, names)) yield { text, params: [] };
}
