// Moves a stopped SQLite store into PostgreSQL without losing a window: copy, compare, switch. At no instant can both be opened: the
// target carries a mark until the file says that it was moved, and a try that was killed is gone on with, or started over.
import { movedError } from "../sqlite/moved-note.ts";
import { type MovedTable, movedTables } from "./moved-tables.ts";
import type { PostgresTarget } from "./postgres-target.ts";
import type { SqliteSource } from "./sqlite-source.ts";
import { TableHash } from "./table-hash.ts";

export interface Compared {
  readonly table: string;
  readonly source: { readonly rows: number; readonly hash: string };
  readonly target: { readonly rows: number; readonly hash: string };
  readonly isSame: boolean;
}

export interface MoveOptions {
  readonly source: SqliteSource;
  readonly target: PostgresTarget;
  readonly now: () => number;
  readonly newId: () => string;
  readonly onProgress?: (what: "copied" | "compared", rows: number, of: number) => void;
}

/** Moved when every table is the same; otherwise the file stays what it was, and the target cannot be opened. */
export async function moveStore(options: MoveOptions): Promise<readonly Compared[]> {
  const { source, target } = options;
  const note = source.movedTo;
  const id = source.moveId(options.newId);
  // Killed between the last two writes, the file says that it was moved and the target does not yet know that it is whole.
  if (note !== null && (await target.mark())?.id !== id) throw movedError(source.path, note);
  const from = `sqlite:${source.path}`;
  const done = await target.begin({ id, from, state: source.state });
  await copyTables(options, done);
  const compared = await compareTables(options);
  if (compared.every(({ isSame }) => isSame)) {
    source.noteMoved({ to: target.where, at: options.now() });
    await target.complete();
  } else {
    await target.distrust();
  }
  return compared;
}

async function copyTables({ source, target, onProgress }: MoveOptions, done: readonly string[]): Promise<void> {
  const left = movedTables.filter(({ name }) => !done.includes(name));
  const total = left.reduce((sum, table) => sum + source.count(table), 0);
  let copied = 0;
  for (const table of left) {
    await target.copy(table, source.rows(table), (count) => {
      copied += count;
      onProgress?.("copied", copied, total);
    });
  }
}

// Rows of one fetch, in memory.
const fetchedChars = 8 * 1024 * 1024;
const fetchedRowsMax = 1_000;
// Seldom enough to cost nothing.
const rowsPerTelling = 1_000;

async function compareTables({ source, target, onProgress }: MoveOptions): Promise<Compared[]> {
  const total = movedTables.reduce((sum, table) => sum + source.count(table), 0);
  const compared: Compared[] = [];
  let seen = 0;
  for (const table of movedTables) {
    const ours = hashOf(source, table);
    const theirs = new TableHash();
    const count = Math.max(1, Math.min(fetchedRowsMax, Math.floor(fetchedChars / Math.max(1, ours.longestChars))));
    for await (const row of target.rows(table, count)) {
      theirs.add(row);
      if (++seen % rowsPerTelling === 0) onProgress?.("compared", seen, total);
    }
    compared.push({
      table: table.name,
      source: { rows: ours.count, hash: ours.text },
      target: { rows: theirs.count, hash: theirs.text },
      isSame: ours.isSame(theirs),
    });
  }
  return compared;
}

function hashOf(source: SqliteSource, table: MovedTable): TableHash {
  const hash = new TableHash();
  for (const row of source.rows(table)) hash.add(row);
  return hash;
}
