// Extending a lease. A dead one too, as long as nobody took over: the fence decides, not the time. But never one that was given back:
// a heartbeat that overtook its own claimant's leave would hold the key for nobody.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import type { Held, KeyHolder } from "./key-store.ts";

const text = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set lease_until = ${now} + cast($1 as bigint)
   where id = $2 and owner = $3 and fence = cast($4 as bigint) and state = 'running' and lease_until > 0`,
);

export function* heartbeatKey(sql: Sql, { id, owner, fence }: KeyHolder, leaseMs: number): Operation<Held> {
  const { count } = yield { text: text(sql), params: [leaseMs, id, owner, fence] };
  return count === 1 ? "held" : "lost";
}
