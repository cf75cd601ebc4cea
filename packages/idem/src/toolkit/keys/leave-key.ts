// Giving the work back unfinished, on purpose: whoever asks next goes on at the last point, and a completer does when it is due.
// A lease of 0 tells this from a claimant that died, whose end is for the author's `onCrash` to judge.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import type { Held, KeyHolder } from "./key-store.ts";

const text = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set lease_until = 0, due_at = ${now} + cast($1 as bigint)
   where id = $2 and owner = $3 and fence = cast($4 as bigint) and state = 'running'`,
);

export function* leaveKey(sql: Sql, { id, owner, fence }: KeyHolder, delayMs: number): Operation<Held> {
  const { count } = yield { text: text(sql), params: [delayMs, id, owner, fence] };
  return count === 1 ? "held" : "lost";
}
