// The key and the business rows in one commit.
//
//   insert the key ─▶ inserted ─▶ savepoint ─▶ the body ─▶ the response onto the key, last ─▶ commit ─▶ send
//         └▶ taken: somebody else's commit was waited for ─▶ what it left is the answer
//
// First, so that duplicates queue on the index before they do any work; last, so that a transaction in which a statement failed is an
// error instead of a silent rollback at the commit. There is no lease and no fence: a crash takes the key with the rows.
import { errors } from "../../../model/errors.ts";
import type { Platform } from "../../../platform/platform.ts";
import { newOwner } from "../../claim/claim-operations.ts";
import { fillKey, insertKey } from "../../keys/key-operations.ts";
import type { KeyAbout, KeyAsk } from "../../keys/key-store.ts";
import type { SqlTx, SyncAdapter } from "../../sql/adapter.ts";
import { sqlFaultOf, wordsOfFault } from "../../sql/faults.ts";
import { type Operation, type Sql, sqlOf } from "../../sql/operation.ts";
import type { KeyedRequest } from "../begin.ts";
import { lookKey, type Told } from "./look-key.ts";
import { Answer, type Kept, outcomeOf } from "./respond.ts";

/** The end of a request whose key is part of its transaction. */
export type Within = { readonly kind: "executed"; readonly answer: Answer } | Told;

/** A request, as `idempotency.read` gives it, or whatever else two askings are the same by. */
export interface WithinKey extends Pick<KeyedRequest, "id" | "fingerprints"> {
  readonly about?: KeyAbout;
}

export interface WithinLimits extends Kept {
  readonly windowMs: number;
}

/** The row may vanish between a lost insert and the look: it was rolled back, or reaped. */
const looksMax = 3;

export function askOf({ id, fingerprints, about }: WithinKey, windowMs: number, platform: Platform): KeyAsk {
  return {
    id,
    fingerprints,
    owner: newOwner(platform),
    leaseMs: 0,
    windowMs,
    onCrash: "rerun",
    about: about ?? { namespace: "", tenant: null, principal: "", method: "", path: "", hint: id.slice(0, 8) },
    work: null,
  };
}

/** Null: the key is this transaction's. */
function* openKey(sql: Sql, ask: KeyAsk): Operation<Told | null> {
  for (let looks = 0; looks < looksMax; looks++) {
    if ((yield* insertKey(sql, ask)) === "inserted") {
      yield { text: "savepoint idem_body", params: [] };
      return null;
    }
    const told = yield* lookKey(sql, ask);
    if (told !== null) return told;
  }
  return { kind: "in-flight", since: 0, leaseLeftMs: 0, ageMs: 0 };
}

function* closeKey(sql: Sql, ask: KeyAsk, answer: Answer, limits: WithinLimits): Operation<void> {
  if (!(answer instanceof Answer)) {
    throw errors.TOOLKIT_OPTION_INVALID({
      call: "sameTransaction",
      option: "body",
      why: "it answered with something that respond() did not make",
    });
  }
  if (answer.isRolledBack) yield { text: "rollback to savepoint idem_body", params: [] };
  try {
    const held = yield* fillKey(sql, ask, outcomeOf(answer, limits), limits.windowMs);
    // Its body ended the transaction by itself, or a statement in it did, and the key went with the rest.
    if (held === "lost") throw errors.TRANSACTION_ABORTED({ why: "the key's row was gone before the commit" });
  } catch (error) {
    if (sqlFaultOf(error) !== "aborted") throw error;
    throw errors.TRANSACTION_ABORTED({ why: wordsOfFault(error) }, { cause: error });
  }
}

export async function runWithin(
  tx: SqlTx,
  ask: KeyAsk,
  limits: WithinLimits,
  body: () => Answer | Promise<Answer>,
): Promise<Within> {
  const sql = sqlOf(tx.dialect);
  const told = await tx.perform(openKey(sql, ask));
  if (told !== null) return told;
  const answer = await body();
  await tx.perform(closeKey(sql, ask, answer, limits));
  return { kind: "executed", answer };
}

export function runWithinSync<Tx>(
  adapter: SyncAdapter<Tx>,
  tx: Tx,
  ask: KeyAsk,
  limits: WithinLimits,
  body: () => Answer,
): Within {
  const sql = sqlOf(adapter.dialect);
  const told = adapter.performSync(tx, openKey(sql, ask));
  if (told !== null) return told;
  const answer = body();
  adapter.performSync(tx, closeKey(sql, ask, answer, limits));
  return { kind: "executed", answer };
}
