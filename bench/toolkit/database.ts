// The database of a round: a file of SQLite or a database of PostgreSQL, with the toolkit's tables and two of the bench's own.
import SqliteDatabase from "better-sqlite3";
import pg from "pg";
import { type Adapter, ensureTables, pgAdapter, sqliteAdapter } from "./idem.ts";

export interface BenchDatabase {
  readonly dialect: "sqlite" | "postgres";
  readonly versions: string;
  readonly adapter: Adapter<any>;
  /** The toolkit cannot be faster than this: a row read by its id, and one inserted and updated, each in the fewest statements. */
  readonly floor: {
    read(id: string): Promise<unknown>;
    write(id: string, body: Buffer): Promise<void>;
  };
  /** Round trips of PostgreSQL as seen on its wires, commits of SQLite, each of which waits for its disk; 0 where they are not counted. */
  asked(): number;
  /** As a server does by itself, once it has learned what is in the tables. */
  settle(): Promise<void>;
  /** Bytes of log written by everybody so far. */
  logged(): Promise<number>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly prepare?: boolean;
  /** Counts what is asked; costs time. */
  readonly isCounting?: boolean;
}

/** As many as are kept in flight. */
export const sessions = 16;

const floorTable = (bytes: string): string =>
  `create table if not exists floor (id text primary key, state text not null, body ${bytes})`;
const ordersTable = "create table if not exists orders (item text not null, total integer not null)";

/** At a path, or at a URL of PostgreSQL. */
export const openDatabase = (at: string, options: OpenOptions = {}): Promise<BenchDatabase> =>
  at.startsWith("postgres:") ? openPostgres(at, options) : openSqlite(at, options);

async function openSqlite(path: string, { isCounting = false }: OpenOptions): Promise<BenchDatabase> {
  let asked = 0;
  const db = new SqliteDatabase(path, isCounting ? { verbose: (text) => (asked += text === "COMMIT" ? 1 : 0) } : {});
  db.pragma("journal_mode = wal");
  db.pragma("synchronous = full");
  const synchronous = db.pragma("synchronous", { simple: true });
  const journal = db.pragma("journal_mode", { simple: true });
  if (synchronous !== 2 || journal !== "wal") throw new Error("SQLite does not wait for its disk: nothing would count");
  const adapter = sqliteAdapter(db);
  await ensureTables(adapter);
  db.exec(`${floorTable("blob")}; ${ordersTable}`);
  const read = db.prepare("select * from floor where id = ?");
  const insert = db.prepare("insert into floor (id, state) values (?, 'running')");
  const update = db.prepare("update floor set state = 'completed', body = ? where id = ?");
  const version = db.prepare("select sqlite_version() as version").get() as { version: string };
  return {
    dialect: "sqlite",
    versions: `SQLite ${version.version}`,
    adapter,
    floor: {
      read: async (id) => read.get(id),
      async write(id, body) {
        insert.run(id);
        update.run(body, id);
      },
    },
    asked: () => asked,
    settle: async () => void db.exec("analyze"),
    logged: async () => 0,
    close: async () => void db.close(),
  };
}

async function openPostgres(url: string, { prepare = false, isCounting = false }: OpenOptions): Promise<BenchDatabase> {
  let asked = 0;
  const pool = new pg.Pool({ connectionString: url, max: sessions });
  pool.on("error", () => {});
  // A server says that it is ready once for each time it was asked and answered, whatever that was made of.
  if (isCounting) pool.on("connect", (client) => wireOf(client).on("readyForQuery", () => asked++));
  const adapter = pgAdapter(pool, { prepare });
  await ensureTables(adapter);
  await pool.query(floorTable("bytea"));
  await pool.query(ordersTable);
  const { rows } = await pool.query<{ version: string }>("select current_setting('server_version') as version");
  const named = (name: string) => (prepare ? { name } : {});
  return {
    dialect: "postgres",
    versions: `PostgreSQL ${rows[0]!.version}`,
    adapter,
    floor: {
      read: (id) => pool.query({ ...named("floor-read"), text: "select * from floor where id = $1", values: [id] }),
      async write(id, body) {
        const insert = "insert into floor (id, state) values ($1, 'running')";
        await pool.query({ ...named("floor-insert"), text: insert, values: [id] });
        const update = "update floor set state = 'completed', body = $1 where id = $2";
        await pool.query({ ...named("floor-update"), text: update, values: [body, id] });
      },
    },
    asked: () => asked,
    settle: async () => void (await pool.query("vacuum (analyze)")),
    logged: async () => {
      const { rows } = await pool.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
      return Number(rows[0]!.bytes);
    },
    close: () => pool.end(),
  };
}

interface Wire {
  on(event: "readyForQuery", listener: () => void): void;
}

const wireOf = (client: pg.PoolClient): Wire => (client as unknown as { readonly connection: Wire }).connection;
