// The databases of a thread, or of the command for an app's worlds: made on a scratch server, and put back before each world. Statements here are the
// verifier's own, past everything that is watched.
import { createRequire } from "node:module";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { asMachine } from "../caller.ts";
import { realSetTimeout } from "../real.ts";
import { addressOf, type PostgresScript } from "./database-script.ts";
import { emptyEngineTables, openEngineTables } from "./engine-in-postgres.ts";
import { openClock, setClock } from "./postgres-clock.ts";
import { type Ask, type AskedRow, PostgresRows } from "./postgres-rows.ts";

interface OwnClient {
  connect(): Promise<unknown>;
  query(sql: string, values?: readonly unknown[]): Promise<{ rows?: AskedRow[] } | { rows?: AskedRow[] }[]>;
  end(): Promise<void>;
  on(event: "error", run: () => void): unknown;
}

let isOwn = false;
/** The verifier loads something of its own now. */
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

export async function openOwn(address: string): Promise<{ readonly ask: Ask; readonly close: () => Promise<void> }> {
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
export class ThreadDatabase {
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

  /** Sets the database's clock. */
  async setTime(ms: number): Promise<void> {
    if (this.at === ms) return;
    this.at = ms;
    await asMachine(() => setClock(this.ask, ms));
  }
}

const databases = new Map<string, ThreadDatabase>();

/** As it was, whatever the last world left. */
export async function databaseFor(script: PostgresScript, isOther: boolean): Promise<ThreadDatabase> {
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

/** Those that came from these ports of this machine; null for everybody's but the verifier's own. Waits until the server has undone what they left. */
export async function endSessions(ask: Ask, ports: readonly number[] | null): Promise<void> {
  const those =
    "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ($1::int[] is null or client_port = any($1))";
  for (let tries = 0; tries < 200; tries++) {
    const left = await ask(`select pg_terminate_backend(pid) ${those}`, [ports]);
    if (left.length === 0) return;
  }
  throw new Error("the scratch server does not end the sessions of a process that died");
}

/** The verifier's own sessions end; a thread's end with it. */
export async function closeDatabases(): Promise<void> {
  const all = [...databases.values()];
  databases.clear();
  await Promise.all(all.map((each) => each.close()));
}

const waitingForLock =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1";

export const isLocked = async ({ ask }: ThreadDatabase): Promise<boolean> =>
  (await asMachine(() => ask(waitingForLock)).catch(() => [])).length > 0;
