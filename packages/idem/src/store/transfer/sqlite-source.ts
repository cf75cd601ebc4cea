// A SQLite store that is about to be moved. Its owner's lock is held all along, so nothing runs on it meanwhile; rows are read through
// a connection that cannot write. All that is written is a note: where it is being moved to, and in the end where it was.

import { sealedKinds, sealedWith } from "../../model/seal.ts";
import type { Migration } from "../schema-history.ts";
import { Connection } from "../sqlite/connection.ts";
import { migrate } from "../sqlite/migrate.ts";
import { type MovedNote, movedNoteName, readMovedNote } from "../sqlite/moved-note.ts";
import { OwnerLock } from "../sqlite/owner-lock.ts";
import type { MovedTable, Row } from "./moved-tables.ts";

const readMetaSql = "select value from meta where name = ?";
const writeMetaSql = `
  insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value`;
const forgetMetaSql = "delete from meta where name = ?";

// The move's own id, from its first try to its last.
const moveIdName = "moving";

export class SqliteSource {
  private readonly reading: Connection;

  private constructor(
    readonly path: string,
    private readonly lock: OwnerLock,
  ) {
    this.reading = new Connection(path, { readonly: true });
  }

  /** Refused while a process owns the file. Brings its schema up to this version, as every opening does. */
  static open(path: string, migrations: readonly Migration[]): SqliteSource {
    const lock = OwnerLock.take(path);
    try {
      const connection = new Connection(path, { readonly: false });
      try {
        migrate(connection, migrations);
      } finally {
        connection.close();
      }
      return new SqliteSource(path, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Changes whenever anybody else has had the file open since. */
  get state(): string {
    const [epoch, clock] = ["epoch", "clock"].map((name) => this.meta(name));
    return `${epoch ?? 0}@${clock ?? 0}`;
  }

  get movedTo(): MovedNote | null {
    return readMovedNote(this.reading);
  }

  /** Settings with secrets that nothing protects but the file's mode. */
  secretsInClear(): number {
    const settings = this.reading.all<{ kind: string; value: string }>("select kind, value from settings");
    return settings.filter(({ kind, value }) => sealedKinds.has(kind) && sealedWith(value) === null).length;
  }

  count({ name, where }: MovedTable): number {
    const sql = `select count(*) as count from ${name}${where === null ? "" : ` where ${where}`}`;
    return this.reading.one<{ count: number }>(sql)!.count;
  }

  *rows({ name, columns, where }: MovedTable): Generator<Row> {
    const sql = `select ${columns.map(({ from }) => from).join(", ")} from ${name}${where === null ? "" : ` where ${where}`}`;
    const readers = columns.flatMap(({ read }, i) => (read === undefined ? [] : [{ i, read }]));
    for (const row of this.reading.db.cells(sql)) {
      for (const { i, read } of readers) row[i] = read(row[i]!);
      yield row;
    }
  }

  /** The same for every try of one move. */
  moveId(newId: () => string): string {
    const known = this.meta(moveIdName);
    if (known !== null) return known;
    const id = newId();
    this.write(writeMetaSql, moveIdName, id);
    return id;
  }

  noteMoved(note: MovedNote): void {
    this.write(writeMetaSql, movedNoteName, JSON.stringify(note));
  }

  /** The file may be opened again. A move that was killed at its very end is started over then, for the file changes. */
  forgetMoved(): void {
    this.write(forgetMetaSql, movedNoteName);
  }

  close(): void {
    this.reading.close();
    this.lock.release();
  }

  private meta(name: string): string | null {
    return this.reading.one<{ value: string }>(readMetaSql, name)?.value ?? null;
  }

  private write(sql: string, ...params: string[]): void {
    const connection = new Connection(this.path, { readonly: false });
    try {
      connection.run(sql, ...params);
    } finally {
      connection.close();
    }
  }
}
