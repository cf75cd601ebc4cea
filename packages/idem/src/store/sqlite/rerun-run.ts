// A person asks for a new run from an old one: past event id and function key, with the same destination keys.
// The key's holder becomes the new run, so that duplicates receive it from now on.
import { functionScope } from "../../model/claim.ts";
import type { RerunFrom } from "../../model/run.ts";
import type { RerunAnswer, RerunInput } from "../store.ts";
import { findClaim, type StoredClaim, writeClaim } from "./claim-key.ts";
import { bornLeased, openRun } from "./open-run.ts";
import { findRun, readInputs } from "./read-memo.ts";
import type { RunRow } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

const pointToNewestSql = "update runs set newest_run_id = ? where env = ? and id = ?";

const stampOfStepSql = "select stamp from steps where env = ? and run_id = ? and step_id = ?";
// Stamps stay as they were: their order decides races on replay, and everything recorded from now on has a later one.
const keepStepsSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker)
  select env, ?, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker
    from steps where env = ? and run_id = ? and stamp < ?`;

const carriedSql = "select event_id as eventId from run_events where env = ? and run_id = ? order by n";

type From = NonNullable<RerunInput["from"]>;

export function rerunRun(tx: Transaction, input: RerunInput): RerunAnswer {
  const { env, newRunId } = input;
  if (findRun(tx.connection, env, newRunId) !== undefined) {
    return { kind: "started", runId: newRunId, leased: bornLeased(tx, env, newRunId, input.leaseTo) };
  }
  const old = findRun(tx.connection, env, input.runId);
  if (old === undefined) return { kind: "unknown" };
  const found = claimOfChain(tx, env, old);
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
    holdsKey: found?.claim.held ?? false,
    lane: input.lane,
    startBy: null,
    cancelOn: input.cancelOn,
    singleton: null,
    carried: old.carried === null ? null : carriedBy(tx, env, old.id),
  });
  tx.connection.run(pointToNewestSql, newRunId, env, old.root_run_id);
  if (found !== null) {
    const { claim } = found;
    writeClaim(tx, env, { ...claim, holder: newRunId, fence: claim.fence + 1, state: "in-flight" }, found);
  }
  return { kind: "started", runId: newRunId, leased: bornLeased(tx, env, newRunId, input.leaseTo) };
}

/** The claim on the run's key, if it is still held by a run of the same chain of reruns. */
function claimOfChain(tx: Transaction, env: string, run: RunRow): StoredClaim | null {
  if (run.key === null) return null;
  const found = findClaim(tx, env, functionScope(run.fn), run.key);
  const holder = found === null ? undefined : findRun(tx.connection, env, found.claim.holder);
  return holder?.root_run_id === run.root_run_id ? found : null;
}

function keepSteps(tx: Transaction, env: string, oldId: string, newId: string, { stepId, name }: From): RerunFrom {
  // A step that never got an outcome comes after all that did.
  const stamp =
    tx.connection.one<{ stamp: number }>(stampOfStepSql, env, oldId, stepId)?.stamp ?? Number.MAX_SAFE_INTEGER;
  return { stepId, name, keptCount: tx.connection.run(keepStepsSql, newId, env, oldId, stamp) };
}

/** A key of a batch stays with the run that was let in for it. */
const carriedBy = (tx: Transaction, env: string, runId: string): { eventId: string; key: null }[] =>
  tx.connection.all<{ eventId: string }>(carriedSql, env, runId).map(({ eventId }) => ({ eventId, key: null }));

const inputsFrom = (old: RunRow, { stepId, input }: From): Record<string, string> => ({
  ...readInputs(old),
  ...(input === null ? {} : { [stepId]: input }),
});
