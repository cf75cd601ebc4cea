// Taking over what somebody else's claim left: one update, guarded by everything the decision rested on. One row: won, with fence + 1.
// None: somebody was faster, or the claimant is alive after all; the claim looks again.
import { numberOf, type Operation, type Sql, type Statement } from "../sql/operation.ts";
import { diedReason, freshOf, type KeyMove, runningWindowMs } from "./decide-key.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { insertKeyParams, renewKeyText } from "./insert-key.ts";
import type { KeyRow } from "./key-row.ts";
import type { KeyAnswer, KeyAsk } from "./key-store.ts";

export function* takeKey(
  sql: Sql,
  ask: KeyAsk,
  row: KeyRow,
  move: Exclude<KeyMove["kind"], "answer">,
): Operation<KeyAnswer | null> {
  const { rows } = yield statementOf(sql, ask, row, move);
  const [hit] = rows;
  if (hit === undefined) return null;
  if (move === "park") return { kind: "parked", reason: diedReason, ageMs: Math.max(0, numberOf(hit.age)) };
  return freshOf({
    fence: numberOf(hit.fence),
    attempts: numberOf(hit.attempts),
    point: hit.point === null ? null : { name: hit.point as string, data: hit.point_data as string },
  });
}

function statementOf(sql: Sql, ask: KeyAsk, row: KeyRow, move: Exclude<KeyMove["kind"], "answer">): Statement {
  const leased = [ask.owner, ask.onCrash, ask.leaseMs, ask.leaseMs, runningWindowMs(ask)];
  const found = [row.id, row.fence, row.fingerprint.value];
  switch (move) {
    case "resume":
      return { text: resumeText(sql), params: [...leased, ...found] };
    case "rerun":
      return { text: rerunText(sql), params: [...leased, ask.work?.name ?? null, ask.work?.input ?? null, ...found] };
    case "overwrite":
      return { text: overwriteText(sql), params: [...insertKeyParams(ask).slice(1), row.id, row.fence] };
    case "park":
      return { text: parkText(sql), params: [ask.owner, diedReason, ...found] };
  }
}

const resumeText = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set owner = $1, fence = fence + 1, attempts = attempts + 1, on_crash = $2,
         lease_until = ${now} + cast($3 as bigint), due_at = ${now} + cast($4 as bigint),
         ends_at = ${now} + cast($5 as bigint)
   where id = $6 and fence = cast($7 as bigint) and state = 'running' and lease_until <= ${now} and fingerprint = $8
  returning fence, attempts, point, point_data`,
);

const rerunText = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set owner = $1, fence = fence + 1, attempts = attempts + 1, on_crash = $2,
         lease_until = ${now} + cast($3 as bigint), due_at = ${now} + cast($4 as bigint),
         ends_at = ${now} + cast($5 as bigint), work = $6, work_input = $7, point = null, point_data = null
   where id = $8 and fence = cast($9 as bigint) and state = 'running' and lease_until <= ${now} and fingerprint = $10
  returning fence, attempts, point, point_data`,
);

/** Whatever the fingerprint: past the window it is another operation. */
const overwriteText = dialectTexts(
  (sql) => `${renewKeyText(sql)}
   where id = $16 and fence = cast($17 as bigint) and ends_at <= ${sql.now}
     and (state = 'completed' or (state = 'running' and on_crash = 'rerun' and work is null and lease_until <= ${sql.now}))
  returning fence, attempts, point, point_data`,
);

/** The fence stays: nobody executes. The owner does not, so that a claimant which was only slow learns that it lost. */
const parkText = dialectTexts(
  ({ now }) => `
  update idempotency_keys
     set state = 'parked', owner = $1, parked_reason = $2
   where id = $3 and fence = cast($4 as bigint) and state = 'running' and lease_until <= ${now} and fingerprint = $5
  returning ${now} - created_at as age`,
);
