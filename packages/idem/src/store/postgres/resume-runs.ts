// Many events that reach runs which wait for them, in one transaction: as the rule does it for one (rules/resume-waits.ts), in three
// statements for all.
import type { WokenRun } from "../advance.ts";
import type { ResumeAnswer, ResumeInput } from "../waits.ts";
import { type EndedWait, endWaitsAndWake } from "./end-waits.ts";
import { compareTexts } from "./text.ts";
import { inEnv, type Transaction } from "./transaction.ts";

// An event that more runs wait for is a commit of its own: each of them is given a copy of it.
const waitsOfEventMax = 20;

export const isForFew = ({ waits }: ResumeInput): boolean => waits.length <= waitsOfEventMax;

const endDeliverJobsSql = `
  with given as materialized (
    select * from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:ids as text[]), cast(:fences as bigint[]))
      as g (n, env, id, fence)),
  held as materialized (
    select given.* from given, lateral (
      select 1 from jobs j where j.env = given.env and j.id = given.id and j.fence = given.fence for update) as job),
  gone as (
    delete from jobs j using held
     where j.env = held.env and j.id = held.id
       and j.env = any(cast(:envs as text[])) and j.id = any(cast(:ids as text[])))
  select n from held`;

export async function resumeRuns(tx: Transaction, inputs: readonly ResumeInput[]): Promise<readonly ResumeAnswer[]> {
  const given = inputs
    .map((input, n) => ({ input, n }))
    .sort((a, b) => compareTexts(a.input.jobId, b.input.jobId) || compareTexts(a.input.env, b.input.env));
  const rows = await tx.connection.find<{ n: number }>(endDeliverJobsSql, {
    ns: given.map(({ n }) => n),
    envs: given.map(({ input }) => input.env),
    ids: given.map(({ input }) => input.jobId),
    fences: given.map(({ input }) => input.fence),
  });
  // A job is ended once: of two calls for it the first does.
  const byJob = new Map<string, number>();
  for (const { n } of rows.toSorted((a, b) => a.n - b.n)) {
    const name = inEnv(inputs[n]!.env, inputs[n]!.jobId);
    if (!byJob.has(name)) byJob.set(name, n);
  }
  const held = new Set(byJob.values());
  const ended = new Map<string, EndedWait & { readonly n: number }>();
  for (const [n, { env, waits, outcome }] of inputs.entries()) {
    if (!held.has(n)) continue;
    for (const { runId, stepId } of waits) {
      // Of two events for one wait the first ends it.
      const name = inEnv(env, JSON.stringify([runId, stepId]));
      if (!ended.has(name)) ended.set(name, { n, env, wait: { run_id: runId, step_id: stepId }, outcome });
    }
  }
  const all = [...ended.values()];
  const runs = await endWaitsAndWake(tx, all);
  const woken = inputs.map((): WokenRun[] => []);
  for (const [i, run] of runs.entries()) if (run !== null) woken[all[i]!.n]!.push(run);
  return inputs.map((_, n) => (held.has(n) ? { kind: "resumed", woken: woken[n]! } : { kind: "fenced" }));
}
