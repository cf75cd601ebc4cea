// One session with the server, or whichever is free: statements in, rows out. Writes whose answer nobody needs are sent without waiting
// for it (`write`), and rows that are only added wait to be added together (`insert`); any other statement sends them first, so whoever
// reads finds what was written before. What goes wrong with one of them comes to light at the commit, which fails.
import type { ClientBase, Pool, QueryConfig, QueryResult } from "pg";
import { encodeText } from "../../model/nul-text.ts";
import type { Cell, Insertion } from "../rules/insertion.ts";
import { refuseCutShort } from "./sessions.ts";
import type { Statement, Statements } from "./statement.ts";

export type Param = string | number | boolean | null | readonly (string | number | boolean | null)[];
const readTimeoutMs = 30_000;

export class Connection {
  private readonly sent: Promise<unknown>[] = [];
  /** Why the first statement that failed did. Whatever comes after it is only told that the transaction is no more. */
  private failure: unknown = null;
  private readonly rows = new Map<Insertion, Cell[][]>();

  constructor(
    private readonly client: ClientBase | Pool,
    private readonly statements: Statements,
    /** Named statements are planned once per session; an old pooler cannot keep them apart. */
    private readonly isPrepared: boolean,
    /** All of it is one transaction: what failed first is why the rest did. */
    private readonly isTransaction = false,
    /** Instead of the session's own bound. */
    private readonly timeoutMs: number | null = null,
  ) {}

  /** The same statements in a transaction of one session. */
  on(client: ClientBase | Pool): Connection {
    return new Connection(client, this.statements, this.isPrepared, true, this.timeoutMs);
  }

  /** The same for people, whose questions may take longer than the work of a node: nobody's lease depends on them. */
  forReads(): Connection {
    return new Connection(this.client, this.statements, this.isPrepared, this.isTransaction, readTimeoutMs);
  }

  /** Adds a row, together with the others of its kind. */
  insert(into: Insertion, ...row: Cell[]): void {
    if (row.length !== into.width) throw new Error(`${row.length} values for ${into.width} columns: ${into.one}`);
    const rows = this.rows.get(into);
    if (rows === undefined) this.rows.set(into, [row]);
    else rows.push(row);
  }

  /** A write whose answer nobody needs: what follows does not wait for it. That it failed is told by `arrived`. */
  write(sql: string, ...params: Param[]): void {
    this.flush();
    this.sendOff(this.statements.of(sql), params);
  }

  /** The same for one whose parameters have names. */
  send(sql: string, named: Readonly<Record<string, Param>>): void {
    this.flush();
    const statement = this.statements.of(sql);
    this.sendOff(
      statement,
      statement.names.map((name) => named[name] ?? null),
    );
  }

  /** Sends what is left; resolves once everything written has arrived, and throws the first error there was. */
  async arrived(): Promise<void> {
    this.flush();
    await Promise.all(this.sent);
  }

  /** Sends the rows that were added. */
  flush(): void {
    if (this.rows.size === 0) return;
    for (const [{ many, width }, rows] of this.rows) {
      this.sendOff(
        this.statements.of(many),
        Array.from({ length: width }, (_, column) => rows.map((row) => row[column]!)),
      );
    }
    this.rows.clear();
  }

  private sendOff(statement: Statement, params: readonly Param[]): void {
    const answer = this.query(statement, params);
    answer.catch(() => {});
    this.sent.push(answer);
  }

  /** Runs a write and says how many rows it changed. */
  async run(sql: string, ...params: Param[]): Promise<number> {
    this.flush();
    return (await this.query(this.statements.of(sql), params)).rowCount ?? 0;
  }

  async one<Row>(sql: string, ...params: Param[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...params))[0];
  }

  async all<Row>(sql: string, ...params: Param[]): Promise<Row[]> {
    this.flush();
    return (await this.query(this.statements.of(sql), params)).rows as Row[];
  }

  /** For statements whose parameters have names; what they do not name is passed over. */
  async find<Row>(sql: string, named: Readonly<Record<string, Param>>): Promise<Row[]> {
    this.flush();
    const statement = this.statements.of(sql);
    const params = statement.names.map((name) => named[name] ?? null);
    return (await this.query(statement, params)).rows as Row[];
  }

  private async query({ text, name }: Statement, params: readonly Param[]) {
    const values = params.map(encodeParam);
    const query: QueryConfig & { query_timeout?: number } = this.isPrepared ? { name, text, values } : { text, values };
    if (this.timeoutMs !== null) query.query_timeout = this.timeoutMs;
    try {
      return await (this.isTransaction ? this.client.query(query) : committed(this.client as Pool, query));
    } catch (error) {
      if (this.isTransaction) this.failure ??= error;
      throw this.failure ?? error;
    }
  }
}

/** A statement that is a transaction by itself, on whichever session is free. */
async function committed(pool: Pool, query: QueryConfig): Promise<QueryResult> {
  const session = await pool.connect();
  let isSound = false;
  try {
    const answer = await session.query(query);
    refuseCutShort(session);
    isSound = true;
    return answer;
  } finally {
    session.release(!isSound);
  }
}

const encodeParam = (param: Param): unknown =>
  typeof param === "string"
    ? encodeText(param)
    : Array.isArray(param)
      ? param.map((each) => (typeof each === "string" ? encodeText(each) : each))
      : param;
