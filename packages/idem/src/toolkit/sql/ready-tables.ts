// Whether a database has the tables that are about to be used: asked before the first use, so that the answer is a sentence that says what to
// do, and not an error of the driver in the middle of a transaction.
import { errors } from "../../model/errors.ts";
import { type AppliedMigration, type History, judgeHistory } from "../../store/schema-history.ts";
import { type Adapter, performWhole, type SyncAdapter } from "./adapter.ts";
import { carryTable } from "./carry-tables.ts";
import { type Dialect, numberOf, type Operation } from "./operation.ts";
import { recogniseTable } from "./recognise-table.ts";
import { type CarriedTable, carriedTables, type TableName, tableFile, tableNames, tableStatements } from "./tables.ts";

const hasTableSql: Readonly<Record<Dialect, string>> = {
  postgres: "select 1 as found where to_regclass($1) is not null",
  sqlite: "select 1 as found from sqlite_master where type = 'table' and name = $1",
};

/** A table that was dropped since is not there, whatever is noted. */
const notesSql: Readonly<Record<Dialect, string>> = {
  postgres: "select name, version from idem_toolkit where to_regclass(quote_ident(name)) is not null",
  sqlite: `
    select idem_toolkit.name, idem_toolkit.version from idem_toolkit
      join sqlite_master on sqlite_master.name = idem_toolkit.name and sqlite_master.type = 'table'`,
};

/**
 * Throws TABLES_MISSING, TABLES_NOT_CARRIED, TABLES_OUTDATED, TABLES_UNRECORDED or TABLES_DIFFER, naming them. Nothing is written. A newer table is fine: it is
 * made so that older code goes on.
 */
export const checkTables = (
  adapter: Pick<Adapter<unknown>, "dialect" | "perform">,
  names: readonly TableName[] = tableNames,
): Promise<void> => adapter.perform(check(adapter.dialect, names));

/**
 * Makes the tables that are missing, brings over the rows of tables that were joined into one, and recognises tables of builds that noted no
 * checksums; what no build made is refused with TABLES_DIFFER. Any number of processes may do it at once, and again; where there is nothing to
 * do, nothing is written and no right to make tables is needed.
 *
 * ```ts
 * await ensureTables(adapter);
 * ```
 */
export async function ensureTables(adapter: Adapter<unknown>, names: readonly TableName[] = tableNames): Promise<void> {
  const { dialect } = adapter;
  const known = await adapter.perform(readNotes(dialect));
  if (names.some((name) => isToDo(dialect, name, known)) || toCarry(names, known).length > 0) {
    await performWhole(adapter, () => make(dialect, names));
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

interface Note {
  readonly version: number;
  readonly applied: readonly AppliedMigration[];
}

type Notes = ReadonlyMap<string, Note>;

function* readNotes(dialect: Dialect): Operation<Notes> {
  if (!(yield* hasTable(dialect, "idem_toolkit"))) return new Map();
  const { rows } = yield { text: notesSql[dialect], params: [] };
  const history = (yield* hasTable(dialect, "idem_toolkit_history"))
    ? (yield { text: "select name, version, checksum from idem_toolkit_history", params: [] }).rows
    : [];
  const appliedTo = (table: unknown): AppliedMigration[] =>
    history
      .filter(({ name }) => name === table)
      .map(({ version, checksum }) => ({ version: numberOf(version), checksum: String(checksum) }));
  return new Map(
    rows.map(({ name, version }) => [String(name), { version: numberOf(version), applied: appliedTo(name) }]),
  );
}

function* hasTable(dialect: Dialect, name: string): Operation<boolean> {
  return (yield { text: hasTableSql[dialect], params: [name] }).rows.length > 0;
}

const historyOf = (dialect: Dialect, name: TableName, { version, applied }: Note): History =>
  judgeHistory(version, applied, [tableFile(dialect, name)]);

const isToDo = (dialect: Dialect, name: TableName, known: Notes): boolean => {
  const note = known.get(name);
  return note === undefined || historyOf(dialect, name, note).kind === "unrecorded";
};

const toCarry = (names: readonly TableName[], known: Notes): readonly CarriedTable[] =>
  names.includes("idem_claims") ? carriedTables.filter((name) => known.has(name)) : [];

function* check(dialect: Dialect, names: readonly TableName[]): Operation<void> {
  const known = yield* readNotes(dialect);
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0) throw errors.TABLES_MISSING({ tables: missing.join(", ") });
  const joined = toCarry(names, known);
  if (joined.length > 0) throw errors.TABLES_NOT_CARRIED({ tables: joined.join(", ") });
  const older: string[] = [];
  const unrecorded: TableName[] = [];
  for (const name of names) {
    const history = historyOf(dialect, name, known.get(name)!);
    switch (history.kind) {
      case "current":
      case "newer":
        break;
      case "empty":
      case "behind": {
        const { version } = tableFile(dialect, name);
        older.push(`${name} has version ${known.get(name)!.version}, ${version} is needed`);
        break;
      }
      case "unrecorded":
        unrecorded.push(name);
        break;
      case "differs":
        throw errors.TABLES_DIFFER({ table: name, why: history.why });
    }
  }
  if (older.length > 0) throw errors.TABLES_OUTDATED({ tables: older.join("; ") });
  if (unrecorded.length > 0) throw errors.TABLES_UNRECORDED({ tables: unrecorded.join(", ") });
}

/** "idem" in ASCII. Two sessions that make one table at once both find that it is not there, and one of them fails. */
const makersLock = 0x6964656d;

function* make(dialect: Dialect, names: readonly TableName[]): Operation<void> {
  if (dialect === "postgres") {
    yield { text: "select cast(pg_advisory_xact_lock(cast($1 as bigint)) as text)", params: [makersLock] };
  }
  const before = yield* readNotes(dialect);
  const missing = names.filter((name) => !before.has(name));
  for (const text of tableStatements(dialect, missing)) yield { text, params: [] };
  // Also one that was there without a note.
  const known = yield* readNotes(dialect);
  for (const name of names) if (isToDo(dialect, name, known)) yield* recogniseTable(dialect, name);
  for (const name of toCarry(names, known)) yield* carryTable(dialect, name);
}
