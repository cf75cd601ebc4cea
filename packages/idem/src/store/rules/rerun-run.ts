// A person asks for a new run from an old one: past event id and function key, with the same destination keys.
// The key's holder becomes the new run, so that duplicates receive it from now on.
import { unlimited } from "../../flow/lane.ts";
import { functionScope } from "../../model/claim.ts";
import { dataInput, type RerunFrom } from "../../model/run.ts";
import type { RunRow } from "../rows.ts";
import type { RerunAnswer, RerunInput } from "../runs.ts";
import type { FoundClaim, RuleTransaction } from "./database.ts";
import { bornLeased, openRun } from "./open-run.ts";
import { findRun, readInputs } from "./read-memo.ts";
import type { Rule } from "./rule.ts";

const pointToNewestSql = "update runs set newest_run_id = ? where env = ? and id = ?";
const stampOfStepSql = "select stamp from steps where env = ? and run_id = ? and step_id = ?";
// Stamps stay as they were: their order decides races on replay, and everything recorded from now on has a later one.
const keepStepsSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker,
                     input, child_run_id)
  select env, cast(? as text), step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker, input,
         child_run_id
    from steps where env = ? and run_id = ? and stamp < ?`;
const carriedSql = 'select event_id as "eventId", key from run_events where env = ? and run_id = ? order by n';

type From = NonNullable<RerunInput["from"]>;

export function* rerunRun(tx: RuleTransaction, input: RerunInput): Rule<RerunAnswer> {
  const { env, newRunId, from } = input;
  if ((yield* findRun(tx, env, newRunId)) !== undefined) return yield* started(tx, input);
  const old = yield* findRun(tx, env, input.runId);
  if (old === undefined) return { kind: "unknown" };
  const carried =
    old.carried === null ? null : yield* tx.all<{ eventId: string; key: string | null }>(carriedSql, env, old.id);
  const claims = yield* claimsOfChain(tx, env, old, carried?.map(({ key }) => key) ?? [old.key]);
  // Pruned meanwhile: a run without its event could never be executed.
  if ((yield* tx.one(tx.sql.runs.lock, env, old.root_run_id)) === undefined) return { kind: "unknown" };
  // The same asking may have come twice at once.
  if ((yield* findRun(tx, env, newRunId)) !== undefined) return yield* started(tx, input);
  const rerunFrom = from === undefined ? null : yield* keepSteps(tx, env, old.id, newRunId, from);
  yield* openRun(tx, env, {
    id: newRunId,
    fn: old.fn,
    eventId: old.event_id,
    key: old.key,
    subject: old.subject,
    generation: old.generation,
    previousRunId: null,
    rerunOf: old.id,
    rerunFrom,
    inputs: inputsFrom(old, input),
    rootRunId: old.root_run_id,
    rank: input.rank,
    dueAt: null,
    leaseTo: input.leaseTo,
    code: input.code ?? null,
    holdsKey: claims.some(({ claim }) => claim.held),
    ...unlimited,
    lane: input.lane,
    cancelOn: input.cancelOn,
    carried,
  });
  tx.write(pointToNewestSql, newRunId, env, old.root_run_id);
  for (const found of claims) {
    const { claim } = found;
    tx.writeClaim(env, { ...claim, holder: newRunId, fence: claim.fence + 1, state: "in-flight" }, found);
  }
  if (input.byHand !== undefined) tx.audit(env, { action: "rerun-run", subject: old.id, ...input.byHand });
  return yield* started(tx, input);
}

function* started(tx: RuleTransaction, { env, newRunId, leaseTo }: RerunInput): Rule<RerunAnswer> {
  return { kind: "started", runId: newRunId, leased: yield* bornLeased(tx, env, newRunId, leaseTo) };
}

/** The claims on the run's keys that are still held by a run of the same chain of reruns. */
function* claimsOfChain(
  tx: RuleTransaction,
  env: string,
  run: RunRow,
  keys: readonly (string | null)[],
): Rule<FoundClaim[]> {
  const scope = functionScope(run.fn);
  const asked = keys.flatMap((key) => (key === null ? [] : [{ scope, key }]));
  yield* tx.lockClaims(env, asked);
  const claims: FoundClaim[] = [];
  for (const { key } of asked) {
    const found = yield* tx.findClaim(env, scope, key);
    const holder = found === null ? undefined : yield* findRun(tx, env, found.claim.holder);
    if (found !== null && holder?.root_run_id === run.root_run_id) claims.push(found);
  }
  return claims;
}

function* keepSteps(
  tx: RuleTransaction,
  env: string,
  oldId: string,
  newId: string,
  { stepId, name }: From,
): Rule<RerunFrom> {
  // A step that never got an outcome comes after all that did.
  const step = yield* tx.one<{ stamp: number }>(stampOfStepSql, env, oldId, stepId);
  const stamp = step?.stamp ?? Number.MAX_SAFE_INTEGER;
  return { stepId, name, keptCount: yield* tx.run(keepStepsSql, newId, env, oldId, stamp) };
}

/** Arguments put in place of a step's own go along with a rerun from a step, data put in place of the event's with every rerun. */
function inputsFrom(old: RunRow, { from, data }: RerunInput): Record<string, string> {
  const all = readInputs(old);
  const known = data ?? all[dataInput];
  return {
    ...(from === undefined ? {} : all),
    ...(from === undefined || from.input === null ? {} : { [from.stepId]: from.input }),
    ...(known === undefined ? {} : { [dataInput]: known }),
  };
}
