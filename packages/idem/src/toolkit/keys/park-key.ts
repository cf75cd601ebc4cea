// Setting a record aside until a person decides. It executes for nobody and is never reaped.
import type { Operation, Sql } from "../sql/operation.ts";
import { isAlready } from "./is-already.ts";
import type { Held, KeyHolder } from "./key-store.ts";

const text = `
  update idempotency_keys
     set state = 'parked', parked_reason = $1
   where id = $2 and owner = $3 and fence = cast($4 as bigint) and state = 'running'`;

export function* parkKey(sql: Sql, holder: KeyHolder, reason: string): Operation<Held> {
  const { id, owner, fence } = holder;
  const { count } = yield { text, params: [reason, id, owner, fence] };
  return count === 1 || (yield* isAlready(sql, holder, "parked")) ? "held" : "lost";
}
