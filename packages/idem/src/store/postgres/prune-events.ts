// Pruning beside others who commit meanwhile (rules/prune-events.ts). So a family is judged, then its event, its runs and its keys are locked,
// then it is judged again by what is committed now: a rerun or a request that takes the key anew either came before, and keeps it, or waits for the
// locks and finds it gone. What somebody else has locked is kept, so pruning never waits for anybody. A duplicate locks nothing: the
// first event may go while it is decided, as it may go a moment later.
import type { PruneAnswer, PruneInput } from "../prune.ts";
import type { Database } from "../rules/database.ts";
import { claimName, type Family, findFamilies, type Judging } from "../rules/find-families.ts";
import {
  countPrunable as countRule,
  othersTurn,
  othersTurnAnswer,
  pruneEvents as pruneRule,
} from "../rules/prune-events.ts";
import { type Portion, portionsStill } from "../rules/prune-portions.ts";
import type { PruneRows } from "../rules/prune-rows.ts";
import { driveAwaited, Given, type Rule } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { pruneRows } from "./prune-rows.ts";
import { RuleDatabase } from "./rule-database.ts";
import type { Transaction } from "./transaction.ts";

const lockEventsSql = "select id from events where env = ? and id = any(?) for update skip locked";
const lockRunsSql = "select id from runs where env = ? and id = any(?) for update skip locked";
const lockClaimsSql = `
  select c.scope, c.key
    from unnest(cast(:scopes as text[]), cast(:keys as text[])) as probe (scope, key)
   cross join lateral (select scope, key from claims
                        where env = :env and scope = probe.scope and key = probe.key limit 1 for update skip locked) c`;
export async function pruneInTurn(tx: Transaction, input: PruneInput): Promise<PruneAnswer> {
  const othersUntil = await driveAwaited(othersTurn(tx, input));
  return othersUntil === null ? pruneEvents(tx, input) : othersTurnAnswer(input, othersUntil);
}

export function pruneEvents(tx: Pick<Transaction, "connection" | "at">, input: PruneInput): Promise<PruneAnswer> {
  const db = new RuleDatabase(tx.connection);
  const rows = pruneRows(db, input.env);
  const secure = (portions: readonly Portion[], judging: Judging) => secured(db, rows, input.env, portions, judging);
  return driveAwaited(pruneRule(db, input, { rows, secure, windowNow: tx.at.windowNow(0) }));
}

/** What pruning would delete, read page by page; writes nothing. */
export function countPrunable(
  connection: Connection,
  input: Omit<PruneInput, "max" | "turn">,
  windowNow: number,
): Promise<PruneAnswer> {
  const db = new RuleDatabase(connection);
  return driveAwaited(countRule(db, input, { rows: pruneRows(db, input.env), windowNow }));
}

function* secured(
  db: Database,
  rows: PruneRows,
  env: string,
  portions: readonly Portion[],
  judging: Judging,
): Rule<Portion[]> {
  const locked = yield* lock(db, env, portions);
  const events = portions.filter(({ family }) => locked.has(family)).map(({ family }) => family.event);
  return portionsStill(portions, yield* findFamilies(rows, events, judging));
}

/** The families of which everything is locked now. */
function* lock(db: Database, env: string, portions: readonly Portion[]): Rule<Set<Family>> {
  const families = portions.map(({ family }) => family);
  if (families.length === 0) return new Set();
  const eventIds = families.map(({ event }) => event.id);
  const runIds = portions.flatMap((portion) => portion.runIds);
  const claims = families.flatMap((family) => family.claims);
  const none = new Given<never[]>([]);
  // Sent together, answered in order.
  const [eventRows, runRows, claimRows] = yield* db.together<
    [{ id: string }[], { id: string }[], { scope: string; key: string }[]]
  >(
    db.all(lockEventsSql, env, db.list(eventIds)),
    runIds.length === 0 ? none : db.all(lockRunsSql, env, db.list(runIds)),
    claims.length === 0
      ? none
      : db.find(lockClaimsSql, {
          env,
          scopes: db.list(claims.map(({ scope }) => scope)),
          keys: db.list(claims.map(({ key }) => key)),
        }),
  );
  const events = new Set(eventRows.map(({ id }) => id));
  const runs = new Set(runRows.map(({ id }) => id));
  const names = new Set(claimRows.map(claimName));
  return new Set(
    families.filter(
      (family) =>
        events.has(family.event.id) &&
        family.runs.every(({ id }) => runs.has(id)) &&
        family.claims.every((claim) => names.has(claimName(claim))),
    ),
  );
}
