// A recovery point: from here the work goes on when its claimant dies. Extends the lease, too.
// In a transaction of the user's it makes their writes and the point one commit, and holds the row until then: whoever would take over
// waits, and finds the point.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import type { Held, KeyHolder, Point } from "./key-store.ts";

const text = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set point = $1, point_data = $2, lease_until = ${now} + cast($3 as bigint)
   where id = $4 and owner = $5 and fence = cast($6 as bigint) and state = 'running' and lease_until > 0`,
);

export function* reachPoint(sql: Sql, { id, owner, fence }: KeyHolder, point: Point, leaseMs: number): Operation<Held> {
  const { count } = yield { text: text(sql), params: [point.name, point.data, leaseMs, id, owner, fence] };
  return count === 1 ? "held" : "lost";
}

/** The same, for `SqlTx.perform`. `lost`: undo, for somebody else has the key. */
export const advanceInTx = (sql: Sql, holder: KeyHolder, point: Point, leaseMs: number): Operation<Held> =>
  reachPoint(sql, holder, point, leaseMs);
