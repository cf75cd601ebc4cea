// A child that is there already is locked before the run that begins to wait for it: in this order its end wakes those who wait.
import { functionScope } from "../../model/claim.ts";
import type { NewWait } from "../../model/wait.ts";
import type { NestedIngest } from "../advance.ts";
import { newestRerun } from "../rules/read-memo.ts";
import { driveAwaited } from "../rules/rule.ts";
import { lockClaim } from "./claim-key.ts";
import type { Transaction } from "./transaction.ts";

const lockRunsSql = "select 1 from runs where env = ? and id = any(cast(? as text[])) order by id for no key update";

export async function lockChildren(
  tx: Transaction,
  env: string,
  waits: readonly NewWait[],
  nested: NestedIngest | null,
): Promise<void> {
  const runIds: string[] = [];
  for (const wait of waits) {
    const pair = wait.kind === "run" ? nested?.pairs[wait.pair] : undefined;
    if (pair?.kind !== "start" || pair.key === null || (pair.flow !== null && pair.flow.buffer !== null)) continue;
    const claim = await lockClaim(tx, env, functionScope(pair.fn), pair.key);
    if (claim !== null && claim.holder !== pair.runId) {
      runIds.push(await driveAwaited(newestRerun(tx, env, claim.holder)));
    }
  }
  if (runIds.length > 0) await tx.connection.all(lockRunsSql, env, runIds);
}
