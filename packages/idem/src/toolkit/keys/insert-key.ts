// The key inside the user's own transaction: its row is inserted first, so that duplicates queue on the index before they do any work,
// and filled by the last statement before the commit. What is undone leaves no row, so there is neither lease nor fence to speak of.
import type { Operation, Sql, SqlValue } from "../sql/operation.ts";
import { runningWindowMs } from "./decide-key.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { outcomeParams } from "./key-row.ts";
import type { Held, KeyAsk, KeyHolder, KeyOutcome } from "./key-store.ts";

/** Whole by itself; the claim has it in front of a select. */
export const insertKeyText = ({ now }: Sql): string => `
  insert into idempotency_keys
    (id, namespace, tenant, principal, method, path, hint, fingerprint, fingerprint_version, state, owner, fence, attempts,
     on_crash, work, work_input, lease_until, due_at, created_at, ends_at)
  values
    ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', $10, 1, 1,
     $11, $12, $13, ${now} + cast($14 as bigint), ${now} + cast($15 as bigint), ${now}, ${now} + cast($16 as bigint))
  on conflict (id) do nothing`;

export const insertKeyParams = (ask: KeyAsk): SqlValue[] => [
  ask.id,
  ask.about.namespace,
  ask.about.tenant,
  ask.about.principal,
  ask.about.method,
  ask.about.path,
  ask.about.hint,
  ask.fingerprints[0].value,
  ask.fingerprints[0].version,
  ask.owner,
  ask.onCrash,
  ask.work?.name ?? null,
  ask.work?.input ?? null,
  ask.leaseMs,
  ask.leaseMs,
  runningWindowMs(ask),
];

const insertText = dialectTexts(insertKeyText);

/** A key that means a new operation now: of the old one only the fence stays, and grows. Takes the parameters of the insert but the id. */
export const renewKeyText = ({ now }: Sql): string => `
  update idempotency_keys
     set namespace = $1, tenant = $2, principal = $3, method = $4, path = $5, hint = $6,
         fingerprint = $7, fingerprint_version = $8, state = 'running', owner = $9, fence = fence + 1, attempts = 1,
         on_crash = $10, work = $11, work_input = $12,
         lease_until = ${now} + cast($13 as bigint), due_at = ${now} + cast($14 as bigint),
         point = null, point_data = null, status = null, headers = null, body = null, reference = null,
         gone_reason = null, parked_reason = null,
         created_at = ${now}, completed_at = null, ends_at = ${now} + cast($15 as bigint)`;

const renewText = dialectTexts(
  (sql) => `${renewKeyText(sql)}
   where id = $16 and state = 'completed' and ends_at <= ${sql.now}`,
);

/** `taken` after a commit of somebody else's: their row can be read. Waits for one that is still open, as long as the transaction allows. */
export function* insertKey(sql: Sql, ask: KeyAsk): Operation<"inserted" | "taken"> {
  const params = insertKeyParams(ask);
  if ((yield { text: insertText(sql), params }).count === 1) return "inserted";
  const renewed = yield { text: renewText(sql), params: [...params.slice(1), ask.id] };
  return renewed.count === 1 ? "inserted" : "taken";
}

const fillText = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set state = 'completed', status = $1, headers = $2, body = $3, reference = $4, gone_reason = $5,
         completed_at = ${now}, ends_at = ${now} + cast($6 as bigint)
   where id = $7 and owner = $8 and state = 'running'`,
);

/** The transaction's last statement: in one that failed already it throws, instead of a commit that silently undoes. `lost`: undo. */
export function* fillKey(
  sql: Sql,
  { id, owner }: Pick<KeyHolder, "id" | "owner">,
  outcome: KeyOutcome,
  windowMs: number,
): Operation<Held> {
  const { count } = yield { text: fillText(sql), params: [...outcomeParams(outcome), windowMs, id, owner] };
  return count === 1 ? "held" : "lost";
}
