// Claiming a key. The primary key decides who is first; everyone after learns what became of it.
//
// One statement inserts if nobody did, and reads who did. When it found neither (the other row was committed after the statement began to
// look), it looks once more, and then starts over: never does "neither" mean go. Whoever takes over makes one conditional update that
// repeats every guard, and only the one it hits has won. Repeat: the row knows its own owner.
//
// Not an upsert whose update is always false, to read the row that is there: it locks and dirties it, 96 bytes of log for each replay.
import { numberOf, type Operation, type Sql } from "../sql/operation.ts";
import { decideKey, freshOf } from "./decide-key.ts";
import { dialectTexts } from "./dialect-texts.ts";
import { insertKeyParams, insertKeyText } from "./insert-key.ts";
import { keyColumns, keyRowOf } from "./key-row.ts";
import type { KeyAnswer, KeyAsk } from "./key-store.ts";
import { type SeenKey, seeKey } from "./read-key.ts";
import { takeKey } from "./take-key.ts";

/** Each further round means that somebody else won one; whoever lost three in a row is a duplicate of something in flight. */
const roundsMax = 3;

export function* claimKey(sql: Sql, ask: KeyAsk): Operation<KeyAnswer> {
  let now = 0;
  for (let round = 0; round < roundsMax; round++) {
    let seen = yield* sql.dialect === "postgres" ? insertOrSee(sql, ask) : seeThenInsert(sql, ask);
    if (seen === "inserted") return freshOf({ fence: 1, attempts: 1, point: null });
    if (seen.row === null) seen = yield* seeKey(sql, ask.id);
    now = seen.now;
    if (seen.row === null) continue;
    const move = decideKey(ask, seen.row, now);
    if (move.kind === "answer") return move.answer;
    const taken = yield* takeKey(sql, ask, seen.row, move.kind);
    if (taken !== null) return taken;
  }
  return { kind: "in-flight", since: now, leaseLeftMs: 0, ageMs: 0 };
}

const insertOrSeeText = dialectTexts(
  (sql) => `
  with inserted as (${insertKeyText(sql)} returning 1)
  select ${sql.now} as now, (select count(*) from inserted) as inserted, ${keyColumns},
         case when id is null then null else ${sql.stand} end as stood
    from (select 1) as one left join idempotency_keys on id = $17`,
);

/** The select sees the table as it was before the insert: a row in its answer is somebody else's, or of an earlier try. */
function* insertOrSee(sql: Sql, ask: KeyAsk): Operation<SeenKey | "inserted"> {
  const { rows } = yield { text: insertOrSeeText(sql), params: [...insertKeyParams(ask), ask.id] };
  const row = rows[0]!;
  if (numberOf(row.inserted) === 1) return "inserted";
  return { now: numberOf(row.now), row: row.id === null ? null : keyRowOf(row) };
}

const insertText = dialectTexts(insertKeyText);

/** SQLite has no insert inside a select, and no round trips to spare: it looks first, so that a replay never asks for the one writer. */
function* seeThenInsert(sql: Sql, ask: KeyAsk): Operation<SeenKey | "inserted"> {
  const seen = yield* seeKey(sql, ask.id);
  if (seen.row !== null) return seen;
  const { count } = yield { text: insertText(sql), params: insertKeyParams(ask) };
  return count === 1 ? "inserted" : seen;
}
