// Freeing space. A claim decides by itself whether a window has ended, so nothing waits for this and nothing depends on it.
// Goes: what is completed, and a dead claim that its author lets run again. Stays: live leases, parked records, unfinished work.
// A row somebody is writing at this moment is skipped; one they wrote since is looked at again before it goes.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";

const text = dialectTexts(
  ({ now, skipLocked }) => `
  with ended as (
    select id from idempotency_keys
     where ends_at <= ${now} and (state = 'completed' or on_crash = 'rerun')
       and (state = 'completed' or (state = 'running' and work is null and lease_until <= ${now}))
     order by ends_at
     limit cast($1 as bigint)
     ${skipLocked})
  delete from idempotency_keys where id in (select id from ended)`,
);

export function* reapKeys(sql: Sql, limit: number): Operation<number> {
  return (yield { text: text(sql), params: [limit] }).count;
}
