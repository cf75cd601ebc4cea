// Statements are written as in the SQLite store: `?` or `:name` for a parameter, tables by their bare names. Here they become
// PostgreSQL's: numbered parameters, and tables qualified with the schema, so that no session setting is needed and a transaction
// pooler may hand every statement another session.
import { createHash } from "node:crypto";

const tables = [
  "meta",
  "functions",
  "events",
  "decisions",
  "claims",
  "runs",
  "steps",
  "attempts",
  "jobs",
  "waits",
  "workers",
  "audit",
  "throttles",
  "rate_starts",
  "locks",
  "buffers",
  "buffer_items",
  "run_events",
  "cancels",
  "crons",
  "outbox",
  "settings",
  "metadata",
  "alerts",
  "alert_pairs",
  "radar_positions",
  "hour_counts",
  "hour_cursors",
  "slips",
  "end_notes",
  "end_counts",
  "run_logs",
  "channels",
  "messages",
  "event_values",
  "watched_names",
  "event_arrivals",
  "wait_checks",
  "heartbeats",
] as const;

export const tableNames: readonly string[] = tables;

const tableAfterKeyword = new RegExp(
  String.raw`\b(from|join|into|update|using|table|on)(\s+)(${tables.join("|")})\b`,
  "g",
);

export interface Statement {
  readonly text: string;
  /** The same for the same text, so that a session plans it once. */
  readonly name: string;
  /** Which named parameter each number stands for; empty for statements with `?`. */
  readonly names: readonly string[];
}

export const quoted = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;

/** Bare table names become those of the schema. `on` is only a table's keyword in `create index … on`. */
export const qualify = (sql: string, schema: string): string =>
  sql.replace(tableAfterKeyword, (found, keyword: string, space: string, table: string, at: number) => {
    if (keyword === "on" && !/create (unique )?index [^;]*$/.test(sql.slice(0, at))) return found;
    return `${keyword}${space}${quoted(schema)}.${table}`;
  });

const byPlace = /\bwhere ctid = any\(array\(\s*select ctid from (\w+)/;

/** What rows are found by their place in, and their keys. */
const keysOf: Readonly<Record<string, string>> = {
  claims: "env, scope, key",
  channels: "env, name",
  rate_starts: "env, id, stamp, run_id",
  throttles: "env, id",
  locks: "name",
  heartbeats: "id",
};

/**
 * By their keys instead: for servers whose rows have no place. The planner of PostgreSQL takes the inner limit for a tenth of the table, and
 * may read all of it (docs/reference/stores.md#plans).
 */
const withoutPlaces = (sql: string): string => {
  const table = byPlace.exec(sql)?.[1];
  if (table === undefined) return sql;
  const keys = keysOf[table];
  if (keys === undefined) throw new Error(`rows of ${table} are found by their place, and it has no line in keysOf`);
  return sql.replace(byPlace, `where (${keys}) in (select ${keys} from ${table}`).replace(/\)\)\s*$/, ")");
};

export class Statements {
  private readonly known = new Map<string, Statement>();

  constructor(
    private readonly schema: string,
    /** Nothing that only PostgreSQL itself has. */
    private readonly isPlain = false,
  ) {}

  of(sql: string): Statement {
    let statement = this.known.get(sql);
    if (statement === undefined) {
      statement = translate(this.isPlain ? withoutPlaces(sql) : sql, this.schema);
      this.known.set(sql, statement);
    }
    return statement;
  }
}

function translate(sql: string, schema: string): Statement {
  const names: string[] = [];
  let count = 0;
  // A cast is not a parameter, and neither is what stands in quotes.
  const text = qualify(sql, schema).replace(/'[^']*'|::\w+|\?|:([a-z]\w*)/gi, (found, name: string | undefined) => {
    if (found === "?") return `$${++count}`;
    if (name === undefined) return found;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, name: `idem_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`, names };
}
