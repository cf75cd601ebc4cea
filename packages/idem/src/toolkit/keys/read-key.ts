// One record, by its primary key alone. Writes nothing and waits for nobody.
import { numberOf, type Operation, type Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { type KeyRow, keyColumns, keyRowOf, recordOf } from "./key-row.ts";
import type { KeyRecord } from "./key-store.ts";

export interface SeenKey {
  readonly now: number;
  readonly row: KeyRow | null;
}

const seeText = dialectTexts(
  ({ now }) => `
  select ${now} as now, ${keyColumns}
    from (select 1) as one left join idempotency_keys on id = $1`,
);

/** With the database's time, also when there is no row. */
export function* seeKey(sql: Sql, id: string): Operation<SeenKey> {
  const { rows } = yield { text: seeText(sql), params: [id], isRead: true };
  const row = rows[0]!;
  return { now: numberOf(row.now), row: row.id === null ? null : keyRowOf(row) };
}

export function* readKey(sql: Sql, id: string): Operation<KeyRecord | null> {
  const { now, row } = yield* seeKey(sql, id);
  return row === null ? null : recordOf(row, now);
}
