// Tables of earlier builds whose rows stand in idem_claims now. `ensureTables` brings them over and drops them, in one transaction with
// making the new one: a row that was forgotten would be a mail sent twice. Until then nobody uses either.
//
// A process of an earlier build that still runs finds its tables gone, and does nothing.
import { errors } from "../../model/errors.ts";
import type { Dialect, Operation } from "./operation.ts";
import { type CarriedTable, statementsOf, tableSql } from "./tables.ts";

const dayMs = 86_400_000;

const columns = `
  scope, key, state, owner, fence, attempts, generation, lease_until, window_ms, taken_at, unknown_at, settled_at, ends_at, note,
  outcome, reason`;

/** Each old row as one of idem_claims, in the order above. */
const claimsOf: Readonly<Record<CarriedTable, (dialect: Dialect) => string>> = {
  idem_locks: () => `
    'lock', name, 'in-flight', owner, fence, 1, 1, lease_until, ${dayMs}, fence, null, null, lease_until + ${dayMs}, null, null, null`,
  idem_ticks: (dialect) => `
    'tick:' || schedule, ${isoOf[dialect]("instant")},
    case state when 'done' then 'settled' when 'running' then 'in-flight' else state end,
    owner, fence, attempts, 1, lease_until, ${90 * dayMs}, started_at, null, ended_at,
    case state when 'done' then ended_at + ${90 * dayMs} end, null, outcome, reason`,
  idem_webhook_cursors: () => `
    'cursor', source, 'in-flight', coalesce(owner, ''), fence, 1, 1, lease_until, null, moved_at, null, null, null, cursor, null, null`,
  // Whether a creation that nobody saw end happened is not known since it was tried.
  idem_remote_records: () => `
    'remote:' || kind, key, case when record is null then 'in-flight' else 'settled' end, '', 1, 1, 1, 0, null,
    coalesce(tried_at, known_at, 0), case when record is null then tried_at end, known_at, null, null, record, null`,
  idem_sent_log: (dialect) => `
    'sent', id, case when state = 'sent' then 'settled' when state = 'parked' then state
                     when state in ('intent', 'refused') then 'released' else 'in-flight' end,
    owner, fence, attempts, generation, lease_until, window_ms, sending_at, unknown_at, sent_at,
    case when state in ('intent', 'sent', 'refused') then ends_at end,
    cast(${jsonObject[dialect]}('template', template, 'recipient', recipient, 'about', about) as text), receipt, reason`,
};

/** As `toISOString` writes it: the ticks of a schedule are in the order of their texts. */
const isoOf: Readonly<Record<Dialect, (column: string) => string>> = {
  postgres: (ms) => `to_char(to_timestamp(${ms} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  sqlite: (ms) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`,
};

const jsonObject: Readonly<Record<Dialect, string>> = { postgres: "json_build_object", sqlite: "json_object" };

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
  for (const text of [
    `insert into idem_claims (${columns}) select ${claimsOf[table](dialect)} from ${table} where true on conflict do nothing`,
    `drop table ${table}`,
    `delete from idem_toolkit where name = '${table}'`,
    `delete from idem_toolkit_history where name = '${table}'`,
  ]) {
    yield { text, params: [] };
  }
}

/** The names that stand at the beginning of a line of a `create table` of ours. */
const columnsOf = (sql: string): string[] =>
  statementsOf(sql)[0]!
    .split("\n")
    .slice(1)
    .flatMap((line) => /^ {2}(?!primary|unique|check)(\w+) /.exec(line)?.[1] ?? []);
