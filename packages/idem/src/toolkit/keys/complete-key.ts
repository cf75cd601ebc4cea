// Recording the outcome: the one thing whoever asks again is told until the window, which begins now, has ended.
// Repeat: the outcome and its window stay as they were recorded first.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { isAlready } from "./is-already.ts";
import { outcomeParams } from "./key-row.ts";
import type { Held, KeyHolder, KeyOutcome } from "./key-store.ts";

const text = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set state = 'completed', status = $1, headers = $2, body = $3, reference = $4, gone_reason = $5,
         completed_at = ${now}, ends_at = ${now} + cast($6 as bigint)
   where id = $7 and owner = $8 and fence = cast($9 as bigint) and state = 'running'`,
);

export function* completeKey(sql: Sql, holder: KeyHolder, outcome: KeyOutcome, windowMs: number): Operation<Held> {
  const { id, owner, fence } = holder;
  const { count } = yield { text: text(sql), params: [...outcomeParams(outcome), windowMs, id, owner, fence] };
  return count === 1 || (yield* isAlready(sql, holder, "completed")) ? "held" : "lost";
}
