// biome-ignore-all lint/suspicious/noTsIgnore: it is meant for the declarations, where there is an error only without `pg`.

import { createHash } from "node:crypto";
import { errors } from "../../model/errors.ts";
// Through `pg`: a pool, and one of its clients for each transaction.
import { refuseUnknown } from "../../model/known-options.ts";
import { cutsWaitShort, WaitCutShort } from "../../store/postgres/faults.ts";
import { guardClient } from "../../store/postgres/guarded-client.ts";
import type { Adapter, SqlTx, TransactionOptions } from "./adapter.ts";
import { isRefusal, wordsOfFault } from "./faults.ts";
import { setLockTimeout } from "./opened-by-driver.ts";
import { sqlTx } from "./sql-tx.ts";

/** The types of `pg` need not be installed:
 * @ts-ignore */
type Pool = import("pg").Pool;
/** @ts-ignore */
type PoolClient = import("pg").PoolClient;
/** @ts-ignore */
type ClientBase = import("pg").ClientBase;

export interface PgAdapterOptions {
  /** Prepare each text once per session: faster, and not for a pooler that hands sessions out by transaction. Default false. */
  readonly prepare?: boolean;
}

/**
 * The user's PostgreSQL, through `pg`.
 *
 * ```ts
 * const adapter = pgAdapter(new pg.Pool({ connectionString }));
 * ```
 */
export function pgAdapter(pool: Pool, options: PgAdapterOptions = {}): Adapter<ClientBase> {
  refuseUnknown<PgAdapterOptions>("pgAdapter", options, { prepare: true });
  const { prepare = false } = options;
  const names = new Map<string, string>();
  const wrap = (on: Pick<ClientBase, "query">): SqlTx =>
    sqlTx({
      dialect: "postgres",
      run: async (text, params) => {
        const named = prepare ? { name: nameOf(names, text) } : {};
        const { rows, rowCount } = await on.query({ ...named, text, values: params as unknown[] });
        return { rows, count: rowCount ?? 0 };
      },
    });
  return {
    dialect: "postgres",
    bodies: "async",
    perform: (operation) => wrap(pool).perform(operation),
    wrap,
    transaction: (body, options) => transact(pool, body, options),
  };
}

/** The same for a text in every process and adapter: a session remembers a name, and refuses it for another text. */
function nameOf(names: Map<string, string>, text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `idem_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    names.set(text, name);
  }
  return name;
}

async function transact<T>(
  pool: Pool,
  body: (tx: ClientBase) => T | Promise<T>,
  { lockTimeoutMs }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect();
  // A session that is lost between two statements says so here, and nobody listening would end the process.
  client.on("error", ignore);
  let isSound = false;
  try {
    await client.query(begin(lockTimeoutMs));
    const guarded = guardClient(client);
    let value: T;
    try {
      value = await body(guarded.tx);
    } catch (error) {
      guarded.close();
      isSound = await undo(client);
      throw error;
    }
    guarded.close();
    await commit(client);
    isSound = true;
    return value;
  } finally {
    // A session that may be in the middle of something is not used again.
    client.release(!isSound);
    client.off("error", ignore);
  }
}

/** The next statement fails with the same. */
const ignore = (): void => {};

const begin = (lockTimeoutMs: number | undefined): string =>
  `begin isolation level read committed${lockTimeoutMs === undefined ? "" : `; ${setLockTimeout(lockTimeoutMs)}`}`;

async function undo(client: PoolClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    // The session is gone, and with it what it had not committed.
    return false;
  }
}

async function commit(client: PoolClient): Promise<void> {
  let command: string;
  let cut: WaitCutShort | null = null;
  const hear = (notice: { readonly routine?: string | undefined }) => {
    if (cutsWaitShort(notice)) cut = new WaitCutShort();
  };
  client.on("notice", hear);
  try {
    ({ command } = await client.query("commit"));
    if (cut !== null) throw cut;
  } catch (error) {
    if (isRefusal(error)) throw error;
    throw errors.COMMIT_UNKNOWN({ why: wordsOfFault(error) }, { cause: error });
  } finally {
    client.off("notice", hear);
  }
  // So the server says it of a transaction in which a statement failed.
  if (command !== "COMMIT") throw errors.TRANSACTION_ABORTED({ why: "the server undid it" });
}
