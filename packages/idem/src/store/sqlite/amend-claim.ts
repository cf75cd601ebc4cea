// Writing a claim over the one a decision was made upon (model/amend-claim.ts).
import { amendClaim } from "../../model/amend-claim.ts";
import type { AmendAnswer, AmendInput } from "../claims.ts";
import { findClaim, writeClaim } from "./claim-key.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const deleteClaimSql = "delete from claims where n = ?";

export function amendClaimRow(tx: Transaction, input: AmendInput): AmendAnswer {
  const { env, scope, key, reason, actor } = input;
  const found = findClaim(tx, env, scope, key);
  const amended = amendClaim(found?.claim ?? null, input, tx.at);
  if (amended.kind !== "amended") return amended.kind === "already" ? "amended" : "moved";
  if (amended.claim !== null) writeClaim(tx, env, amended.claim, found);
  else if (found !== null) {
    tx.connection.run(deleteClaimSql, found.n);
    tx.claims.remove({ n: found.n, env, scope, key });
  }
  if (reason !== null) writeAudit(tx, env, { action: "resolve-key", subject: `${scope} ${key}`, reason, actor });
  return "amended";
}
