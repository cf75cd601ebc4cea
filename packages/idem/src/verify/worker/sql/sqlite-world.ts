// The SQLite files of the world that is played: copies, one for each file the program may open. A statement that changes rows, and every commit, is an
// effect; a connection ends with its process, and what it had not committed is undone.
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import type { Json, Thing } from "../../thing.ts";
import { asMachine, currentCaller, fromHere } from "../caller.ts";
import { WayOutShut } from "../deny-ways-out.ts";
import { carryOut, real } from "../file-effects.ts";
import type { WatchedProcess } from "../life.ts";
import { type Notes, notesInMemory } from "../notes.ts";
import type { Effected, Outside, WorldOfWatcher } from "../watcher.ts";
import { copySqlite } from "./copy-sqlite.ts";
import type { DatabasesScript, SqliteScript } from "./database-script.ts";
import { isHousekeeping, parkedSql, rowThings, type Write, waitingSql, writtenTables } from "./row-things.ts";
import { readStatement, type StatementText } from "./sql-text.ts";
import { changesBetween, type OpenSqlite, readRows, type SqliteRows } from "./sqlite-rows.ts";

/** A driver that is there, for what the verifier itself reads. */
export type OpenFile = (path: string) => OpenSqlite;

/** Errors as a driver throws them. */
export type Fail = (code: "SQLITE_IOERR" | "SQLITE_BUSY" | "SQLITE_FULL", message: string) => Error;

export interface Connection {
  /** Of its transaction: something besides the toolkit's rounds was written in it. */
  isWritten?: boolean;
  readonly life: WatchedProcess | null;
  readonly file: WorldFile;
  readonly fail: Fail;
  readonly close: () => void;
}

interface WorldFile {
  readonly name: string;
  readonly path: string;
  readonly image: string | null;
  readonly world: SqliteWorld;
}

/** The rows of an image, read once. */
const imagesRead = new Map<string, { readonly mtimeMs: number; readonly rows: SqliteRows }>();

let openFile: OpenFile | null = null;
export const useDriver = (open: OpenFile): void => {
  openFile = open;
};

const carry = <T>(body: () => T): T => asMachine(() => carryOut(body));

export class SqliteWorld {
  private readonly files = new Map<string, WorldFile>();
  readonly connections = new Set<Connection>();

  constructor(
    /** Undefined: modules are only looked at, and nobody said yet which databases there are. */
    private readonly script: DatabasesScript | undefined,
    private readonly events: readonly Json[],
    readonly writes: Notes<Write> = notesInMemory("writes"),
  ) {}

  /** The folder of its copies. */
  private folderFor({ image }: SqliteScript): string {
    if (this.script === undefined) return join(tmpdir(), `idem-verify-${process.pid}-${threadId}-sqlite`);
    return join(dirname(image), `world-${threadId}`);
  }

  /** Null where it was not given to the world. */
  fileOf(path: string): WorldFile | null {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const found = this.scriptOf(path);
    if (found === null) return null;
    const folder = this.folderFor(found);
    const at = this.script?.isSetUp === true ? found.image : join(folder, `${this.files.size}-${basename(path)}`);
    const isImage = at === found.image;
    carry(() => {
      if (isImage) return;
      real.mkdirSync(folder, { recursive: true });
      copySqlite(real, found.image, at);
    });
    const file = { name: found.name, path: at, image: isImage ? null : found.image, world: this };
    this.files.set(path, file);
    return file;
  }

  private scriptOf(file: string): SqliteScript | null {
    // Only looked at: a copy of what is there, or nothing.
    if (this.script === undefined) return { kind: "sqlite", file, name: file, image: file };
    const found = this.script.databases.find((each) => each.kind === "sqlite" && each.file === file);
    return found?.kind === "sqlite" ? found : null;
  }

  /** Of every file of the program's, a copy for a process that is about to start. */
  forProcess(): SqliteScript[] {
    return (this.script?.databases ?? []).flatMap((each) =>
      each.kind === "sqlite" ? [{ ...each, image: this.fileOf(each.file)!.path }] : [],
    );
  }

  /** Processes that are gone hold no locks. */
  closeDead(all = false): void {
    for (const connection of this.connections) {
      if (!all && connection.life?.isDead !== true) continue;
      this.connections.delete(connection);
      carry(connection.close);
    }
  }

  things(): Thing[] {
    this.closeDead(true);
    return [...this.files.values()].flatMap(({ name, path, image }) => {
      if (image === null) return [];
      const before = this.rowsOfImage(image);
      const after = carry(() => rowsIn(path));
      return rowThings(name, changesBetween(before, after), this.writes.all(), this.events);
    });
  }

  /** Asked of what the code wrote to. */
  private askWritten(sqlOf: (table: string) => string | null): Record<string, unknown>[] {
    return [...this.files.values()].flatMap(({ name, path, image }) => {
      const tables = writtenTables(this.writes, name);
      const asked = [...tables].flatMap((table) => sqlOf(table) ?? []);
      return image === null || asked.length === 0 ? [] : carry(() => rowsBy(path, asked));
    });
  }

  async waiting(): Promise<boolean> {
    return this.askWritten(waitingSql).length > 0;
  }

  parked(): string[] {
    return this.askWritten(parkedSql).map(({ id }) => String(id));
  }

  private rowsOfImage(image: string): SqliteRows {
    return carry(() => {
      const mtimeMs = real.statSync(image, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const before = imagesRead.get(image);
      if (before?.mtimeMs === mtimeMs) return before.rows;
      const rows: SqliteRows = mtimeMs === 0 ? new Map() : rowsIn(image);
      imagesRead.set(image, { mtimeMs, rows });
      return rows;
    });
  }
}

function rowsIn(path: string): SqliteRows {
  if (!real.existsSync(path)) return new Map();
  return withFile(path, readRows);
}

const rowsBy = (path: string, asked: readonly string[]): Record<string, unknown>[] =>
  withFile(path, (db) => asked.flatMap((sql) => db.all(sql)));

function withFile<T>(path: string, body: (db: OpenSqlite) => T): T {
  const db = openFile!(path);
  try {
    return body(db);
  } finally {
    db.close();
  }
}

export let world = new SqliteWorld(undefined, []);

export function beginSqlite({ databases, events, notes }: WorldOfWatcher): SqliteWorld {
  world.closeDead(true);
  world = new SqliteWorld(databases, events, notes("sqlite"));
  return world;
}

/** Of an address as drivers take them; null of a database in memory, which no process shares. */
export function pathOfAddress(address: unknown): string | null {
  if (address instanceof URL) return fileURLToPath(address);
  const text = Buffer.isBuffer(address) ? address.toString() : String(address ?? "").trim();
  if (text === "" || text === ":memory:" || /^file:.*[?&]mode=memory/.test(text)) return null;
  return resolve(text.startsWith("file:") ? decodeURIComponent(text.slice(5).replace(/\?.*$/, "")) : text);
}

/** The world's file for it. Refused, by its name, where it was not given to the world. */
export function openHere(outside: Outside, address: unknown): WorldFile | null {
  const path = pathOfAddress(address);
  if (path === null) return null;
  const file = world.fileOf(path);
  if (file !== null) return file;
  const name = relative(process.cwd(), path);
  const shown = name.startsWith("..") ? path : name;
  const found = `a database was opened that is not watched: ${shown}; write databases: [{ file: "${shown}" }] into idem.verify.ts, and each world has a copy of it`;
  outside.unproven(found);
  throw new WayOutShut(found);
}

export function connected(file: WorldFile, fail: Fail, close: () => void): Connection {
  const connection = { life: currentCaller<WatchedProcess>()?.life ?? null, file, fail, close };
  file.world.connections.add(connection);
  return connection;
}

/** Reaches past the copy. */
const reachesOut = (verb: string, source: string): boolean =>
  verb === "ATTACH" || (verb === "VACUUM" && /\binto\b/i.test(source));

/** One statement of the user's. `isReadonly`: as SQLite itself says, where the driver passes that on. */
export function act<T>(
  outside: Outside,
  connection: Connection,
  source: string,
  isReadonly: boolean | null,
  run: () => T,
): T {
  const { life, file, fail } = connection;
  file.world.closeDead();
  const text = readStatement(source);
  const gone = life?.isDead === true || file.world !== world;
  if (gone) throw fail("SQLITE_IOERR", "disk I/O error");
  if (reachesOut(text.verb, source)) {
    const found = `${text.verb} of a database reaches a file that is not watched: ${source.slice(0, 80)}`;
    outside.unproven(found);
    throw new WayOutShut(found);
  }
  if (life === null || life.isLoading) return run();
  const title = titleOf(text, file.name);
  const changes = isReadonly === null ? text.kind === "write" : !isReadonly && /^(read|write)$/.test(text.kind);
  const isEffect = text.kind === "commit" || changes;
  if (text.kind === "begin") connection.isWritten = false;
  if (!isEffect) return text.kind === "read" ? outside.readNow(run, title) : run();
  const caller = currentCaller();
  if (caller !== null && isHousekeeping(caller, text.kind === "commit" ? "idem_outbox" : text.table)) {
    if (text.kind !== "commit" || connection.isWritten === false) return run();
  } else connection.isWritten = true;
  return fromHere(() =>
    told(
      outside.effectNow({ watcher: "sql", title, key: null }, ({ fn, effect }) => {
        const value = run();
        if (text.kind !== "commit") file.world.writes.add({ database: file.name, table: text.table, fn, effect });
        return { value, isRepeat: false };
      }),
      fail,
    ),
  );
}

export const titleOf = ({ verb, table }: StatementText, database: string): string =>
  `${verb} ${database}${table === null ? "" : `/${table}`}`;

function told<T>(became: Effected<T>, fail: Fail): T {
  if (became.kind === "happened") return became.value;
  if (became.kind === "lost") throw fail("SQLITE_IOERR", "disk I/O error");
  if (became.status === 409) throw fail("SQLITE_BUSY", "database is locked");
  throw became.status === 429
    ? fail("SQLITE_FULL", "database or disk is full")
    : fail("SQLITE_IOERR", "disk I/O error");
}

// ---------------------------------------------------------------------------------------------------- the world's clock in SQL

const clockNames = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"] as const;

/** SQL's own words for the time, by the world's clock. `define` gives a connection a function of any number of arguments. */
export function giveClock(
  life: WatchedProcess | null,
  define: (name: string, run: (...args: unknown[]) => unknown) => void,
  evaluate: (sql: string, args: readonly unknown[]) => unknown,
): void {
  if (life === null) return;
  const now = (): string => new Date(life.now()).toISOString().replace("T", " ").replace("Z", "");
  const ask = (name: string, args: readonly unknown[]): unknown =>
    evaluate(`select ${name}(${args.map(() => "?").join(", ")})`, args);
  for (const name of clockNames) {
    define(name, (...args) => {
      const at = name === "strftime" ? 1 : 0;
      const given = args.length === at ? [...args, "now"] : args;
      return ask(
        name,
        given.map((each, i) => (i === at && /^now$/i.test(String(each)) ? now() : each)),
      );
    });
  }
  for (const [word, name] of [
    ["current_timestamp", "datetime"],
    ["current_date", "date"],
    ["current_time", "time"],
  ] as const) {
    define(word, () => ask(name, [now()]));
  }
}

/** Nobody in this thread can let go of a lock while another waits for it. */
export const withoutWaiting = (sql: string): string =>
  /^\s*pragma\s+(?:\w+\.)?busy_timeout\s*[=(]/i.test(sql) ? "pragma busy_timeout = 0" : sql;
