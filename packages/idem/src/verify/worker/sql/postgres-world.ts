// The PostgreSQL of the world that is played: a database of the thread's own on a scratch server, put back before each world. Statements are really carried
// out; a statement that writes, and every commit, is an effect. The sessions of a process end with it, and what they had not committed is undone.
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import net from "node:net";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { setEnvironment } from "../../../platform/node-thread.ts";
import type { Store } from "../../../store/store.ts";
import { firstStart } from "../../function-script.ts";
import type { Thing } from "../../thing.ts";
import { asMachine, currentCaller } from "../caller.ts";
import { type Life, never } from "../life.ts";
import { realClearTimeout, realSetTimeout } from "../real.ts";
import type { Outside, WatchedWorld, WorldOfWatcher } from "../watcher.ts";
import { addressOf, type PostgresScript } from "./database-script.ts";
import { type EngineParts, emptyEngineTables, engineParts, openEngineTables, queuedSql } from "./engine-in-postgres.ts";
import { openClock, setClock } from "./postgres-clock.ts";
import { type Ask, type AskedRow, PostgresRows } from "./postgres-rows.ts";
import { isHousekeeping, parkedSql, rowThings, type Write, waitingSql } from "./row-things.ts";
import { readStatement } from "./sql-text.ts";
import { titleOf } from "./sqlite-world.ts";

interface OwnClient {
  connect(): Promise<unknown>;
  query(sql: string, values?: readonly unknown[]): Promise<{ rows?: AskedRow[] } | { rows?: AskedRow[] }[]>;
  end(): Promise<void>;
  on(event: "error", run: () => void): unknown;
}

let isOwn = false;
/** What is loaded now is the verifier's own. */
export const isOwnLoading = (): boolean => isOwn;

/** The driver, as nobody watches it. */
function ownPg(): { readonly Client: new (options: object) => OwnClient } {
  isOwn = true;
  try {
    for (const from of [import.meta.url, join(process.cwd(), "package.json")]) {
      const require = createRequire(from);
      try {
        const made = require("pg") as ReturnType<typeof ownPg>;
        for (const file of Object.keys(require.cache))
          if (/[\\/]pg(-[a-z]+)?[\\/]/.test(file)) delete require.cache[file];
        return made;
      } catch {
        // From the next place.
      }
    }
  } finally {
    isOwn = false;
  }
  throw new Error("idem verify reads the rows of PostgreSQL by the package pg: npm install --save-dev pg");
}

async function openOwn(address: string): Promise<{ readonly ask: Ask; readonly close: () => Promise<void> }> {
  const { Client } = ownPg();
  const client = new Client({ connectionString: address });
  client.on("error", () => {});
  await client.connect();
  const ask: Ask = async (sql, values) => {
    const told = await client.query(sql, values);
    return (Array.isArray(told) ? told.at(-1) : told)?.rows ?? [];
  };
  return { ask, close: () => client.end().catch(() => {}) };
}

/** One database, for as long as the thread has it. */
class ThreadDatabase {
  private at = Number.NaN;

  private constructor(
    readonly address: string,
    readonly ask: Ask,
    readonly rows: PostgresRows,
    readonly close: () => Promise<void>,
  ) {}

  static async make({ server, template }: PostgresScript): Promise<ThreadDatabase> {
    const name = `${template}_${threadId}`;
    const admin = await openOwn(server);
    try {
      await admin.ask(`drop database if exists "${name}" with (force)`);
      for (let tries = 1; ; tries++) {
        try {
          await admin.ask(`create database "${name}" template "${template}"`);
          break;
        } catch (error) {
          // Others make theirs of it just now.
          if (tries === 20 || (error as { code?: unknown }).code !== "55006") throw error;
          await new Promise((resolve) => realSetTimeout(resolve, 50));
        }
      }
    } finally {
      await admin.close();
    }
    const address = addressOf(server, name);
    const { ask, close } = await openOwn(address);
    await openClock(ask);
    await openEngineTables(ask);
    const rows = new PostgresRows(ask);
    await rows.keep();
    return new ThreadDatabase(address, ask, rows, close);
  }

  /** What it tells the time by. */
  async setTime(ms: number): Promise<void> {
    if (this.at === ms) return;
    this.at = ms;
    await asMachine(() => setClock(this.ask, ms));
  }
}

const databases = new Map<string, ThreadDatabase>();

/** Which process a connection belongs to, for the sockets that a driver opens. */
const drivers = new AsyncLocalStorage<{ readonly life: Life | null; readonly world: PostgresWorld }>();

interface Database {
  readonly script: PostgresScript;
  readonly at: URL;
  /** Null while modules are only looked at: what they set up stays. */
  readonly made: ThreadDatabase | null;
  readonly writes: Write[];
}

export class PostgresWorld implements WatchedWorld {
  readonly madeIds = [];
  private readonly open = new Map<net.Socket, Life | null>();
  private all: Database[] = [];
  private found: Thing[] = [];
  private left: string[] = [];

  constructor(private readonly of: WorldOfWatcher) {}

  private get scripts(): PostgresScript[] {
    return (this.of.databases?.databases ?? []).filter((each): each is PostgresScript => each.kind === "postgres");
  }

  ready = async (): Promise<void> => {
    const isOther = this.of.now() !== firstStart;
    this.all = await asMachine(() =>
      Promise.all(
        this.scripts.map(async (script): Promise<Database> => {
          if (this.of.databases?.isSetUp === true) {
            const at = addressOf(script.server, script.template);
            const { ask, close } = await openOwn(at);
            await openClock(ask);
            await setClock(ask, this.of.now());
            await close();
            return { script, at: new URL(at), made: null, writes: [] };
          }
          const made = await databaseFor(script, isOther);
          await made.setTime(this.of.now());
          return { script, at: new URL(made.address), made, writes: [] };
        }),
      ),
    );
    this.setAddresses();
  };

  /** Once more after the program's configuration, which may have placeholders. */
  setAddresses(): void {
    for (const { script, at } of this.all) setEnvironment({ [script.env]: at.href });
  }

  /** Null where the world has none there. */
  databaseAt(host: unknown, port: unknown, name: unknown): Database | null {
    const found = this.all.find(
      ({ at }) =>
        Number(at.port || 5432) === Number(port) && at.pathname === `/${String(name)}` && isSameHost(at.hostname, host),
    );
    return found ?? null;
  }

  /** What an engine has there whose store is this very database. */
  engineOf(life: Life, configured: unknown, store: Store): EngineParts | null {
    if (typeof configured !== "string" || !/^postgres(ql)?:/.test(configured)) return null;
    const { hostname, port, pathname } = new URL(configured);
    const made = this.databaseAt(hostname, port || 5432, pathname.slice(1))?.made ?? null;
    if (made === null) return null;
    const ask: Ask = async (sql, values) => {
      await made.setTime(this.of.now());
      return made.ask(sql, values);
    };
    return engineParts({ address: made.address, ask, asDriver }, life, store);
  }

  /** Asked of what the code wrote to: most programs have none of these tables. */
  private async askWritten(sqlOf: (table: string) => string | null): Promise<AskedRow[]> {
    const all: AskedRow[] = [];
    for (const { made, writes } of this.all) {
      const tables = new Set(writes.flatMap(({ table }) => (table === null ? [] : [table])));
      for (const table of tables) {
        const sql = sqlOf(table);
        if (sql !== null && made !== null) all.push(...(await asMachine(() => made.ask(sql)).catch(() => [])));
      }
    }
    return all;
  }

  waiting = async (): Promise<boolean> =>
    (await this.askWritten((table) => (table === "outbox" ? queuedSql : waitingSql(table)))).length > 0;

  get only(): Database | null {
    return this.all[0] ?? null;
  }

  opened(socket: net.Socket, life: Life | null): void {
    this.open.set(socket, life);
    socket.once("close", () => this.open.delete(socket));
  }

  bury = async (): Promise<void> => this.leave(false);

  /** Ends the sessions of processes that are gone, and waits until the server has undone what they left. */
  private async leave(everybody: boolean): Promise<void> {
    const ports: number[] = [];
    for (const [socket, life] of this.open) {
      if (!everybody && life?.isDead !== true) continue;
      if (socket.localPort !== undefined) ports.push(socket.localPort);
      this.open.delete(socket);
      socket.removeAllListeners("error");
      socket.on("error", () => {});
      socket.destroy();
    }
    if (ports.length === 0) return;
    for (const { made } of this.all) if (made !== null) await asMachine(() => endSessions(made.ask, ports));
  }

  end = async (): Promise<void> => {
    await this.leave(true);
    this.left = (await this.askWritten(parkedSql)).map(({ id }) => String(id));
    for (const { script, made, writes } of this.all) {
      if (made === null) continue;
      const changes = await asMachine(() => made.rows.changes());
      this.found.push(...rowThings(script.name, changes, writes, this.of.events));
    }
  };

  /** A session that a driver keeps to itself, by the server's own number of it. */
  cut({ made }: Database, pid: number): void {
    if (made !== null) void asMachine(() => made.ask("select pg_terminate_backend($1)", [pid])).catch(() => {});
  }

  things(): Thing[] {
    return this.found;
  }

  parked(): readonly string[] {
    return this.left;
  }

  stir(): void {
    this.of.stir();
  }

  /** A statement is about to be asked. */
  setTime({ made }: Database): Promise<void> | undefined {
    return made?.setTime(this.of.now());
  }
}

/** As it was, whatever the last world left. */
async function databaseFor(script: PostgresScript, isOther: boolean): Promise<ThreadDatabase> {
  const known = databases.get(script.template);
  const isBack = known !== undefined && (await putBack(known, isOther).catch(() => false));
  if (isBack) return known;
  await known?.close();
  const made = await ThreadDatabase.make(script);
  databases.set(script.template, made);
  if (isOther) await made.rows.putBack(true);
  return made;
}

async function putBack({ ask, rows }: ThreadDatabase, isOther: boolean): Promise<boolean> {
  await ask(emptyEngineTables);
  return rows.putBack(isOther);
}

async function endSessions(ask: Ask, ports: readonly number[]): Promise<void> {
  const those = "from pg_stat_activity where client_port = any($1) and datname = current_database()";
  for (let tries = 0; tries < 200; tries++) {
    const left = await ask(`select pg_terminate_backend(pid) ${those}`, [ports]);
    if (left.length === 0) return;
  }
  throw new Error("the scratch server does not end the sessions of a process that died");
}

const isSameHost = (one: string, other: unknown): boolean => {
  const plain = (host: string): string => (/^(localhost|127\.0\.0\.1|::1|\[::1\])$/.test(host) ? "localhost" : host);
  return plain(one) === plain(String(other ?? "localhost"));
};

export let world: PostgresWorld | null = null;

export function beginPostgres(of: WorldOfWatcher): PostgresWorld {
  world = new PostgresWorld(of);
  return world;
}

/** On the machine's own time, its sockets noted as this process's. */
export const asDriver = <T>(life: Life | null, body: () => T): T =>
  world === null ? asMachine(body) : drivers.run({ life, world }, () => asMachine(body));

/** Sockets that drivers open belong to the process whose code asked. */
export function noteSockets(): void {
  const prototype = net.Socket.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const { connect } = prototype;
  prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const driver = drivers.getStore();
    if (driver !== undefined) driver.world.opened(this, driver.life);
    return connect!.apply(this, args);
  };
}

/** How a driver carries out one statement. */
export interface Session<T> {
  readonly database: Database;
  readonly run: () => Promise<T>;
  /** Another statement in its place, on the same session. */
  readonly instead: (sql: string) => Promise<unknown>;
  /** The connection is gone. */
  readonly cut: () => void;
}

const refusals = {
  500: ["57014", "canceling statement due to statement timeout"],
  429: ["53100", "could not extend file: No space left on device"],
  409: ["40001", "could not serialize access due to concurrent update"],
} as const;

/** Real time after which a statement that is not answered may be waiting for somebody else's lock. */
const lockMs = 30;

/** One statement of the user's, in the user's own context. */
export async function perform<T>(outside: Outside, sql: string, session: Session<T>): Promise<T> {
  const caller = currentCaller();
  const { database } = session;
  const text = readStatement(sql);
  const title = titleOf(text, database.script.name);
  if (caller === null) {
    outside.unproven(`${title} came from code whose world cannot be told (its async context was lost)`);
    return never();
  }
  const { life } = caller;
  const end = outside.begin();
  const isWaiting = (): void => {
    end();
    // One that stands still in a transaction holds its locks: only when it goes on does anybody.
    for (const other of life.options.home.lives) if (other.isFrozen && !other.isDead) other.thaw();
  };
  const really = async <V>(body: () => Promise<V>): Promise<V> => {
    await world?.setTime(database);
    return untilLocked(database, () => asDriver(life, body), isWaiting);
  };
  try {
    if (life.isLoading) return await really(session.run);
    if ((text.kind !== "write" && text.kind !== "commit") || isHousekeeping(caller, text.table)) {
      const value = await outside.read(() => really(session.run), text.kind === "read" ? title : undefined);
      await life.pass();
      return value;
    }
    const became = await outside.effectLater({ watcher: "sql", title, key: null }, async ({ fn, effect }) => {
      const value = await really(session.run);
      if (text.kind === "write") database.writes.push({ table: text.table, fn, effect });
      return { value, isRepeat: false };
    });
    if (became.kind === "happened") return became.value;
    if (became.kind === "lost") {
      session.cut();
      throw new Error("Connection terminated unexpectedly");
    }
    const [code, message] = refusals[became.status];
    const failed = Object.assign(new Error(message), { severity: "ERROR", code, name: "error" });
    // What is refused at its commit is undone.
    if (text.kind === "commit") await really(() => session.instead("rollback"));
    else await really(() => session.instead(raising(code, message)).catch(() => {}));
    throw failed;
  } finally {
    end();
    world?.stir();
  }
}

/** The server itself fails so, and its transaction with it. */
const raising = (code: string, message: string): string =>
  `do $idem$ begin raise exception using errcode = '${code}', message = '${message}'; end $idem$`;

/** Who waits for a lock is not at work: another process has to go on first, or time has to pass. */
async function untilLocked<T>({ made }: Database, body: () => Promise<T>, isWaiting: () => void): Promise<T> {
  let isOver = false;
  let timer: ReturnType<typeof realSetTimeout>;
  const look = (): void => {
    void asMachine(async () => {
      const sql =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1";
      const waiting = made === null || isOver ? [] : await made.ask(sql).catch(() => []);
      if (waiting.length > 0) isWaiting();
      else if (!isOver) timer = realSetTimeout(look, lockMs);
    });
  };
  timer = realSetTimeout(look, lockMs);
  try {
    return await body();
  } finally {
    isOver = true;
    realClearTimeout(timer);
  }
}
