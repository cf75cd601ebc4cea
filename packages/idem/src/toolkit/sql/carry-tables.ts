// Tables of earlier builds whose rows stand in idem_claims now. `ensureTables` brings them over and drops them, in one transaction with
// making the new one: a row that was forgotten would be a mail sent twice. Until then nobody uses either.
//
// A process of an earlier build that still runs finds its tables gone, and does nothing.
import { errors } from "../../model/errors.ts";
import type { Dialect, Operation } from "./operation.ts";
import { type CarriedTable, statementsOf, tableSql } from "./tables.ts";

const dayMs = 86_400_000;

/** Each column of idem_claims as an expression over a row of the old table. */
interface Carried {
  readonly scope: string;
  readonly key: string;
  readonly state: string;
  readonly owner?: string;
  readonly fence?: string;
  readonly attempts?: string;
  readonly generation?: string;
  readonly lease_until?: string;
  readonly window_ms?: string;
  readonly taken_at?: string;
  readonly unknown_at?: string;
  readonly settled_at?: string;
  readonly ends_at?: string;
  readonly note?: string;
  readonly outcome?: string;
  readonly reason?: string;
}

const whatCarried: Readonly<Record<CarriedTable, (dialect: Dialect) => Carried>> = {
  idem_locks: () => ({
    scope: "'lock'",
    key: "name",
    state: "'in-flight'",
    owner: "owner",
    fence: "fence",
    lease_until: "lease_until",
    window_ms: `${dayMs}`,
    taken_at: "fence",
    ends_at: `lease_until + ${dayMs}`,
  }),
  idem_ticks: (dialect) => ({
    scope: "'tick:' || schedule",
    key: isoOf[dialect]("instant"),
    state: "case state when 'done' then 'settled' when 'running' then 'in-flight' else state end",
    owner: "owner",
    fence: "fence",
    attempts: "attempts",
    lease_until: "lease_until",
    window_ms: `${90 * dayMs}`,
    taken_at: "started_at",
    settled_at: "ended_at",
    ends_at: `case state when 'done' then ended_at + ${90 * dayMs} end`,
    outcome: "outcome",
    reason: "reason",
  }),
  idem_webhook_cursors: () => ({
    scope: "'cursor'",
    key: "source",
    state: "'in-flight'",
    owner: "coalesce(owner, '')",
    fence: "fence",
    lease_until: "lease_until",
    taken_at: "moved_at",
    note: "cursor",
  }),
  idem_remote_records: () => ({
    scope: "'remote:' || kind",
    key: "key",
    state: "case when record is null then 'in-flight' else 'settled' end",
    taken_at: "coalesce(tried_at, known_at, 0)",
    unknown_at: "case when record is null then tried_at end",
    settled_at: "known_at",
    outcome: "record",
  }),
  idem_sent_log: (dialect) => ({
    scope: "'sent'",
    key: "id",
    state: `case state when 'sent' then 'settled' when 'parked' then 'parked' when 'intent' then 'released'
                       when 'refused' then 'released' else 'in-flight' end`,
    owner: "owner",
    fence: "fence",
    attempts: "attempts",
    generation: "generation",
    // One that was given back in doubt says so by a lease that is over.
    lease_until: "lease_until",
    window_ms: "window_ms",
    taken_at: "sending_at",
    unknown_at: "unknown_at",
    settled_at: "sent_at",
    ends_at: "case when state in ('intent', 'sent', 'refused') then ends_at end",
    note: `${jsonObject[dialect]}('template', template, 'recipient', recipient, 'about', about)${textCast[dialect]}`,
    outcome: "receipt",
    reason: "reason",
  }),
};

const nothing: Required<Omit<Carried, "scope" | "key" | "state">> = {
  owner: "''",
  fence: "1",
  attempts: "1",
  generation: "1",
  lease_until: "0",
  window_ms: "null",
  taken_at: "0",
  unknown_at: "null",
  settled_at: "null",
  ends_at: "null",
  note: "null",
  outcome: "null",
  reason: "null",
};

/** As `toISOString` writes it: the ticks of a schedule are in the order of their texts. */
const isoOf: Readonly<Record<Dialect, (column: string) => string>> = {
  postgres: (ms) => `to_char(to_timestamp(${ms} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  sqlite: (ms) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`,
};

const jsonObject: Readonly<Record<Dialect, string>> = { postgres: "json_build_object", sqlite: "json_object" };
const textCast: Readonly<Record<Dialect, string>> = { postgres: "::text", sqlite: "" };

const columnsSql: Readonly<Record<Dialect, string>> = {
  postgres: `
    select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
  sqlite: "select name from pragma_table_info($1)",
};

/** Within the transaction in which idem_claims is there. Throws TABLES_DIFFER, and then nothing of it stays. */
export function* carryTable(dialect: Dialect, table: CarriedTable): Operation<void> {
  if (dialect === "postgres") yield { text: `lock table ${table} in access exclusive mode`, params: [] };
  const found = (yield { text: columnsSql[dialect], params: [table] }).rows.map(({ name }) => String(name)).sort();
  const ours = columnsOf(tableSql(dialect, table)).sort();
  if (found.join() !== ours.join()) {
    const others = [...found.filter((name) => !ours.includes(name)), ...ours.filter((name) => !found.includes(name))];
    const why = `its rows belong into idem_claims, and it has others than our columns or lacks some (${others.join(", ")})`;
    throw errors.TABLES_DIFFER({ table, why });
  }
  const row = { ...nothing, ...whatCarried[table](dialect) };
  const text = `insert into idem_claims (${Object.keys(row).join(", ")}) select ${Object.values(row).join(", ")} from ${table}
                where true on conflict (scope, key) do nothing`;
  for (const each of [
    text,
    `drop table ${table}`,
    `delete from idem_toolkit where name = '${table}'`,
    `delete from idem_toolkit_history where name = '${table}'`,
  ]) {
    yield { text: each, params: [] };
  }
}

/** The names that stand at the beginning of a line of a `create table` of ours. */
const columnsOf = (sql: string): string[] =>
  statementsOf(sql)[0]!
    .split("\n")
    .slice(1)
    .flatMap((line) => /^ {2}(?!primary|unique|check)(\w+) /.exec(line)?.[1] ?? []);
