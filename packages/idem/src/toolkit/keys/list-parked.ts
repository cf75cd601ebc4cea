// What waits for a person, oldest first.
import { numberOf, type Operation, type Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { keyColumns, keyRowOf, recordOf } from "./key-row.ts";
import type { KeyRecord } from "./key-store.ts";

const afterText = "select created_at from idempotency_keys where id = $1";

const pageText = dialectTexts(
  ({ now }) => `
  select ${now} as now, ${keyColumns}
    from idempotency_keys
   where state = 'parked' and (created_at, id) > (cast($1 as bigint), cast($2 as text))
   order by created_at, id
   limit cast($3 as bigint)`,
);

/** People resolve what they page through. When the last one of the page before is gone, the pages begin anew, now without it. */
export function* listParked(
  sql: Sql,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Operation<readonly KeyRecord[]> {
  let from: readonly [number, string] = [-1, ""];
  if (after !== null) {
    const [row] = (yield { text: afterText, params: [after], isRead: true }).rows;
    if (row !== undefined) from = [numberOf(row.created_at), after];
  }
  const { rows } = yield { text: pageText(sql), params: [...from, limit], isRead: true };
  return rows.map((row) => recordOf(keyRowOf(row), numberOf(row.now)));
}
