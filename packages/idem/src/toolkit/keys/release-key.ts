// Nothing happened, so nothing is remembered: the row goes, and the next asker is the first.
// Repeat: a key that is free already was released; one that somebody else has by now is theirs.
import type { Operation, Sql } from "../sql/operation.ts";
import type { Held, KeyHolder } from "./key-store.ts";

const releaseText = `
  delete from idempotency_keys where id = $1 and owner = $2 and fence = cast($3 as bigint) and state = 'running'`;

const takenText = "select 1 from idempotency_keys where id = $1";

export function* releaseKey(_sql: Sql, { id, owner, fence }: KeyHolder): Operation<Held> {
  const { count } = yield { text: releaseText, params: [id, owner, fence] };
  if (count === 1) return "held";
  const { rows } = yield { text: takenText, params: [id], isRead: true };
  return rows.length === 0 ? "held" : "lost";
}
