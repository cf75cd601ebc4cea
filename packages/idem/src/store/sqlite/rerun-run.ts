// A person asks for a new run from an old one: past event id and function key, with the same destination keys.
// The key's holder becomes the new run, so that duplicates receive it from now on.
import { functionScope } from "../../model/claim.ts";
import type { RerunFrom } from "../../model/run.ts";
import type { RunRow } from "../rows.ts";
import type { RerunAnswer, RerunInput } from "../runs.ts";
import { findClaim, type StoredClaim, writeClaim } from "./claim-key.ts";
import { bornLeased, openRun } from "./open-run.ts";
import { findRun, readInputs } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const pointToNewestSql = "update runs set newest_run_id = ? where env = ? and id = ?";

const stampOfStepSql = "select stamp from steps where env = ? and run_id = ? and step_id = ?";
// Stamps stay as they were: their order decides races on replay, and everything recorded from now on has a later one.
const keepStepsSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker,
                     input, child_run_id)
  select env, ?, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker, input, child_run_id
    from steps where env = ? and run_id = ? and stamp < ?`;

const carriedSql = "select event_id as eventId, key from run_events where env = ? and run_id = ? order by n";

type From = NonNullable<RerunInput["from"]>;

export function rerunRun(tx: Transaction, input: RerunInput): RerunAnswer {
  const { env, newRunId } = input;
  if (findRun(tx.connection, env, newRunId) !== undefined) {
    return { kind: "started", runId: newRunId, leased: bornLeased(tx, env, newRunId, input.leaseTo) };
  }
  const old = findRun(tx.connection, env, input.runId);
  if (old === undefined) return { kind: "unknown" };
  const carried = old.carried === null ? null : carriedBy(tx, env, old.id);
  const claims = claimsOfChain(tx, env, old, carried?.map(({ key }) => key) ?? [old.key]);
  const { from } = input;
  const rerunFrom = from === undefined ? null : keepSteps(tx, env, old.id, newRunId, from);
  openRun(tx, env, {
    id: newRunId,
    fn: old.fn,
    eventId: old.event_id,
    key: old.key,
    subject: old.subject,
    generation: old.generation,
    previousRunId: null,
    rerunOf: old.id,
    rerunFrom,
    inputs: from === undefined ? {} : inputsFrom(old, from),
    rootRunId: old.root_run_id,
    rank: input.rank,
    dueAt: null,
    leaseTo: input.leaseTo,
    holdsKey: claims.some(({ claim }) => claim.held),
    lane: input.lane,
    startBy: null,
    cancelOn: input.cancelOn,
    singleton: null,
    carried,
  });
  tx.connection.run(pointToNewestSql, newRunId, env, old.root_run_id);
  for (const held of claims) {
    const { claim } = held;
    writeClaim(tx, env, { ...claim, holder: newRunId, fence: claim.fence + 1, state: "in-flight" }, held);
  }
  if (input.byHand !== undefined) writeAudit(tx, env, { action: "rerun-run", subject: old.id, ...input.byHand });
  return { kind: "started", runId: newRunId, leased: bornLeased(tx, env, newRunId, input.leaseTo) };
}

/** The claims on the run's keys that are still held by a run of the same chain of reruns. */
function claimsOfChain(tx: Transaction, env: string, run: RunRow, keys: readonly (string | null)[]): StoredClaim[] {
  return keys.flatMap((key) => {
    const found = key === null ? null : findClaim(tx, env, functionScope(run.fn), key);
    const holder = found === null ? undefined : findRun(tx.connection, env, found.claim.holder);
    return found !== null && holder?.root_run_id === run.root_run_id ? [found] : [];
  });
}

function keepSteps(tx: Transaction, env: string, oldId: string, newId: string, { stepId, name }: From): RerunFrom {
  // A step that never got an outcome comes after all that did.
  const stamp =
    tx.connection.one<{ stamp: number }>(stampOfStepSql, env, oldId, stepId)?.stamp ?? Number.MAX_SAFE_INTEGER;
  return { stepId, name, keptCount: tx.connection.run(keepStepsSql, newId, env, oldId, stamp) };
}

const carriedBy = (tx: Transaction, env: string, runId: string): { eventId: string; key: string | null }[] =>
  tx.connection.all<{ eventId: string; key: string | null }>(carriedSql, env, runId);

const inputsFrom = (old: RunRow, { stepId, input }: From): Record<string, string> => ({
  ...readInputs(old),
  ...(input === null ? {} : { [stepId]: input }),
});
