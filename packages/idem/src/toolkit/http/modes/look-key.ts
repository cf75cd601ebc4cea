// A record's answer to an asker in the same-transaction mode, in which nobody ever takes over: a claim that died took its row with it.
import { decideKey } from "../../keys/decide-key.ts";
import { seeKey } from "../../keys/key-operations.ts";
import type { KeyAnswer, KeyAsk } from "../../keys/key-store.ts";
import type { Operation, Sql } from "../../sql/operation.ts";

/** Every answer but the one that lets a handler run. */
export type Told = Exclude<KeyAnswer, { readonly kind: "fresh" }>;

/** Null: there is no record, or only one whose window has ended. Repeat: reads only. */
export function* lookKey(sql: Sql, ask: KeyAsk): Operation<Told | null> {
  const { now, row } = yield* seeKey(sql, ask.id);
  if (row === null) return null;
  const move = decideKey(ask, row, now);
  if (move.kind === "overwrite" && row.state === "completed") return null;
  if (move.kind === "answer" && move.answer.kind !== "fresh") return move.answer;
  // A claim that died, of a route that was in another mode then. It may have had effects, and here nobody can go on with it.
  return {
    kind: "parked",
    reason: "it was claimed by another mode of this route, which did not end it",
    ageMs: Math.max(0, now - row.createdAt),
  };
}
