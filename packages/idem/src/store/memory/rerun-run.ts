// A new run from an old one: past keys, with the old subject and generation, so its destination keys are the same.
// From now on the new run answers for its chain: the key's holder and every later duplicate name it.
// Repeat: the new run's id tells.
import { unlimited } from "../../flow/lane.ts";
import { functionScope } from "../../model/claim.ts";
import { dataInput, type RerunFrom } from "../../model/run.ts";
import type { RerunAnswer, RerunInput } from "../runs.ts";
import { bornLeased, createRun } from "./create-run.ts";
import { runOf, showLeasedJob } from "./show.ts";
import type { Moment, RunRow, Tables } from "./tables.ts";

export function rerunRun(tables: Tables, at: Moment, input: RerunInput): RerunAnswer {
  const { newRunId, from } = input;
  if (tables.runs.has(newRunId)) {
    const born = bornLeased(tables, newRunId, input.leaseTo);
    return { kind: "started", runId: newRunId, leased: born === null ? null : showLeasedJob(tables, born) };
  }
  const old = tables.runs.get(input.runId);
  if (old === undefined) return { kind: "unknown" };
  const job = createRun(tables, at, {
    id: newRunId,
    fn: old.fn,
    eventId: old.eventId,
    events: old.events,
    key: old.key,
    keys: old.keys,
    subject: old.subject,
    generation: old.generation,
    previousRunId: null,
    rerunOf: old.id,
    rerunFrom: from === undefined ? null : keepSteps(tables, old.id, newRunId, from),
    inputs: inputsFrom(old, input),
    rootRunId: old.rootRunId,
    rank: input.rank,
    dueAt: null,
    leaseTo: input.leaseTo,
    code: input.code ?? null,
    ...unlimited,
    lane: input.lane,
    cancelOn: input.cancelOn,
  });
  for (const key of old.keys) moveKey(tables, old, key, newRunId);
  tables.runs.put(old.rootRunId, { ...runOf(tables, old.rootRunId), newestRunId: newRunId });
  if (input.byHand !== undefined) tables.addAudit(at, { action: "rerun-run", subject: old.id, ...input.byHand });
  return { kind: "started", runId: newRunId, leased: job.leasedBy === null ? null : showLeasedJob(tables, job) };
}

/** Arguments put in place of a step's own go along with a rerun from a step, data put in place of the event's with every rerun. */
function inputsFrom({ inputs }: RunRow, { from, data }: RerunInput): Record<string, string> {
  const known = data ?? inputs[dataInput];
  return {
    ...(from === undefined ? {} : inputs),
    ...(from === undefined || from.input === null ? {} : { [from.stepId]: from.input }),
    ...(known === undefined ? {} : { [dataInput]: known }),
  };
}

/** Moves a key if a run of the same chain holds it. A window opened by another run is not ours. */
function moveKey(tables: Tables, old: RunRow, key: string, newRunId: string): void {
  const claim = tables.claim(functionScope(old.fn), key);
  if (claim === null || tables.runs.get(claim.holder)?.rootRunId !== old.rootRunId) return;
  tables.putClaim({ ...claim, holder: newRunId, fence: claim.fence + 1, state: "in-flight" });
}

/** Outcomes recorded before the step's own come along; a step that never got one comes after all that did. */
function keepSteps(
  tables: Tables,
  oldId: string,
  newId: string,
  { stepId, name }: NonNullable<RerunInput["from"]>,
): RerunFrom {
  const steps = tables.stepsOf(oldId);
  const until = steps.find((step) => step.stepId === stepId)?.stamp ?? Number.POSITIVE_INFINITY;
  const kept = steps.filter((step) => step.stamp < until);
  if (kept.length > 0) tables.steps.put(newId, kept);
  return { stepId, name, keptCount: kept.length };
}
