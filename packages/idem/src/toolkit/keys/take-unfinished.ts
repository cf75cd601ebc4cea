// Work nobody asks for any more, taken up by a completer: those due longest first, each with fence + 1.
// Several completers share the rows without waiting for each other: a row one of them is about to take is skipped by the others.
import { numberOf, type Operation, type Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { keyColumns, keyRowOf, recordOf } from "./key-row.ts";
import type { KeyStore } from "./key-store.ts";

const text = dialectTexts(
  ({ now, skipLocked }) => `
  with due as (
    select id from idempotency_keys
     where work = $1 and state = 'running' and due_at <= ${now} and lease_until <= ${now}
     order by due_at
     limit cast($2 as bigint)
     ${skipLocked})
  update idempotency_keys
     set owner = $3, fence = fence + 1, attempts = attempts + 1,
         lease_until = ${now} + cast($4 as bigint), due_at = ${now} + cast($5 as bigint)
   where id in (select id from due)
  returning ${now} as now, ${keyColumns}`,
);

export function* takeUnfinished(
  sql: Sql,
  { work, owner, leaseMs, limit }: Parameters<KeyStore["takeUnfinished"]>[0],
): Operation<Awaited<ReturnType<KeyStore["takeUnfinished"]>>> {
  const { rows } = yield { text: text(sql), params: [work, limit, owner, leaseMs, leaseMs] };
  return rows.map((row) => {
    const record = recordOf(keyRowOf(row), numberOf(row.now));
    return { record, fence: record.fence, attempt: record.attempts };
  });
}
