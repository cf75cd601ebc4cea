// A person's decision about a parked record.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { outcomeParams } from "./key-row.ts";
import type { Resolution, Resolved } from "./key-store.ts";

const respondText = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set state = 'completed', status = $1, headers = $2, body = $3, reference = $4, gone_reason = $5, parked_reason = null,
         completed_at = ${now}, ends_at = ${now} + cast($6 as bigint)
   where id = $7 and state = 'parked'`,
);

/** Work with a point goes on there, given back to whoever comes next: to start it over would repeat what was already done. */
const resumeText = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set state = 'running', parked_reason = null, attempts = 1, lease_until = 0, due_at = ${now}
   where id = $1 and state = 'parked' and (work is not null or point is not null)`,
);

const forgetText = "delete from idempotency_keys where id = $1 and state = 'parked'";

const knownText = "select 1 from idempotency_keys where id = $1";

export function* resolveKey(sql: Sql, id: string, resolution: Resolution): Operation<Resolved> {
  if (yield* decided(sql, id, resolution)) return "resolved";
  const { rows } = yield { text: knownText, params: [id], isRead: true };
  return rows.length === 1 ? "not-parked" : "unknown";
}

function* decided(sql: Sql, id: string, resolution: Resolution): Operation<boolean> {
  switch (resolution.kind) {
    case "response": {
      const outcome = outcomeParams({ kind: "response", ...resolution.response });
      return (yield { text: respondText(sql), params: [...outcome, resolution.windowMs, id] }).count === 1;
    }
    case "retry":
      if ((yield { text: resumeText(sql), params: [id] }).count === 1) return true;
      return (yield { text: forgetText, params: [id] }).count === 1;
    case "forget":
      return (yield { text: forgetText, params: [id] }).count === 1;
  }
}
