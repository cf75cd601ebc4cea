// PostgreSQL as the rules ask it: what is asked is sent, and its answer awaited.
import { firstStampAt } from "../clock.ts";
import type { Database, List, Param } from "../rules/database.ts";
import type { Cell, Insertion } from "../rules/insertion.ts";
import { type Asked, driveAwaited, Sent } from "../rules/rule.ts";
import type { Connection, Param as Sendable } from "./connection.ts";
import { statements } from "./rule-statements.ts";
import { indexable } from "./text.ts";

// As bytes are compared.
const afterAllDigits = "~";

export class RuleDatabase implements Database {
  readonly sql = statements;

  constructor(readonly connection: Connection) {}

  one<Row>(sql: string, ...params: Param[]): Asked<Row | undefined> {
    return new Sent(this.connection.one<Row>(sql, ...(params as unknown as Sendable[])));
  }

  all<Row>(sql: string, ...params: Param[]): Asked<Row[]> {
    return new Sent(this.connection.all<Row>(sql, ...(params as unknown as Sendable[])));
  }

  find<Row>(sql: string, named: Readonly<Record<string, Param>>): Asked<Row[]> {
    return new Sent(this.connection.find<Row>(sql, named as unknown as Readonly<Record<string, Sendable>>));
  }

  run(sql: string, ...params: Param[]): Asked<number> {
    return new Sent(this.connection.run(sql, ...(params as unknown as Sendable[])));
  }

  write(sql: string, ...params: Param[]): void {
    this.connection.write(sql, ...(params as unknown as Sendable[]));
  }

  add(into: Insertion, ...row: Cell[]): void {
    this.connection.insert(into, ...row);
  }

  together<T extends readonly unknown[]>(...asked: { readonly [K in keyof T]: Asked<T[K]> }): Asked<T> {
    return new Sent(Promise.all(asked.map((each) => driveAwaited(each))) as unknown as Promise<T>);
  }

  /** For `any(…)` and `unnest(…)`. */
  list(texts: readonly string[]): List {
    return texts as unknown as List;
  }

  indexed(text: string): string {
    return indexable(text);
  }

  /** Stamps have had as many digits since 2001 and will until 2286, so they are in the order of their text. */
  auditIdAt(ms: number): string {
    return String(firstStampAt(ms)).padStart(16, "0");
  }

  auditIdBefore(cursor: string | undefined, ms: number | null): string {
    const last = ms === null ? afterAllDigits : this.auditIdAt(ms);
    return cursor !== undefined && cursor < last ? cursor : last;
  }
}

/** A read as a call over a connection. */
export const over =
  <Input extends readonly unknown[], T>(read: (db: Database, ...input: Input) => Asked<T>) =>
  (connection: Connection, ...input: Input): Promise<T> =>
    driveAwaited(read(new RuleDatabase(connection), ...input));
