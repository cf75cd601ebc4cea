// Pruning on a file (rules/prune-events.ts): one writer, so nothing has to be judged twice. Commits wait meanwhile; the answer says how long.
import type { PruneAnswer, PruneInput } from "../prune.ts";
import {
  countPrunable as countRule,
  othersTurn,
  othersTurnAnswer,
  pruneEvents as pruneRule,
} from "../rules/prune-events.ts";
import { driveAtOnce, Given } from "../rules/rule.ts";
import type { ClaimIndex } from "./claim-index.ts";
import type { Connection } from "./connection.ts";
import { pruneRows } from "./prune-rows.ts";
import { RuleDatabase } from "./rule-database.ts";
import type { Transaction } from "./transaction.ts";

export function pruneEvents(tx: Transaction, input: PruneInput): PruneAnswer {
  const beganMono = tx.monoMs();
  const othersUntil = driveAtOnce(othersTurn(tx, input));
  if (othersUntil !== null) return othersTurnAnswer(input, othersUntil);
  const rows = pruneRows(tx.connection, input.env, tx.claims.find);
  const windowNow = tx.at.windowNow(0);
  const answer = driveAtOnce(pruneRule(tx, input, { rows, windowNow, secure: (portions) => new Given(portions) }));
  return { ...answer, tookMs: tx.monoMs() - beganMono };
}

/** Counts what pruning would delete, page by page; writes nothing. A caller that asks for all pages loads the index once. */
export function countPrunable(
  connection: Connection,
  claims: ClaimIndex,
  input: Omit<PruneInput, "max" | "turn">,
  windowNow: number,
): PruneAnswer {
  const rows = pruneRows(connection, input.env, claims.find);
  return driveAtOnce(countRule(new RuleDatabase(connection), input, { rows, windowNow }));
}
