// SQLite as the rules ask it: every answer is there at once.
import { firstStampAt } from "../clock.ts";
import type { Database, List, Param } from "../rules/database.ts";
import type { Insertion } from "../rules/insertion.ts";
import { type Asked, driveAtOnce, Given } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { statements } from "./rule-statements.ts";

type Plain = string | number | null;

export class RuleDatabase implements Database {
  readonly sql = statements;

  constructor(readonly connection: Connection) {}

  one<Row>(sql: string, ...params: Param[]): Asked<Row | undefined> {
    return new Given(this.connection.one<Row>(sql, ...(params as Plain[])));
  }

  all<Row>(sql: string, ...params: Param[]): Asked<Row[]> {
    return new Given(this.connection.all<Row>(sql, ...(params as Plain[])));
  }

  find<Row>(sql: string, named: Readonly<Record<string, Param>>): Asked<Row[]> {
    return new Given(this.connection.find<Row>(sql, named as Readonly<Record<string, Plain>>));
  }

  run(sql: string, ...params: Param[]): Asked<number> {
    return new Given(this.connection.run(sql, ...(params as Plain[])));
  }

  write(sql: string, ...params: Param[]): void {
    this.connection.run(sql, ...(params as Plain[]));
  }

  add(into: Insertion, ...row: Plain[]): void {
    this.connection.run(into.one, ...row);
  }

  together<T extends readonly unknown[]>(...asked: { readonly [K in keyof T]: Asked<T[K]> }): Asked<T> {
    return new Given(asked.map((each) => driveAtOnce(each)) as unknown as T);
  }

  /** For `json_each`. */
  list(texts: readonly string[]): List {
    return JSON.stringify(texts) as unknown as List;
  }

  indexed(text: string): string {
    return text;
  }

  auditIdAt(ms: number): number {
    return firstStampAt(ms);
  }

  auditIdBefore(cursor: string | undefined, ms: number | null): number {
    const before = Number(cursor ?? Number.MAX_SAFE_INTEGER);
    const last = ms === null ? Number.MAX_SAFE_INTEGER : firstStampAt(ms);
    return Number.isSafeInteger(before) ? Math.min(before, last) : 0;
  }
}

/** A read as a call over a connection. */
export const over =
  <Input extends readonly unknown[], T>(read: (db: Database, ...input: Input) => Asked<T>) =>
  (connection: Connection, ...input: Input): T =>
    driveAtOnce(read(new RuleDatabase(connection), ...input));
