// Writing a claim over the one a decision was made upon (model/amend-claim.ts).
import { amendClaim } from "../../model/amend-claim.ts";
import type { AmendAnswer, AmendInput } from "../claims.ts";
import { deleteClaim, findClaim, writeClaim } from "./claim-key.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

export async function amendClaimRow(tx: Transaction, input: AmendInput): Promise<AmendAnswer> {
  const { env, scope, key, reason, actor } = input;
  const found = await findClaim(tx, env, scope, key);
  const amended = amendClaim(found, input, tx.at);
  if (amended.kind !== "amended") return amended.kind === "already" ? "amended" : "moved";
  if (amended.claim !== null) writeClaim(tx, env, amended.claim);
  else deleteClaim(tx, env, { scope, key });
  if (reason !== null) await writeAudit(tx, env, { action: "resolve-key", subject: `${scope} ${key}`, reason, actor });
  return "amended";
}
