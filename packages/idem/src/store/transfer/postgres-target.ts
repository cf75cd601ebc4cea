// A PostgreSQL store that takes in another one. A table is copied in one transaction together with the mark that says so: killed
// half-way, the next try goes on with the first table that is not there, or starts over when the source was used meanwhile.
import type { Pool, PoolClient } from "pg";
import { errors } from "../../model/errors.ts";
import { encodeText } from "../../model/nul-text.ts";
import { readAddress, withoutPassword } from "../postgres/address.ts";
import { checkServer } from "../postgres/check-server.ts";
import { migrate } from "../postgres/migrate.ts";
import { loadMigrations } from "../postgres/migrations.ts";
import { type MovingMark, movingMarkName, readMovingMark } from "../postgres/moving-mark.ts";
import { openingFault } from "../postgres/opening-fault.ts";
import { type Pg, Sessions } from "../postgres/sessions.ts";
import { quoted } from "../postgres/statement.ts";
import { type MovedTable, movedTables, type Row } from "./moved-tables.ts";

// A statement carries so many rows, and no more text than a server and this process take in one piece.
const rowsPerStatement = 1_000;
const charsPerStatement = 4 * 1024 * 1024;

export class PostgresTarget {
  private constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
    private readonly schema: string,
    /** Its address without the password. */
    readonly where: string,
  ) {}

  static async open(pg: Pg, url: string): Promise<PostgresTarget> {
    const address = readAddress(url);
    const where = withoutPassword(url);
    const pool = new Sessions({ pg, address, applicationName: "idem migrate-store" }).preparing();
    try {
      const server = await checkServer(pool, where);
      await migrate(pool, address.schema, loadMigrations(), where, server);
      return new PostgresTarget(pool, await pool.connect(), address.schema, where);
    } catch (error) {
      await pool.end();
      throw openingFault(error, where);
    }
  }

  mark(): Promise<MovingMark | null> {
    return readMovingMark(this.client, this.schema);
  }

  /** The tables that are all here already, from an earlier try of this move. Refuses a store that has facts of its own. */
  async begin(move: {
    readonly id: string;
    readonly from: string;
    readonly state: string;
  }): Promise<readonly string[]> {
    return this.transact(async () => {
      const fresh: MovingMark = { ...move, done: [] };
      const { rowCount } = await this.client.query({
        text: `insert into ${this.table("meta")} (name, value) values ($1, $2) on conflict do nothing`,
        values: [movingMarkName, JSON.stringify(fresh)],
      });
      if (rowCount === 1) {
        await this.refuseUsed();
        return [];
      }
      const known = (await this.mark())!;
      if (known.id !== move.id) {
        const why = `a move from ${known.from} was begun and not ended`;
        throw errors.STORE_NOT_EMPTY({ path: this.where, why });
      }
      if (known.state === move.state) return known.done;
      await this.empty();
      await this.writeMark(fresh);
      return [];
    });
  }

  private async refuseUsed(): Promise<void> {
    const refuse = (why: string) => errors.STORE_NOT_EMPTY({ path: this.where, why });
    for (const { name } of movedTables) {
      if (name === "meta") continue;
      const { rowCount } = await this.client.query(`select 1 from ${this.table(name)} limit 1`);
      if (rowCount !== 0) throw refuse(`its table ${name} has rows`);
    }
    const { rows } = await this.client.query(`
      select id from ${this.table("workers")}
       where dead_at is null and until > extract(epoch from clock_timestamp()) * 1000 limit 1`);
    if (rows.length > 0) throw refuse("a node is at work on it");
  }

  private async empty(): Promise<void> {
    const names = movedTables.filter(({ name }) => name !== "meta").map(({ name }) => this.table(name));
    await this.client.query(`truncate ${names.join(", ")}`);
  }

  /** All of the table or nothing of it. */
  async copy(table: MovedTable, rows: Iterable<Row>, onRows: (count: number) => void): Promise<void> {
    await this.transact(async () => {
      const { name, where } = table;
      if (where !== null) await this.client.query(`delete from ${this.table(name)} where ${where}`);
      for (const batch of batchesOf(rows)) {
        await this.insert(table, batch);
        onRows(batch.length);
      }
      const mark = (await this.mark())!;
      await this.writeMark({ ...mark, done: [...mark.done, name] });
    });
  }

  private async insert({ name, columns }: MovedTable, rows: readonly Row[]): Promise<void> {
    const names = columns.map((column) => quoted(column.name)).join(", ");
    const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(", ");
    const values = columns.map((_, i) =>
      rows.map((row) => {
        const cell = row[i]!;
        return typeof cell === "string" ? encodeText(cell) : cell;
      }),
    );
    const text = `insert into ${this.table(name)} (${names}) select * from unnest(${arrays})`;
    const { rowCount } = await this.client.query({ text, values });
    if (rowCount !== rows.length) throw new Error(`${rowCount} of ${rows.length} rows of ${name} were written`);
  }

  /** The rows there now, `count` of them in memory at a time. */
  async *rows({ name, columns, where }: MovedTable, count: number): AsyncGenerator<Row> {
    const names = columns.map((column) => quoted(column.name)).join(", ");
    const filter = where === null ? "" : ` where ${where}`;
    await this.client.query("begin isolation level repeatable read read only");
    try {
      await this.client.query(`declare moved no scroll cursor for select ${names} from ${this.table(name)}${filter}`);
      for (;;) {
        const { rows } = await this.client.query<Row[]>({ text: `fetch ${count} from moved`, rowMode: "array" });
        yield* rows as unknown as Row[];
        if (rows.length < count) return;
      }
    } finally {
      await this.client.query("rollback");
    }
  }

  /** The copy differs from what was read: the next try starts over. */
  async distrust(): Promise<void> {
    await this.transact(async () => this.writeMark({ ...(await this.mark())!, state: null }));
  }

  /** The store is whole for every process that opens it from now on. */
  async complete(): Promise<void> {
    // Plans that were made for empty tables would be kept.
    for (const { name } of movedTables) await this.client.query(`analyze ${this.table(name)}`);
    await this.client.query({ text: `delete from ${this.table("meta")} where name = $1`, values: [movingMarkName] });
  }

  async close(): Promise<void> {
    this.client.release();
    await this.pool.end();
  }

  private async writeMark(mark: MovingMark): Promise<void> {
    const text = `update ${this.table("meta")} set value = $2 where name = $1`;
    await this.client.query({ text, values: [movingMarkName, JSON.stringify(mark)] });
  }

  private async transact<T>(body: () => Promise<T>): Promise<T> {
    await this.client.query("begin");
    try {
      const answer = await body();
      await this.client.query("commit");
      return answer;
    } catch (error) {
      // A session that is gone has rolled back by itself.
      await this.client.query("rollback").catch(() => {});
      throw error;
    }
  }

  private table(name: string): string {
    return `${quoted(this.schema)}.${name}`;
  }
}

function* batchesOf(rows: Iterable<Row>): Generator<readonly Row[]> {
  let batch: Row[] = [];
  let chars = 0;
  for (const row of rows) {
    batch.push(row);
    for (const cell of row) if (typeof cell === "string") chars += cell.length;
    if (batch.length < rowsPerStatement && chars < charsPerStatement) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
