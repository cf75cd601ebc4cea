// The PostgreSQL of the world that is played: a database of the thread's own on a scratch server, put back before each world. Statements are really carried
// out; a statement that writes, and every commit, is an effect. The sessions of a process end with it, and what they had not committed is undone.
import { AsyncLocalStorage } from "node:async_hooks";
import net from "node:net";
import type { Store } from "../../../store/store.ts";
import { firstStart } from "../../function-script.ts";
import type { Thing } from "../../thing.ts";
import { asMachine } from "../caller.ts";
import type { Life, WatchedProcess } from "../life.ts";
import type { Notes } from "../notes.ts";
import type { WatchedWorld, WorldOfWatcher } from "../watcher.ts";
import { addressOf, type PostgresScript } from "./database-script.ts";
import { type EngineParts, engineParts, queuedSql } from "./engine-in-postgres.ts";
import { openClock, setClock } from "./postgres-clock.ts";
import { databaseFor, endSessions, isLocked, openOwn, type ThreadDatabase } from "./postgres-databases.ts";
import type { Ask, AskedRow } from "./postgres-rows.ts";
import { parkedSql, rowThings, type Write, waitingSql, writtenTables } from "./row-things.ts";

/** Which process a connection belongs to, for the sockets that a driver opens. */
const drivers = new AsyncLocalStorage<{ readonly life: WatchedProcess | null; readonly world: PostgresWorld }>();

export interface Database {
  readonly script: PostgresScript;
  readonly at: URL;
  /** Null while modules are only looked at: what they set up stays. And in a process of an app, whose command has it. */
  readonly made: ThreadDatabase | null;
}

export class PostgresWorld implements WatchedWorld {
  readonly madeIds = [];
  private readonly open = new Map<net.Socket, WatchedProcess | null>();
  private all: Database[] = [];
  private found: Thing[] = [];
  private left: string[] = [];
  private readonly writes: Notes<Write>;

  constructor(private readonly of: WorldOfWatcher) {
    this.writes = of.notes("postgres");
    if (of.databases?.isSetUp !== true) return;
    this.all = this.scripts.map((script) => ({
      script,
      at: new URL(addressOf(script.server, script.template)),
      made: null,
    }));
  }

  private get scripts(): PostgresScript[] {
    return (this.of.databases?.databases ?? []).filter((each): each is PostgresScript => each.kind === "postgres");
  }

  ready = async (): Promise<void> => {
    const isOther = this.of.now() !== firstStart;
    if (this.of.databases?.isSetUp === true) {
      for (const { at } of this.all) {
        await asMachine(async () => {
          const { ask, close } = await openOwn(at.href);
          await openClock(ask);
          await setClock(ask, this.of.now());
          await close();
        });
      }
    } else {
      this.all = await asMachine(() =>
        Promise.all(
          this.scripts.map(async (script): Promise<Database> => {
            const made = await databaseFor(script, isOther);
            await made.setTime(this.of.now());
            return { script, at: new URL(made.address), made };
          }),
        ),
      );
    }
    this.setAddresses();
  };

  /** Once more after the program's configuration, which may have placeholders. */
  setAddresses(): void {
    for (const { script, at } of this.all) this.of.setEnvironment({ [script.env]: at.href });
  }

  forProcess(): PostgresScript[] {
    return this.all.map(({ script, at }) => ({ ...script, template: at.pathname.slice(1) }));
  }

  moved = async (): Promise<void> => {
    for (const { made } of this.all) await made?.setTime(this.of.now());
  };

  isLocked = async (): Promise<boolean> => {
    for (const { made } of this.all) if (made !== null && (await isLocked(made))) return true;
    return false;
  };

  wrote({ script }: Database, write: Omit<Write, "database">): void {
    this.writes.add({ database: script.name, ...write });
  }

  /** Null where the world has none there. */
  databaseAt(host: unknown, port: unknown, name: unknown): Database | null {
    const found = this.all.find(
      ({ at }) =>
        Number(at.port || 5432) === Number(port) && at.pathname === `/${String(name)}` && isSameHost(at.hostname, host),
    );
    return found ?? null;
  }

  /** The engine's outbox and transactions, where its store is this very database. */
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
    for (const { script, made } of this.all) {
      for (const table of writtenTables(this.writes, script.name)) {
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

  opened(socket: net.Socket, life: WatchedProcess | null): void {
    this.open.set(socket, life);
    socket.once("close", () => this.open.delete(socket));
  }

  bury = async (): Promise<void> => this.leave(false);

  /** Ends the sessions of processes that are gone, and waits until the server has undone what they left. */
  private async leave(everybody: boolean): Promise<void> {
    const ports: number[] = [];
    if (this.of.isApart) {
      await this.endSessions(null);
      return;
    }
    for (const [socket, life] of this.open) {
      if (!everybody && life?.isDead !== true) continue;
      if (socket.localPort !== undefined) ports.push(socket.localPort);
      this.open.delete(socket);
      socket.removeAllListeners("error");
      socket.on("error", () => {});
      socket.destroy();
    }
    if (ports.length > 0) await this.endSessions(ports);
  }

  private async endSessions(ports: readonly number[] | null): Promise<void> {
    for (const { made } of this.all) if (made !== null) await asMachine(() => endSessions(made.ask, ports));
  }

  end = async (): Promise<void> => {
    await this.leave(true);
    this.left = (await this.askWritten(parkedSql)).map(({ id }) => String(id));
    for (const { script, made } of this.all) {
      if (made === null) continue;
      const changes = await asMachine(() => made.rows.changes());
      this.found.push(...rowThings(script.name, changes, this.writes.all(), this.of.events));
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
export const asDriver = <T>(life: WatchedProcess | null, body: () => T): T =>
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
