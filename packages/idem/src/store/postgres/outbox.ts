// The outbox: rows that the user's own transaction writes, through the user's own session. No row is locked there that anybody else
// wants, so a transaction that stays open for an hour keeps nobody waiting.
import type { Pool } from "pg";
import { errors, type IdemError } from "../../model/errors.ts";
import { encodeText } from "../../model/nul-text.ts";
import type { NewEvent } from "../ingest.ts";
import type { StoreOutbox, TakenEntry, UserTransaction } from "../outbox.ts";
import type { Connection } from "./connection.ts";
import { quoted } from "./statement.ts";
import { readStoreId, storeIdName } from "./store-id.ts";
import type { Transactions } from "./transactions.ts";

const takeSql = `
  with t as materialized (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now),
  due as materialized (
    select o.env, o.id from outbox o, t
     where o.env = :env and o.parked is null and o.taken_until <= t.now
     order by o.id limit :max
       for update of o skip locked)
  update outbox set taken_until = t.now + cast(:leaseMs as bigint) * (1 << least(outbox.tries, 8)), tries = outbox.tries + 1
    from t, due where outbox.env = due.env and outbox.id = due.id
  returning outbox.id, outbox.entry, outbox.tries`;
const doneSql = "delete from outbox where env = ? and id = any(cast(? as text[]))";
const parkSql = "update outbox set parked = ? where env = ? and id = ?";

/** What is kept of an event beside its id. */
type Entry = Omit<NewEvent, "id">;

/** Codes of a database that has no such table, or a role that may not use it. */
const missing: ReadonlySet<string> = new Set(["42P01", "3F000"]);
const forbidden = "42501";

export interface OutboxOptions {
  readonly pool: Pool;
  readonly connection: Connection;
  readonly transactions: Pick<Transactions, "untilKnown">;
  readonly schema: string;
  /** The store's address, for people. */
  readonly where: string;
}

export class Outbox implements StoreOutbox {
  private readonly askSql: string;
  private readonly putSql: string;
  private storeId: string | null = null;

  constructor(private readonly options: OutboxOptions) {
    const schema = quoted(options.schema);
    // A setting that ends with the transaction: where each statement is a transaction by itself, the next one does not find it.
    this.askSql = `select (select value from ${schema}.meta where name = '${storeIdName}') as store_id, set_config('idem.sends', cast($1 as text), true) as sends`;
    // Every parameter is a text to the server too: a driver that is told `json` would write it as JSON once more.
    this.putSql = `
      insert into ${schema}.outbox (env, id, entry, created_at)
      select cast($1 as text), item ->> 'id', item ->> 'entry', cast(extract(epoch from clock_timestamp()) * 1000 as bigint)
        from json_array_elements(cast(cast($2 as text) as json)) as list (item)
       where current_setting('idem.sends', true) = cast($3 as text)
      returning id`;
  }

  async put(tx: UserTransaction, env: string, events: readonly NewEvent[]): Promise<void> {
    if (typeof tx?.query !== "function") throw unusable("it has no query(text, values)");
    if (events.length === 0) return;
    const mark = events[0]!.id;
    const [asked] = (await this.ask(tx, this.askSql, [mark])) as { store_id?: unknown }[];
    if (asked?.store_id !== (await this.ownId())) throw this.elsewhere();
    const items = events.map(({ id, ...entry }) => ({ id, entry: encodeText(JSON.stringify(entry satisfies Entry)) }));
    const written = await this.ask(tx, this.putSql, [encodeText(env), JSON.stringify(items), mark]);
    if (written.length !== events.length) {
      throw unusable("no transaction is open on it: each statement is committed by itself, as on a pool");
    }
  }

  async take(input: { readonly env: string; readonly max: number; readonly leaseMs: number }): Promise<TakenEntry[]> {
    const { connection, transactions } = this.options;
    type Row = { readonly id: string; readonly entry: string; readonly tries: number };
    const rows = await transactions.untilKnown(() => connection.find<Row>(takeSql, input));
    return rows
      .map(({ id, entry, tries }) => ({ id, tries, event: readEntry(id, entry) }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async done(env: string, ids: readonly string[]): Promise<void> {
    const { connection, transactions } = this.options;
    await transactions.untilKnown(() => connection.run(doneSql, env, ids));
  }

  async park(env: string, id: string, why: string): Promise<void> {
    const { connection, transactions } = this.options;
    await transactions.untilKnown(() => connection.run(parkSql, why, env, id));
  }

  private async ask(tx: UserTransaction, text: string, values: string[]): Promise<readonly unknown[]> {
    let rows: unknown;
    try {
      ({ rows } = await tx.query(text, values));
    } catch (error) {
      const code = String((error as { code?: unknown } | null)?.code);
      if (missing.has(code)) throw this.elsewhere(error);
      if (code !== forbidden) throw error;
      throw unusable(`its role may not read "meta" and write "outbox" in schema "${this.options.schema}"`, error);
    }
    if (!Array.isArray(rows)) throw unusable("its query(text, values) does not answer with { rows }");
    return rows;
  }

  private async ownId(): Promise<string> {
    const { pool, schema, transactions } = this.options;
    this.storeId ??= await transactions.untilKnown(() => readStoreId(pool, schema));
    return this.storeId;
  }

  private elsewhere(cause?: unknown): IdemError {
    return unusable(`it is in another database than the engine's, ${this.options.where}`, cause);
  }
}

const unusable = (why: string, cause?: unknown): IdemError =>
  errors.TRANSACTION_UNUSABLE({ why }, cause === undefined ? undefined : { cause });

function readEntry(id: string, text: string): NewEvent | null {
  try {
    const entry = JSON.parse(text) as Entry;
    const isRead = typeof entry.name === "string" && typeof entry.data === "string" && typeof entry.ts === "number";
    return isRead ? { ...entry, id } : null;
  } catch {
    return null;
  }
}
